package work

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/claim"
	"onedoor/services/worker/model"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/report"
)

func TestAnAnswerIsAResultAndTheMessageIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := w.post("1", "application/json", chat)
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, metadata := w.result("1")
		require.Len(t, got, 1)
		assert.Equal(t, "job:1", got[0].ID)
		assert.Equal(t, "1", got[0].CustomID)
		assert.Equal(t, 200, got[0].Response.Status)
		assert.JSONEq(t, `{"choices":[{"message":{"content":"fine"}}]}`, string(got[0].Response.Body))
		assert.Equal(t, map[string]string{
			"key": "job:1", "payload": strings.Trim(m.ETag, `"`), "alias": "small", "correlation": "c-1", "outcome": "answered",
			"items": "1", "refused": "0", "failed": "0", "prompt_tokens": "10", "cached_tokens": "0", "completion_tokens": "5",
		}, metadata)
		require.Len(t, w.gateway.calls, 1)
		call := w.gateway.calls[0]
		assert.Equal(t, []string{"contoso", "c-1", "job:1", "chat/completions"}, []string{call.Tenant, call.Correlation, call.Key, string(call.Path)})
		assert.JSONEq(t, `{"model":"small","messages":[{"role":"user","content":"secret words"}],"max_completion_tokens":100}`, string(call.Body))
		assert.Equal(t, 1, w.counted("answered"))
		assert.InDelta(t, 5, testutil.ToFloat64(w.Metrics.Cost), 0)
		assert.InDelta(t, 10, testutil.ToFloat64(w.Metrics.Tokens.WithLabelValues("prompt")), 0)
		assert.Contains(t, w.log.String(), `"tenant":"contoso","job":"job","item":"1"`)
		assert.NotContains(t, w.log.String(), "secret", "no payload in logs")
		assert.NotContains(t, w.log.String(), "fine", "no answer in logs")
		require.Len(t, w.told, 1)
		assert.WithinDuration(t, time.Now(), w.told[0].At, 2*time.Minute)
		w.told[0].At = time.Time{}
		assert.Equal(t, report.Item{Tenant: "contoso", Alias: "small", Job: "job", Item: "1", Outcome: "answered", Input: 10, Output: 5}, w.told[0])
	})
}

// A refusal is an answer: it is neither tried again nor a dead letter.
func TestARefusalIsAResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = func(int, model.Request) (model.Answer, error) {
			return model.Answer{Status: 400, Refused: true, Body: []byte(`{"error":{"code":"content_filter"}}`)}, nil
		}
		w.post("1", "application/json", chat)
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Equal(t, 1, w.gateway.count())
		assert.Empty(t, w.queue.dead)
		got, metadata := w.result("1")
		assert.Equal(t, 400, got[0].Response.Status)
		assert.Equal(t, "refused", metadata["outcome"])
		assert.Equal(t, "1", metadata["refused"])
		assert.Equal(t, 1, w.counted("refused"))
	})
}

func TestMessagesThatNobodyCanMendAreDeadLetters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		post   func(w *world)
		reason string
		detail string
		proven bool
	}{
		"Forged": {func(w *world) {
			m := w.post("x", "application/json", chat)
			w.queue.ready = nil
			data, _ := claim.Sign(m, w.keys, "1")
			w.queue.put("1", []byte(strings.Replace(string(data), "contoso", "fabrikam", 1)))
		}, "tenant_not_proven", "not that of key 1", false},
		"Malformed": {func(w *world) { w.queue.put("1", []byte("hello")) }, "message_malformed", "invalid character", false},
		"TooLarge":  {func(w *world) { w.queue.put("1", []byte(strings.Repeat(" ", 4096))) }, "message_too_large", "4096 bytes", false},
		"WrongQueue": {func(w *world) { w.post("1", "application/json", chat, func(m *claim.Message) { m.Modality = "image" }) },
			"wrong_queue", "its modality is image, these workers do text", true},
		"WrongAlias": {func(w *world) { w.post("1", "application/json", chat, func(m *claim.Message) { m.Alias = "large" }) },
			"alias_not_served", "its alias is large, these workers have quota for small", true},
		"PayloadGone": {func(w *world) {
			w.post("1", "application/json", chat, func(m *claim.Message) { m.Blob = "contoso/job/2" })
		},
			"payload_missing", "the blob is contoso/job/2", true},
		"PayloadChanged": {func(w *world) { w.post("1", "application/json", chat, func(m *claim.Message) { m.ETag = `"0xFF"` }) },
			"payload_changed", "the blob is contoso/job/1", true},
		"PayloadTooLarge":    {func(w *world) { w.post("1", "application/json", strings.Repeat(" ", 1<<20)+"{}") }, "payload_too_large", "1048578 bytes, want at most 1048576", true},
		"PayloadMalformed":   {func(w *world) { w.post("1", "application/json", `{"messages":[`) }, "payload_malformed", "byte 13", true},
		"PayloadUnsupported": {func(w *world) { w.post("1", "video/mp4", "x") }, "payload_unsupported", "want one of text/plain, text/markdown", true},
		"Rejected": {func(w *world) {
			w.post("1", "application/json", chat)
			w.gateway.do = func(int, model.Request) (model.Answer, error) {
				return model.Answer{}, &model.Rejected{Status: 403, Code: "model_not_in_plan"}
			}
		}, "request_rejected", "403 model_not_in_plan", true},
		"AnswerTooLarge": {func(w *world) {
			w.post("1", "application/json", chat)
			w.gateway.do = func(int, model.Request) (model.Answer, error) {
				return model.Answer{}, &model.TooLarge{Most: 4096}
			}
		}, "answer_too_large", "more than 4096 bytes; ask for less at once, or raise payloadMiB", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c.post(w)
				w.run(time.Minute)
				assert.Equal(t, map[string]string{"1": c.reason}, w.queue.dead)
				assert.Contains(t, w.queue.detail["1"], c.detail)
				assert.Empty(t, w.queue.done)
				assert.Empty(t, w.blobs.Paths("results/"))
				assert.Equal(t, 1, w.counted("dead_lettered"))
				assert.LessOrEqual(t, w.gateway.count(), 1)
				if c.proven {
					require.Len(t, w.told, 1)
					assert.Equal(t, "dead_lettered", w.told[0].Outcome)
				} else {
					assert.Empty(t, w.told, "nobody knows whose it is")
				}
			})
		})
	}
}

func TestAudioAndVideoRefuseClearly(t *testing.T) {
	t.Parallel()
	for _, modality := range []string{"audio", "video"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.Maker.Modality = modality
			w.post("1", "audio/mpeg", "x", func(m *claim.Message) { m.Modality = modality })
			w.run(time.Minute)
			assert.Equal(t, map[string]string{"1": "payload_unsupported"}, w.queue.dead)
			assert.Equal(t, modality+" cannot be worked on yet", w.queue.detail["1"])
		})
	}
}

// fails fails the first n calls, then answers.
func fails(n int, err error) func(int, model.Request) (model.Answer, error) {
	return func(call int, _ model.Request) (model.Answer, error) {
		if call <= n {
			return model.Answer{}, err
		}
		return answer("fine"), nil
	}
}

var broken = &model.Failed{Reason: "status", Err: errors.New("503")}

func TestFailuresAreTriedAgainSoOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = fails(3, broken)
		w.post("1", "application/json", chat)
		began := time.Now()
		w.run(time.Second) // what is held is finished after it
		assert.Equal(t, 7*time.Second, time.Since(began), "1 + 2 + 4 s are waited")
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Equal(t, 4, w.gateway.count())
		assert.InDelta(t, 3, testutil.ToFloat64(w.Metrics.Retries.WithLabelValues("status")), 0)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = fails(4, broken)
		w.post("1", "application/json", chat)
		w.run(time.Minute)
		assert.Equal(t, map[string]string{"1": "retries_exhausted"}, w.queue.dead)
		assert.Equal(t, "tried 4 times, at last: status: 503", w.queue.detail["1"])
		assert.Equal(t, 4, w.gateway.count())
	})
}

// Tries of a delivery that was let go count in the next one.
func TestTriesAreCountedOverDeliveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = fails(99, broken)
		w.Limits.Backoff = []time.Duration{time.Second, time.Hour} // the message is let go before the third try
		w.post("1", "application/json", chat)
		w.run(10 * time.Minute)
		assert.Equal(t, map[string]string{"1": "retries_exhausted"}, w.queue.dead)
		assert.Equal(t, 4, w.gateway.count())
	})
}

func TestA429IsNoTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = fails(20, &model.Throttled{After: 10 * time.Second})
		w.post("1", "application/json", chat)
		w.run(10 * time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Equal(t, 21, w.gateway.count())
		assert.InDelta(t, 20, testutil.ToFloat64(w.Metrics.Throttled), 0)
		assert.Positive(t, w.queue.renewals, "the lock was kept meanwhile")
	})
}

// Waiting for quota is no time of the work, and the work's own time adds up over
// the waits.
func TestOnlyWorkCountsAgainstTheHold(t *testing.T) {
	t.Parallel()
	for takes, letGo := range map[time.Duration]bool{15 * time.Second: false, 20 * time.Second: true} { // three times, of 55 s
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.gateway.takes = takes
			w.gateway.do = fails(2, &model.Throttled{After: 100 * time.Second})
			w.post("1", "application/json", chat)
			w.run(10 * time.Minute)
			assert.Equal(t, []string{"1"}, w.queue.done)
			assert.Equal(t, letGo, strings.Contains(w.log.String(), "abandoned"), takes)
		})
	}
}

// What a model takes too long for is a try: the message is let go, and given up at
// the last one.
func TestACallThatTakesTooLongIsATry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = time.Hour
		w.post("1", "application/json", chat)
		w.run(10 * time.Minute)
		assert.Equal(t, map[string]string{"1": "retries_exhausted"}, w.queue.dead)
		assert.Equal(t, 4, w.gateway.count())
		assert.Contains(t, w.queue.detail["1"], "longer than a message may be held")
	})
}

func TestTheLockIsRenewedAtAThirdOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = 45 * time.Second // longer than the lock
		w.post("1", "application/json", chat)
		w.run(50 * time.Second)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Equal(t, 4, w.queue.renewals)
		assert.Equal(t, 1, w.gateway.count())
	})
}

// A worker that lost the lock stops: another one works on the message.
func TestWorkEndsWhenTheLockIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = 25 * time.Second
		w.post("1", "application/json", chat)
		go func() {
			time.Sleep(5 * time.Second)
			w.queue.mu.Lock()
			defer w.queue.mu.Unlock()
			w.queue.held[0].until = time.Now()
		}()
		w.run(12 * time.Second) // the loss is seen at the first renewal
		assert.Empty(t, w.queue.dead)
		assert.Contains(t, w.log.String(), "lock")
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, _ := w.result("1")
		assert.Len(t, got, 1)
	})
}

// The lock is lost between the result and completing: the next delivery sees the
// result, and calls nobody.
func TestAResultThatIsThereIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m := w.post("1", "application/json", chat)
		w.run(time.Second)
		data, err := claim.Sign(m, w.keys, "1")
		require.NoError(t, err)
		w.queue.put("again", data)
		w.run(time.Second)
		assert.Equal(t, []string{"1", "again"}, w.queue.done)
		assert.Equal(t, 1, w.gateway.count())
		assert.Equal(t, 1, w.counted("answered"), "counted once")
		require.Len(t, w.told, 2)
		assert.Equal(t, w.told[0], w.told[1], "so that the control plane can tell that it is the same")

		w.post("1", "application/json", strings.Replace(chat, "secret", "other", 1)) // a rerun with another payload
		w.run(time.Second)
		assert.Equal(t, 2, w.gateway.count())
	})
}

// The control plane may be down: work goes on.
func TestWorkGoesOnWithoutTheControlPlane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Report = func(context.Context, report.Item) error { return errors.New("no answer") }
		w.post("1", "application/json", chat)
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Contains(t, w.log.String(), "was not told")
	})
}

// The claim says what the payload is; the blob only where the claim does not.
func TestTheClaimSaysWhatThePayloadIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post("1", "application/octet-stream", "hello", func(m *claim.Message) { m.Type = "text/plain" })
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Contains(t, string(w.gateway.calls[0].Body), `"content":"hello"`)
	})
}

// Storage that is down is waited for, and counts as no try.
func TestStorageThatIsDownIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.post("1", "application/json", chat)
			n := 0
			w.blobs.Fails(func(r *http.Request) int {
				if r.Method == method {
					if n++; n <= 8 {
						return 503
					}
				}
				return 0
			})
			w.run(time.Minute)
			assert.Equal(t, []string{"1"}, w.queue.done, method)
			assert.Equal(t, 1, w.gateway.count(), method)
			assert.Empty(t, w.queue.dead)
		})
	}
}

// A rerun with another payload overtakes the run before it, whose answer is late: it
// must not take the place of the newer result.
func TestAnOlderRunLeavesTheResultOfARerunAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = func(n int, _ model.Request) (model.Answer, error) {
			if n == 1 {
				time.Sleep(20 * time.Second)
				return answer("older"), nil
			}
			return answer("newer"), nil
		}
		w.post("1", "application/json", chat)
		go func() {
			time.Sleep(5 * time.Second)
			w.post("1", "application/json", strings.Replace(chat, "secret", "other", 1))
		}()
		w.run(time.Minute)
		got, metadata := w.result("1")
		require.Len(t, got, 1)
		assert.Contains(t, string(got[0].Response.Body), "newer")
		assert.Equal(t, "answered", metadata["outcome"])
		assert.Equal(t, []string{"1"}, w.queue.done)
		assert.Equal(t, map[string]string{"1": "payload_changed"}, w.queue.dead)
		assert.Equal(t, 2, w.gateway.count())
	})
}

// An item that shared a call with one that the model refuses calls alone, which takes
// quota again: no more requests are made in a minute than were promised.
func TestASpoiledCallTakesQuotaAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Model = model.Gather(w.gateway, 2)
		w.Window = quota.New(1_000_000, 2, func() float64 { return 0 })
		w.gateway.do = func(_ int, r model.Request) (model.Answer, error) {
			if strings.Contains(string(r.Body), `"input":[`) {
				return model.Answer{}, &model.Rejected{Status: 400, Code: "bad"}
			}
			return answer("fine"), nil
		}
		for _, item := range []string{"1", "2"} {
			w.post(item, "application/json", `{"input":"text `+item+`"}`)
		}
		go func() {
			time.Sleep(50 * time.Second)
			assert.Equal(t, 1, w.gateway.count(), "both had their request of this minute")
		}()
		w.run(3 * time.Minute)
		assert.Len(t, w.queue.done, 2)
		assert.Equal(t, 3, w.gateway.count())
		assert.Zero(t, testutil.CollectAndCount(w.Metrics.Retries), "it is no try")
	})
}

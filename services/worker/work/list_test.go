package work

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/worker/model"
)

const jsonl = "application/jsonl"

// order is the custom ids of a result.
func order(lines []resultLine) string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimPrefix(l.CustomID, "line-"))
	}
	return strings.Join(out, " ")
}

func upTo(n int) string {
	var out []string
	for i := range n {
		out = append(out, strconv.Itoa(i))
	}
	return strings.Join(out, " ")
}

func TestAPayloadOfManyHasALineForEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = func(n int, _ model.Request) (model.Answer, error) {
			switch n {
			case 2:
				return model.Answer{Status: 400, Refused: true, Body: []byte(`{}`)}, nil
			case 3:
				return model.Answer{}, &model.Rejected{Status: 400, Code: "bad"}
			case 4:
				return model.Answer{}, &model.TooLarge{Most: 4096}
			}
			return answer("fine"), nil
		}
		w.post("1", jsonl, lines(12)+`{"custom_id":"last","body":{"stream":true,"input":"x"}}`+"\n\n")
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, metadata := w.result("1")
		assert.Equal(t, upTo(12)+" last", order(got))
		assert.Equal(t, "job:1:line-0", got[0].ID)
		assert.Equal(t, 400, got[1].Response.Status)
		assert.Nil(t, got[1].Error)
		assert.Equal(t, &problem{"request_rejected", "rejected with 400 bad"}, got[2].Error)
		assert.Nil(t, got[2].Response)
		assert.Equal(t, "answer_too_large", got[3].Error.Code)
		assert.Equal(t, "payload_malformed", got[12].Error.Code)
		assert.Equal(t, []string{"answered", "13", "1", "3"}, []string{metadata["outcome"], metadata["items"], metadata["refused"], metadata["failed"]})
		assert.Equal(t, "90", metadata["prompt_tokens"])
		assert.Equal(t, []int{9, 1, 3}, []int{w.counted("answered"), w.counted("refused"), w.counted("failed")})
		assert.Equal(t, "job:1:line-0", w.gateway.calls[0].Key)
	})
}

// A worker that dies loses what it did since the last checkpoint, and no more.
func TestAPayloadOfManyGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dies  bool
		again int // calls that are made twice
	}{
		"Killed":  {true, 5},  // 20 of 25 were noted
		"Stopped": {false, 0}, // all were
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.gateway.takes = time.Second
				w.Limits.GiveUp, w.Limits.Grace = time.Hour, 0
				w.post("1", jsonl, lines(40))
				if c.dies {
					go func() {
						time.Sleep(25*time.Second + time.Millisecond)
						w.blobs.Fails(func(*http.Request) int { return 503 }) // nothing is written any more
					}()
				}
				w.run(25*time.Second + time.Millisecond*500)
				_, metadata := w.result("1")
				assert.Equal(t, "partial", metadata["outcome"])
				w.blobs.Fails(nil)
				w.run(10 * time.Minute)
				assert.Equal(t, []string{"1"}, w.queue.done)
				got, metadata := w.result("1")
				assert.Equal(t, upTo(40), order(got))
				assert.Equal(t, "answered", metadata["outcome"])
				assert.Equal(t, "400", metadata["prompt_tokens"])
				// The call that the end cut off is made again in both cases.
				assert.Equal(t, 40+1+c.again, w.gateway.count())
			})
		})
	}
}

func TestAPayloadOfManyThatIsWrongIsADeadLetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, detail string }{
		"Empty":     {"\n", "there is no line"},
		"NotJSON":   {lines(30) + "hello\n", "line 31: not a JSON object: byte 1"},
		"NoID":      {`{"body":{}}`, "line 1: custom_id"},
		"TwoOfOne":  {lines(1) + lines(1), "line 2: custom_id is that of another line"},
		"LineIsBig": {`{"custom_id":"` + strings.Repeat("x", 4<<20) + `"}`, "line 1: more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.post("1", jsonl, c.content)
				w.run(time.Minute)
				assert.Len(t, w.queue.dead, 1)
				assert.Contains(t, w.queue.detail["1"], c.detail)
				assert.Zero(t, w.gateway.count(), "nothing is called for it")
				assert.Empty(t, w.blobs.Paths("results/"))
			})
		})
	}
}

// A rerun with another payload takes the place of what was there, finished or not.
func TestARerunOfManyStartsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.post("1", jsonl, lines(30))
		w.run(time.Minute)
		w.post("1", jsonl, lines(3))
		w.run(time.Minute)
		got, metadata := w.result("1")
		assert.Equal(t, upTo(3), order(got))
		assert.Equal(t, "3", metadata["items"])
	})
}

// Each line has tries of its own, and one that fails leaves the others alone.
func TestLinesAreTriedForThemselves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.do = func(_ int, r model.Request) (model.Answer, error) {
			if strings.Contains(r.Key, "line-1") {
				return model.Answer{}, &model.Failed{Reason: "status", Err: errors.New("500")}
			}
			return answer("fine"), nil
		}
		w.post("1", jsonl, lines(3))
		w.run(time.Minute)
		got, _ := w.result("1")
		assert.Equal(t, upTo(3), order(got))
		assert.Equal(t, "retries_exhausted", got[1].Error.Code)
		assert.Equal(t, 6, w.gateway.count())
		assert.Equal(t, []string{"1"}, w.queue.done)
	})
}

// The bus counts deliveries: a message whose lines are answered is not let go between
// them, however long all of them take.
func TestAPayloadOfManyIsHeldWhileItsLinesAreAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.takes = 15 * time.Second // of the minute for each
		w.post("1", jsonl, lines(40))
		w.run(20 * time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, metadata := w.result("1")
		assert.Equal(t, upTo(40), order(got))
		assert.Equal(t, "answered", metadata["outcome"])
		assert.Equal(t, 40, w.gateway.count())
		assert.NotContains(t, w.log.String(), "abandoned")
	})
}

// A lock can be renewed for an hour. What is left is done in the next delivery, and
// the line that the end cut off has lost no try.
func TestAPayloadOfManyThatTakesHoursGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Limits.Attempts = 1
		w.gateway.takes = 49 * time.Second
		w.post("1", jsonl, lines(100))
		w.run(2 * time.Hour)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, metadata := w.result("1")
		assert.Equal(t, upTo(100), order(got))
		assert.Equal(t, "0", metadata["failed"])
		assert.Equal(t, 101, w.gateway.count())
		assert.Contains(t, w.log.String(), "the message was held for 1h0m0s")
	})
}

// A line that is never answered ends as an error, and the others have their answers.
func TestALineThatTakesTooLongLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gateway.stuck = "line-1"
		w.post("1", jsonl, lines(3))
		w.run(10 * time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, _ := w.result("1")
		require.Equal(t, upTo(3), order(got))
		assert.Equal(t, "retries_exhausted", got[1].Error.Code)
		assert.Nil(t, got[2].Error)
		assert.Equal(t, 2+4, w.gateway.count())
		assert.NotContains(t, w.log.String(), "abandoned")
	})
}

// Answers that are large are written before there are many of them.
func TestLargeAnswersAreNotGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const large = 400 << 10
		w.gateway.do = func(int, model.Request) (model.Answer, error) { return answer(strings.Repeat("x", large)), nil }
		var blocks []int64
		w.blobs.Fails(func(r *http.Request) int {
			if r.URL.Query().Get("comp") == "block" {
				blocks = append(blocks, r.ContentLength/large)
			}
			return 0
		})
		w.post("1", jsonl, lines(8))
		w.run(time.Minute)
		assert.Equal(t, []string{"1"}, w.queue.done)
		got, _ := w.result("1")
		assert.Equal(t, upTo(8), order(got))
		assert.Equal(t, []int64{3, 3, 2}, blocks, "of answers, in each write")
	})
}

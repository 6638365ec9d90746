package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/busfake"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// results are the outcomes of all results, by item.
func (p *platform) results() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	pages := p.container("results").NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Metadata: true}})
	for pages.More() {
		page, err := pages.NextPage(p.t.Context())
		require.NoError(p.t, err)
		for _, b := range page.Segment.BlobItems {
			for name, value := range b.Metadata {
				if strings.EqualFold(name, "outcome") {
					out[strings.TrimPrefix(*b.Name, "contoso/job/")] = *value
				}
			}
		}
	}
	return out
}

// drained waits until the queue is empty, and does something whenever so many more
// messages have gone.
func (p *platform) drained(every int, do func()) {
	p.t.Helper()
	ready, locked := p.bus.Counts("text")
	next := ready + locked - every
	require.Eventually(p.t, func() bool {
		ready, locked := p.bus.Counts("text")
		if every > 0 && ready+locked <= next && next > 0 {
			next -= every
			do()
		}
		return ready+locked == 0
	}, 4*time.Minute, 10*time.Millisecond)
}

// A thousand items, and one in twenty of them, or of what happens to them, is bad:
// each ends in exactly one result, or as one dead letter with its reason.
func TestEveryItemEndsExactlyOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	const items = 1000
	want := map[string]string{} // outcome, or reason, by item
	for i := range items {
		id, prompt, outcome := fmt.Sprintf("%04d", i), "ticket", "answered"
		contentType, content := "application/json", ""
		var change func([]byte) []byte
		switch i {
		case 501, 551, 601, 651, 701:
			prompt, outcome = "[sim:refused]", "refused"
		case 502, 552, 602, 652, 702:
			prompt, outcome = "[sim:filtered]", "refused"
		case 503, 553, 603, 653:
			prompt, outcome = "[sim:broken]", "retries_exhausted"
		case 4, 204, 404, 604:
			content, outcome = strings.Repeat(" ", 1<<20)+"{}", "payload_too_large"
		case 5, 205, 405, 605:
			content, outcome = `{"messages":`, "payload_malformed"
		case 6, 206, 406, 606:
			change, outcome = func(b []byte) []byte { return []byte(strings.Replace(string(b), "contoso", "fabrikam", 1)) }, "tenant_not_proven"
		case 7, 207, 407, 607:
			change, outcome = func(b []byte) []byte { return b[1:] }, "message_malformed"
		case 8, 208, 408, 608:
			change, outcome = func(b []byte) []byte { return append(b, make([]byte, 4096)...) }, "message_too_large"
		}
		if content == "" {
			content = fmt.Sprintf(chatBody, fmt.Sprintf("%s %d", prompt, i))
		}
		want[id] = outcome
		p.post(id, contentType, content, change)
	}
	lost := map[string]bool{"0850": true, "0851": true, "0852": true, "0853": true}
	p.bus.LosesLock(func(_, id string, outcome busfake.Outcome) bool {
		lose := lost[id] && outcome == busfake.Completed
		delete(lost, id)
		return lose
	})
	workers := []*process{p.start(nil), p.start(nil), p.start(nil)}
	round := 0
	p.drained(100, func() {
		round++
		// Whatever happens, it hits the messages that are held just now.
		p.sim.Inject(openai.Fault{Operation: core.Chat, Status: http.StatusTooManyRequests, Code: "429", RetryAfter: 1, Times: 6})
		p.sim.Inject(openai.Fault{Operation: core.Chat, Status: http.StatusServiceUnavailable, Times: 2})
		switch round { // all of them before the first refusal is held
		case 1, 3: // the second kill takes a worker that took over
			workers[0].kill(t)
			workers[0] = p.start(nil)
		case 2:
			p.bus.DropConnections()
			p.sim.Inject(openai.Fault{Operation: core.Chat, When: openai.After, Drop: true, Times: 2})
		case 4:
			p.bus.ExpireLocks()
		}
	})
	for _, w := range workers {
		require.Equal(t, exitDone, w.stop(t), "%s", w.out)
		assert.NotContains(t, w.out.String(), "ticket", "no payload in logs")
	}
	got := p.results()
	for _, d := range p.bus.Dead("text") {
		require.NotContains(t, got, d.ID, "it has a result and is a dead letter")
		got[d.ID] = d.Reason
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		assert.Equal(t, want[id], got[id], "item %s", id)
	}
	assert.Len(t, got, items)
	assert.Len(t, p.bus.Dead("text"), 4+5*4)
	assert.Empty(t, lost, "each of those locks was lost once")
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, outcome := range want {
		key := "job:" + id
		switch outcome {
		case "refused":
			assert.Equal(t, 1, p.refused[key], "item %s: a refusal is an answer", id)
		case "retries_exhausted":
			assert.Equal(t, 4, p.tries[key], "item %s", id)
		case "answered":
			assert.GreaterOrEqual(t, p.tries[key], 1, "item %s", id)
		default:
			assert.Zero(t, p.tries[key], "item %s: nothing is called for it", id)
		}
	}
	assert.Len(t, p.told, items-3*4, "all are told once, but those that nobody proves")
	for _, id := range []string{"0850", "0851", "0852", "0853"} {
		assert.Equal(t, 1, p.tries["job:"+id], "item %s: its result was there", id)
	}
}

// get asks a worker how it is.
func (w *process) get(path string) (int, string) {
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d%s", w.port, path))
	if err != nil {
		return 0, ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

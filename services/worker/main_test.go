package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/worker/settings"
)

// A worker shows how it is, empties the queue, and ends when it is told to; one for a
// single message ends by itself.
func TestAWorkerShowsHowItIs(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.post("1", "application/json", fmt.Sprintf(chatBody, "one"), nil)
	w := p.start(map[string]string{"ONEDOOR_PRICE_AS": "gpt-4.1-mini/GlobalStandard"})
	require.Eventually(t, func() bool { return len(p.results()) == 1 }, 20*time.Second, 50*time.Millisecond, "%s", w.out)
	for _, path := range []string{"/healthz", "/readyz"} {
		code, _ := w.get(path)
		assert.Equal(t, http.StatusOK, code, path)
	}
	var metrics string
	require.Eventually(t, func() bool {
		_, metrics = w.get("/metrics")
		return strings.Contains(metrics, `onedoor_worker_items_total{outcome="answered",queue="text"} 1`)
	}, 10*time.Second, 50*time.Millisecond)
	assert.NotContains(t, metrics, `onedoor_worker_cost_usd_total{queue="text"} 0`+"\n", "tokens have a price")
	assert.Contains(t, metrics, "onedoor_worker_cost_usd_total")
	assert.Equal(t, exitDone, w.stop(t), "%s", w.out)

	p.post("2", "application/jsonl", `{"custom_id":"a","body":{"messages":[{"role":"user","content":"x"}]}}`, nil)
	p.post("3", "application/json", fmt.Sprintf(chatBody, "three"), nil)
	one := p.start(map[string]string{"ONEDOOR_MESSAGES": "one", "ONEDOOR_PARALLEL": "1"})
	require.NoError(t, one.Wait(), "%s", one.out)
	assert.Equal(t, map[string]string{"1": "answered", "2": "answered"}, p.results())
	ready, locked := p.bus.Counts("text")
	assert.Equal(t, []int{1, 0}, []int{ready, locked})
}

func TestWhatIsWrongHasACode(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	assert.Equal(t, exitWrong, run(t.Context(), log), "nothing is told")
	told := settings.Settings{BusHost: "example.com", Queue: "text", Parallel: 1, Fetch: 1, BlobURL: "https://example.com", Payloads: "p", Results: "r", GiveUp: time.Minute, Tokens: 1, Requests: 1}
	unknown := told
	unknown.PriceAs = settings.Price{Model: "gpt-9", SKU: "Standard"}
	assert.Equal(t, exitWrong, serve(t.Context(), unknown, azure{credential: token("t")}, log))

	taken, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer taken.Close()
	told.Port = taken.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	assert.Equal(t, exitFailed, serve(ctx, told, azure{credential: token("t")}, log), "nobody could see how it is")
	assert.NoError(t, ctx.Err())
}

package status

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// get asks a handler.
func get(h http.Handler, path string) (int, string) {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

func TestHealthAndReadinessAreTwoThings(t *testing.T) {
	t.Parallel()
	h := &Health{}
	handler := Handler(h, New("text", func() float64 { return 1 }))
	states := func() []int {
		alive, _ := get(handler, "/healthz")
		ready, _ := get(handler, "/readyz")
		return []int{alive, ready}
	}
	assert.Equal(t, []int{503, 503}, states())
	h.Within(time.Minute)
	assert.Equal(t, []int{200, 503}, states())
	h.Receiving(true)
	assert.Equal(t, []int{200, 200}, states())
	h.Within(-time.Second)
	assert.Equal(t, []int{503, 200}, states())
}

// The names are those of docs/contracts/worker.md; alerts and dashboards use them.
func TestMetricsHaveTheirNames(t *testing.T) {
	t.Parallel()
	m := New("text", func() float64 { return 0.5 })
	m.Items.WithLabelValues("answered").Inc()
	m.Seconds.Observe(3)
	m.Tokens.WithLabelValues("prompt").Add(7)
	m.Retries.WithLabelValues("timeout").Inc()
	m.Throttled.Inc()
	m.InFlight.Set(2)
	m.Cost.Add(0.25)
	_, text := get(Handler(&Health{}, m), "/metrics")
	for _, line := range []string{
		`onedoor_worker_items_total{outcome="answered",queue="text"} 1`, `onedoor_worker_item_seconds_bucket{queue="text",le="5"} 1`,
		`onedoor_worker_tokens_total{kind="prompt",queue="text"} 7`, `onedoor_worker_retries_total{queue="text",reason="timeout"} 1`,
		`onedoor_worker_throttled_total{queue="text"} 1`, `onedoor_worker_in_flight{queue="text"} 2`,
		`onedoor_worker_cost_usd_total{queue="text"} 0.25`, `onedoor_worker_quota_share{queue="text"} 0.5`,
	} {
		assert.Contains(t, text, line+"\n")
	}
}

func TestServingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.Error(t, Serve(ctx, port, http.NotFoundHandler()), "somebody else has the port")
	listener.Close()
	done := make(chan error)
	go func() {
		done <- Serve(ctx, port, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hi") }))
	}()
	require.Eventually(t, func() bool {
		answer, err := http.Get("http://" + listener.Addr().String())
		if err != nil {
			return false
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode == http.StatusOK
	}, 5*time.Second, 5*time.Millisecond)
	cancel()
	assert.NoError(t, <-done)
}

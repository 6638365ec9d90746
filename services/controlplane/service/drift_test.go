package service_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai"
)

// drift is what the metric says of the deployment's tokens; "" if it says nothing.
func (w *world) drift() string {
	shown := httptest.NewRecorder()
	w.Status().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(shown.Body.String()) {
		if value, ok := strings.CutPrefix(line, `onedoor_batch_enqueued_drift_tokens{deployment="chat-batch"} `); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// The account says how many tokens it counts when it makes a job. What the ledger does
// not know of is somebody else's.
func TestTokensThatTheLedgerDoesNotKnowAreShown(t *testing.T) {
	t.Parallel()
	w := open(t, change{azure: func(c *openai.Config) { c.Rules.Tokens = func([]byte) int64 { return 1000 } }})
	w.submit("desk", lines(2), nil)
	w.tick()
	id := w.submit("desk", lines(2), nil)
	w.pass(30 * time.Second) // the second waits for its file to be read
	counts := w.job("desk", id).Parts[0].Counts()
	require.Positive(t, counts)
	assert.Equal(t, 2000-counts, number(t, w.drift()), "the account counts 1,000 a line, the ledger %d for both", counts)
	w.pass(30 * time.Second)
	assert.Equal(t, 2*(2000-counts), number(t, w.drift()))

	w.intrude(10, nil)
	w.submit("desk", lines(2), nil)
	w.pass(time.Minute)
	assert.Equal(t, 3*(2000-counts)+10_000, number(t, w.drift()), "with those of the intruder")
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64) // metrics are floating
	require.NoError(t, err)
	return int64(n)
}

package work

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	aoai "onedoor/internal/az/openai"
	"onedoor/services/internal/busfake"
	"onedoor/services/worker/model"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/status"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// The quota of the deployment has room for four replicas of the worker below, and for
// whole items of each: what is left over of a replica's part would be nobody's.
const (
	replicas       = 4
	tokensOfMinute = 12_000
	tokensOfPrompt = 33
	tokensOfAnswer = 92
	itemsOfMinute  = tokensOfMinute / (tokensOfPrompt + tokensOfAnswer) // 24 of each replica
	minutes        = 12
)

// counts are the calls of a minute by their status.
type counts map[int]int

// inProcess hands requests to a handler, in the time of the test, and counts what it
// answers in each minute.
type inProcess struct {
	handler http.Handler
	takes   time.Duration
	began   time.Time

	mu       sync.Mutex
	byMinute [minutes]counts
}

func (p *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(p.takes)
	answer := httptest.NewRecorder()
	p.handler.ServeHTTP(answer, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if minute := int(time.Since(p.began) / time.Minute); minute < minutes {
		if p.byMinute[minute] == nil {
			p.byMinute[minute] = counts{}
		}
		p.byMinute[minute][answer.Code]++
	}
	return answer.Result(), nil
}

// together runs n workers on one queue for some virtual minutes against a simulated
// deployment, and returns what it answered in each of them.
func together(t *testing.T, n int) (out [minutes]counts) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := openai.New(openai.Config{
			Config: core.Config{
				Start: time.Now(),
				Accounts: []core.Account{{Name: "oai", Region: "swedencentral", Deployments: []core.Deployment{
					{Name: "small", Model: "gpt-4o-mini", Version: "2024-07-18", SKU: "GlobalStandard", Capacity: tokensOfMinute / aoai.TokensPerUnit},
				}}},
			},
			Rules: core.Rules{Tokens: func([]byte) int64 { return tokensOfPrompt }},
			Issued: func(string) (core.Principal, bool) {
				return core.Principal{ID: "gateway", Actions: []string{"*"}}, true
			},
		})
		deployment := &inProcess{handler: sim.Handler(openai.Entry{Account: "oai"}), takes: 2 * time.Second, began: time.Now()}
		first := newWorld(t)
		first.Maker.MaxOutput = tokensOfAnswer
		made, err := first.Maker.Item("application/json", bytes.NewReader([]byte(chat)))
		require.NoError(t, err)
		require.Equal(t, tokensOfPrompt+tokensOfAnswer, made.Tokens)
		ends := time.Now().Add(minutes * time.Minute)
		var group sync.WaitGroup
		group.Go(func() {
			for time.Now().Before(ends) {
				time.Sleep(time.Second)
				assert.NoError(t, sim.Advance(time.Second))
			}
		})
		random := rand.New(rand.NewPCG(1, 2))
		var workers []*Worker
		for range n {
			var mu sync.Mutex
			seed := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
			own := *first.Worker
			own.Window = quota.New(tokensOfMinute/replicas, 1000, func() float64 {
				mu.Lock()
				defer mu.Unlock()
				return seed.Float64()
			})
			own.Metrics, own.Health = status.New("text", own.Window.Share), &status.Health{}
			own.Limits.Grace = 0
			own.Model = &model.Client{URL: "http://gateway/openai/v1", Token: busfake.Credential{}, HTTP: &http.Client{Transport: deployment}, Most: 1 << 20}
			workers = append(workers, &own)
		}
		for i := range 2 * minutes * itemsOfMinute {
			first.post(strconv.Itoa(i), "application/json", chat)
		}
		for _, w := range workers {
			group.Go(func() { (&world{t: t, Worker: w}).run(minutes * time.Minute) })
		}
		group.Wait()
		assert.Empty(t, first.queue.dead)
		out = deployment.byMinute
	})
	return out
}

// sum is how many calls of those minutes were answered with a status.
func sum(of []counts, status int) (n int) {
	for _, c := range of {
		n += c[status]
	}
	return n
}

// Four workers keep to their promise: they use the quota in every minute and see
// hardly a 429. Twenty, which no plan would start, hold back: they get no more out of
// it, nor much less.
func TestMoreWorkersThanTheQuotaHasRoomForDoNoMore(t *testing.T) {
	t.Parallel()
	four, twenty := together(t, replicas), together(t, 5*replicas)
	t.Logf("4 workers: %v", four)
	t.Logf("20 workers: %v", twenty)
	for minute, c := range four {
		assert.Equal(t, itemsOfMinute, c[http.StatusOK], "minute %d of 4 workers", minute)
		assert.Less(t, float64(c[http.StatusTooManyRequests]), 0.01*itemsOfMinute, "minute %d of 4 workers", minute)
		assert.LessOrEqual(t, twenty[minute][http.StatusOK], c[http.StatusOK], "minute %d of 20 workers", minute)
	}
	assert.Greater(t, sum(twenty[:], http.StatusOK), sum(four[:], http.StatusOK)*9/10)
	assert.Less(t, sum(twenty[:], http.StatusTooManyRequests), sum(twenty[:], http.StatusOK)*2/3, "most of them while they find out; it were more than all items if none held back")
}

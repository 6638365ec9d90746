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

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/busfake"
	"onedoor/services/worker/model"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/status"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// The quota of the deployment has room for four replicas of the worker below.
const (
	replicas     = 4
	unitsOfTPM   = 12 // of 1000 tokens a minute
	tokensOfItem = 134
	minutes      = 12
)

// inProcess hands requests to a handler, in the time of the test.
type inProcess struct {
	handler http.Handler
	takes   time.Duration
}

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(p.takes)
	answer := httptest.NewRecorder()
	p.handler.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// together runs n workers on one queue for some virtual minutes against a simulated
// deployment, and returns how many items they did, how many calls they made, and how
// many of those were answered with 429.
func together(t *testing.T, n int) (items, calls, throttled int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := openai.New(openai.Config{
			Config: core.Config{
				Start: time.Now(),
				Accounts: []core.Account{{Name: "oai", Region: "swedencentral", Deployments: []core.Deployment{
					{Name: "small", Model: "gpt-4o-mini", Version: "2024-07-18", SKU: "GlobalStandard", Capacity: unitsOfTPM},
				}}},
			},
			Rules: core.Rules{Tokens: func([]byte) int64 { return tokensOfItem }},
			Issued: func(string) (core.Principal, bool) {
				return core.Principal{ID: "gateway", Actions: []string{"*"}}, true
			},
		})
		entry := sim.Handler(openai.Entry{Account: "oai"})
		ends := time.Now().Add(minutes * time.Minute)
		var group sync.WaitGroup
		group.Go(func() {
			for time.Now().Before(ends) {
				time.Sleep(time.Second)
				assert.NoError(t, sim.Advance(time.Second))
			}
		})
		first := newWorld(t)
		random := rand.New(rand.NewPCG(1, 2))
		var workers []*Worker
		for range n {
			var mu sync.Mutex
			seed := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
			own := *first.Worker
			own.Window = quota.New(1000*unitsOfTPM/replicas, 1000, func() float64 {
				mu.Lock()
				defer mu.Unlock()
				return seed.Float64()
			})
			own.Metrics, own.Health = status.New("text", own.Window.Share), &status.Health{}
			own.Limits.Grace = 0
			own.Model = &model.Client{
				URL: "http://gateway/openai/v1", Token: busfake.Credential{},
				HTTP: &http.Client{Transport: inProcess{entry, 2 * time.Second}},
			}
			workers = append(workers, &own)
		}
		for i := range 2 * minutes * 1000 * unitsOfTPM / tokensOfItem {
			first.post(strconv.Itoa(i), "application/json", chat)
		}
		made, err := first.Maker.Item("application/json", bytes.NewReader([]byte(chat)))
		require.NoError(t, err)
		require.Equal(t, tokensOfItem, made.Tokens)
		for _, w := range workers {
			group.Go(func() { (&world{t: t, Worker: w}).run(minutes * time.Minute) })
		}
		group.Wait()
		_, _, items = first.queue.counts()
		assert.Empty(t, first.queue.dead)
		for _, w := range workers {
			throttled += int(testutil.ToFloat64(w.Metrics.Throttled))
		}
		calls = items + throttled
	})
	return items, calls, throttled
}

// Four workers keep to their promise, and so hardly see a 429. Twenty, which no plan
// would start, hold back: they do no more, nor much less.
func TestMoreWorkersThanTheQuotaHasRoomForDoNoMore(t *testing.T) {
	t.Parallel()
	four, calls, throttled := together(t, replicas)
	t.Logf("4 workers: %d items, %d calls, %d with 429", four, calls, throttled)
	assert.Less(t, float64(throttled), 0.01*float64(calls))
	most := minutes * 1000 * unitsOfTPM / tokensOfItem
	assert.Greater(t, four, most*9/10, "of %d that the quota has room for", most)

	twenty, calls, throttled := together(t, 5*replicas)
	t.Logf("20 workers: %d items, %d calls, %d with 429", twenty, calls, throttled)
	assert.LessOrEqual(t, twenty, most)
	assert.InDelta(t, four, twenty, 0.1*float64(four))
	assert.Less(t, float64(throttled), 0.4*float64(calls), "most of them while they find out; it were more than half if none held back")
}

package capacity

import (
	"strconv"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func load(parallel int, item time.Duration, tokens int) Load {
	return Load{Parallel: parallel, Item: item, Tokens: tokens, Calls: 1}
}

func TestLoadsOutsideTheirLimitsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrong, legal Load
		want         string
	}{
		"Idle":       {load(0, time.Second, 1), load(1, time.Second, 1), "0 items at once, want 1 to 10"},
		"Crowded":    {load(11, time.Second, 1), load(10, time.Second, 1), "11 items at once"},
		"Instant":    {load(1, MinItem-1, 1), load(1, MinItem, 1), "want 100ms to 1h0m0s"},
		"Endless":    {load(1, MaxHold+1, 1), load(1, MaxHold, 1), "for an item, want"},
		"Free":       {load(1, time.Second, 0), load(1, time.Second, 1), "0 tokens for an item"},
		"Huge":       {load(1, time.Second, MaxTokens+1), load(1, time.Second, MaxTokens), "want 1 to 2000000"},
		"NeverCalls": {Load{1, time.Second, 1, 0}, Load{1, time.Second, 1, 1}, "0 calls for an item"},
		"CallsAgain": {Load{1, time.Second, 1, 101}, Load{1, time.Second, 1, 100}, "101 calls"},
	} {
		require.ErrorContains(t, c.wrong.Check(), c.want, name)
		require.NoError(t, c.legal.Check(), name)
	}
}

func TestRateIsWhatAReplicaCanUse(t *testing.T) {
	t.Parallel()
	r := Load{Parallel: 4, Item: 12 * time.Second, Tokens: 3000, Calls: 2}.Rate()
	assert.Equal(t, Rate{Items: 20, Tokens: 60_000, Requests: 40, Why: "4 at once x 60 s / 12s = 20 items a minute x 3000 tokens = 60000 tokens a minute"}, r)
	assert.Equal(t, 9, load(1, 7*time.Second, 1).Rate().Items, "60 / 7 = 8.6, rounded up: a budget that is too small would be broken")
}

func TestBacklogIsWhatWaitsForAReplica(t *testing.T) {
	t.Parallel()
	n, why := load(4, 12*time.Second, 1).Backlog(2 * time.Minute)
	assert.Equal(t, 40, n)
	assert.Equal(t, "4 at once x 2m0s of waiting / 12s an item = 40 messages for a replica", why)
	n, _ = load(1, time.Hour, 1).Backlog(time.Minute)
	assert.Equal(t, 1, n, "one message always starts a replica")
}

func TestQueuesShareWhatPeopleLeave(t *testing.T) {
	t.Parallel()
	deployments := []Limits{
		{Name: "a/large", Tokens: 500_000, Requests: 500, Reserve: 0},
		{Name: "a/small", Tokens: 300_000, Requests: 300, Reserve: 60_000},
	}
	work := load(4, 12*time.Second, 3000) // 60,000 tokens a minute
	alone := Shares(deployments, []Claim{{Queue: "text", Load: work, Weight: 1}})
	require.Len(t, alone, 1)
	assert.Equal(t, 4, alone[0].Replicas, "240,000 / 60,000: the smaller deployment decides")
	assert.Equal(t, "a/small", alone[0].Deployment)
	assert.Equal(t, "a/small takes 300000 tokens a minute - 60000 kept for people = 240000; a replica uses 4 at once x 60 s / 12s = 20 items a minute x 3000 tokens = 60000 tokens a minute: 240000 / 60000 = 4 replicas", alone[0].Why)

	both := Shares(deployments, []Claim{{Queue: "text", Load: work, Weight: 3}, {Queue: "image", Load: work, Weight: 1}})
	assert.Equal(t, []int{3, 1}, []int{both[0].Replicas, both[1].Replicas})
	assert.Contains(t, both[0].Why, "= 240000 x weight 3 of 4 = 180000;")

	capped := Shares(deployments, []Claim{{Queue: "text", Load: work, Weight: 1, Most: 2}})
	assert.Equal(t, []int{2, 4}, []int{capped[0].Replicas, capped[0].Fits})

	deployments[1].Tokens = 119_999 // one token short of a replica
	assert.Zero(t, Shares(deployments, []Claim{{Queue: "text", Load: work, Weight: 1}})[0].Fits)
	deployments[1].Tokens = 120_000
	assert.Equal(t, 1, Shares(deployments, []Claim{{Queue: "text", Load: work, Weight: 1}})[0].Fits)
}

func TestRequestsBindWhereItemsAreSmall(t *testing.T) {
	t.Parallel()
	s := Shares([]Limits{{Name: "a/d", Tokens: 100_000, Requests: 100, Reserve: 50_000}}, []Claim{{Queue: "text", Load: load(5, 15*time.Second, 100), Weight: 1}})[0]
	assert.Equal(t, 2, s.Fits, "half of 100 requests / 20")
	assert.Contains(t, s.Why, "25 replicas, but 50 requests a minute / 20 of a replica = 2 replicas")
}

// Whatever the input: for each deployment, what is kept for people and all that
// all queues may use is no more than it takes, in tokens; and the queues' requests
// no more than its requests.
func TestNoDeploymentIsOvercommitted(t *testing.T) {
	t.Parallel()
	type queue struct {
		Parallel, Weight, Most uint8
		Seconds, Tokens        uint16
		Calls                  uint8
	}
	property := func(tokens, reserve [3]uint32, queues []queue) bool {
		var deployments []Limits
		for i := range tokens {
			takes := int(tokens[i] % 2_000_000)
			kept := 0
			if takes > 0 {
				kept = int(reserve[i]) % (takes + 1)
			}
			deployments = append(deployments, Limits{Name: strconv.Itoa(i), Tokens: takes, Requests: takes / 1000 * RequestsPerUnit, Reserve: kept})
		}
		var claims []Claim
		for i, q := range queues {
			claims = append(claims, Claim{Queue: strconv.Itoa(i), Weight: 1 + int(q.Weight), Most: int(q.Most), Load: Load{
				Parallel: 1 + int(q.Parallel%MaxParallel), Item: time.Duration(1+int(q.Seconds)%3600) * time.Second, Tokens: 1 + int(q.Tokens), Calls: 1 + int(q.Calls)%MaxCalls,
			}})
		}
		shares := Shares(deployments, claims)
		for _, d := range deployments {
			used, requests := d.Reserve, 0
			for _, s := range shares {
				used += s.Replicas * s.Rate.Tokens
				requests += s.Replicas * s.Rate.Requests
			}
			if used > d.Tokens || requests > d.Requests {
				return false
			}
		}
		return true
	}
	require.NoError(t, quick.Check(property, &quick.Config{MaxCount: 3000}))
}

func TestDemandCountsQueuesAndTenants(t *testing.T) {
	t.Parallel()
	deployments := []Limits{{Name: "a/d", Tokens: 100_000}, {Name: "b/d", Tokens: 50_000}}
	shares := []Share{{Queue: "text", Replicas: 2, Rate: Rate{Tokens: 30_000}}}
	demand, supply, why := Demand(deployments, shares, []Buyers{{"2 tenants of plan office", 20_000}, {"1 tenants of plan open", 70_000}})
	assert.Equal(t, []int{150_000, 150_000}, []int{demand, supply})
	assert.Equal(t, "queue text 2 replicas x 30000 + 2 tenants of plan office 20000 + 1 tenants of plan open 70000 = 150000 tokens a minute of the 150000 that its deployments take", why)
}

func TestReceiversStayBelowTheBrokersLimit(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 20, Receivers(5, 4))
	for n, fits := range map[int]bool{4999: true, 5000: false} {
		total, ok := Connections(map[string]int{"text": 1, "image": n - 10}, map[string]int{"text": 10, "image": 1})
		assert.Equal(t, n, total)
		assert.Equal(t, fits, ok)
	}
}

func TestMemoryHoldsWhatIsWorkedOn(t *testing.T) {
	t.Parallel()
	mib, why := Memory(5, 20)
	assert.Equal(t, 428, mib)
	assert.Equal(t, "128 MiB + 5 at once x 3 copies x 20 MiB = 428 MiB", why)
	mib, why = Memory(10, 1)
	assert.Equal(t, 248, mib, "lines and answers are larger than the least payloads")
	assert.Equal(t, "128 MiB + 10 at once x 3 copies x 4 MiB = 248 MiB", why)
}

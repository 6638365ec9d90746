package clients

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/msi/armmsi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

// place is where every life takes place: one group.
const place = "/subscriptions/" + subscription + "/resourceGroups/rg"

// life is one resource as its client sees it, from its making to its end.
type life struct {
	// of is the id behind the group's providers, such as
	// "Microsoft.Storage/storageAccounts/lives".
	of string
	// needs are the lives, by of, that come before it; the last is its parent if it
	// has one.
	needs []string
	// write makes the resource, and changes it when again is set; it polls to the end.
	write func(ctx context.Context, a *azure, again bool) error
	// shows is the value in what was read that the change is about.
	shows func(model any) any
	// made and changed are what shows returns before and after the change.
	made, changed any
	// remove deletes the resource, and polls to the end. A life without it is there
	// for others.
	remove func(ctx context.Context, a *azure) error
	// busy is the code while another write to the resource goes on.
	busy core.Code
}

// shown turns a function over one model into one over any.
func shown[M, V any](f func(M) *V) func(any) any {
	return func(model any) any {
		m, ok := model.(M)
		if !ok {
			return model
		}
		if v := f(m); v != nil {
			return *v
		}
		return nil
	}
}

// pick returns the first value, or the second when again is set.
func pick[T any](again bool, first, second T) *T {
	if again {
		return &second
	}
	return &first
}

func lives() []life {
	return slices.Concat(busLives, storageLives, networkLives, identityLives, modelLives, clusterLives, gatewayLives)
}

func (l life) id() string { return place + "/providers/" + l.of }

// missing is the code for reading it while it is not there; custom roles have their own.
func (l life) missing() core.Code {
	if core.TypeOf(l.id()) == "Microsoft.Authorization/roleDefinitions" {
		return core.RoleDefinitionDoesNotExist
	}
	return core.ResourceNotFound
}

// reads reads the resource with its client.
func (l life) reads(ctx context.Context, a *azure) (any, error) {
	return kinds[core.TypeOf(l.id())].read(ctx, a, segments(l.id()))
}

// A resource lives the life that Microsoft's client gives it: it is missing, made by
// a long-running operation that is polled to its end, read, listed, changed and
// deleted; and the client sees what stands in the way on the way: a parent that is
// not there, too many requests, another write, an etag that is old.
func TestLives(t *testing.T) {
	t.Parallel()
	all := map[string]life{}
	for _, l := range lives() {
		all[l.of] = l
	}
	for _, l := range lives() {
		if l.remove == nil {
			continue
		}
		t.Run(l.of, func(t *testing.T) {
			t.Parallel()
			cloud, err := sim.Open("", sim.WithQuiet(0))
			require.NoError(t, err)
			a, ctx := serve(t, cloud, subscription), t.Context()
			require.NoError(t, a.put(ctx, place, "2024-03-01", `{"location":"swedencentral"}`))

			if n := len(l.needs); n > 0 && core.ParentOf(l.id()) == all[l.needs[n-1]].id() {
				refused(t, l.write(ctx, a, false), http.StatusNotFound, core.ParentResourceNotFound)
			}
			for _, need := range l.needs {
				require.NoError(t, all[need].write(ctx, a, false), need)
				require.NoError(t, cloud.Sleep(ctx, time.Hour))
			}
			_, err = l.reads(ctx, a)
			refused(t, err, http.StatusNotFound, l.missing())

			cloud.Inject(sim.Fault{ID: l.id(), Code: core.TooManyRequests})
			err = l.write(ctx, a, false)
			refused(t, err, http.StatusTooManyRequests, core.TooManyRequests)
			assert.Equal(t, "1", refusal(t, err).RawResponse.Header.Get("Retry-After"))
			_, err = l.reads(ctx, a)
			refused(t, err, http.StatusNotFound, l.missing())

			overlap(t, a, l)
			model, err := l.reads(ctx, a)
			require.NoError(t, err)
			assert.Equal(t, l.made, l.shows(model))
			k := kinds[core.TypeOf(l.id())]
			if k.list != nil {
				found, err := k.list(ctx, a, segments(l.id()))
				require.NoError(t, err)
				assert.Contains(t, found, l.id())
			}

			require.NoError(t, cloud.Sleep(ctx, time.Hour))
			r, ok := cloud.State().Find(l.id())
			require.True(t, ok)
			require.NoError(t, l.write(etagged(ctx, r.Etag), a, true), "with the etag it has")
			refused(t, l.write(etagged(ctx, r.Etag), a, true), http.StatusPreconditionFailed, core.PreconditionFailed)
			model, err = l.reads(ctx, a)
			require.NoError(t, err)
			assert.Equal(t, l.changed, l.shows(model))

			require.NoError(t, l.remove(ctx, a))
			_, err = l.reads(ctx, a)
			refused(t, err, http.StatusNotFound, l.missing())
			require.NoError(t, l.remove(ctx, a), "what is not there is deleted")
			if k.list != nil {
				found, err := k.list(ctx, a, segments(l.id()))
				require.NoError(t, err)
				assert.NotContains(t, found, l.id())
			}
		})
	}
}

// etagged lets every request of ctx ask for an etag, whether or not the client has an
// option for it.
func etagged(ctx context.Context, etag string) context.Context {
	return policy.WithHTTPHeader(ctx, http.Header{"If-Match": []string{etag}})
}

// overlap makes the resource, and writes to it while it is being made.
func overlap(t *testing.T, a *azure, l life) {
	t.Helper()
	release := sync.OnceFunc(a.cloud.Hold())
	defer release()
	before := a.cloud.State().Seq
	made := make(chan error, 1)
	go func() { made <- l.write(t.Context(), a, false) }()
	require.Eventually(t, func() bool { return a.cloud.State().Seq > before }, time.Minute, time.Millisecond)
	refused(t, l.write(t.Context(), a, true), http.StatusConflict, l.busy)
	release()
	require.NoError(t, <-made)
}

// A client with Microsoft's own policy of retries stays away for as long as the answer
// says, and then gets through.
func TestThrottledClientsComeBack(t *testing.T) {
	t.Parallel()
	cloud, err := sim.Open("", sim.WithQuiet(0))
	require.NoError(t, err)
	a, ctx := serve(t, cloud, subscription), t.Context()
	require.NoError(t, a.put(ctx, place, "2024-03-01", `{"location":"swedencentral"}`))
	patient, err := armmsi.NewUserAssignedIdentitiesClient(subscription, anybody{}, a.options("2023-01-31", 1))
	require.NoError(t, err)
	cloud.Inject(sim.Fault{Method: core.Put, Code: core.TooManyRequests})
	sent := time.Now()
	_, err = patient.CreateOrUpdate(ctx, "rg", "worker", armmsi.Identity{Location: new("swedencentral")}, nil)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(sent), time.Second)
}

// Package live_test asks the simulated Azure what preflight and verify ask the real
// one, through Microsoft's clients: problems are planted around the recorded prod
// stack, and reads fail one by one.
package live_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"

	"onedoor/internal/azread"
	"onedoor/internal/engine"
	"onedoor/internal/preflight"
	"onedoor/sim"
	"onedoor/sim/core"
)

// plan is the recorded preview of prod.
var plan = sync.OnceValues(func() ([]engine.Resource, error) {
	raw, err := os.ReadFile("../testdata/prod.preview.json")
	if err != nil {
		return nil, err
	}
	var record struct {
		Resources []engine.Resource `json:"resources"`
	}
	err = json.Unmarshal(raw, &record)
	return record.Resources, err
})

// needs are those of the recorded preview.
var needs = sync.OnceValues(func() (preflight.Needs, error) {
	resources, err := plan()
	if err != nil {
		return preflight.Needs{}, err
	}
	var planned []preflight.Resource
	for _, r := range resources {
		planned = append(planned, preflight.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs})
	}
	return preflight.NeedsOf("prod", planned)
})

// world is a subscription around the stack, in which a test plants problems.
type world struct {
	preflight.Needs
	around  sim.Surroundings
	quota   map[string]float64
	seeds   []core.Resource
	deleted []core.Resource
	noToken map[string]error // by audience
	make    func(*client)    // what exists already; nil for nothing
	wire    *wire            // what happens to answers; nil for nothing

	noAddress bool  // the API server's name cannot be looked up
	unreached error // connections to it fail
}

// cpus is the number in the name of a size.
var cpus = regexp.MustCompile(`^Standard_[A-Z]+(\d+)`)

// calm is a subscription in which the plan fits exactly, with a second GPU pool.
func calm(t testing.TB) *world {
	t.Helper()
	n, err := needs()
	require.NoError(t, err)
	w := &world{Needs: n, quota: map[string]float64{}, noToken: map[string]error{}}
	w.around.Cores = map[string]sim.Quota{}
	for _, m := range w.Models {
		w.quota[m.Region+"/"+m.Offer.Usage()] += m.Units
		w.around.Models = append(w.around.Models, sim.OfferedModel{Region: m.Region, Name: m.Offer.Model, Version: m.Offer.Version, SKUs: []string{m.Offer.SKU}})
	}
	sized := map[string]bool{}
	total := sim.Quota{}
	for _, p := range w.Pools {
		n, err := strconv.Atoi(cpus.FindStringSubmatch(p.Size)[1])
		require.NoError(t, err)
		family := "standard" + p.Size[len("Standard_"):] + "Family"
		if !sized[p.Size] {
			sized[p.Size] = true
			w.around.Sizes = append(w.around.Sizes, sim.MachineSize{Region: p.Region, Name: p.Size, Family: family, CPUs: n, Zones: []string{"1", "2", "3"}})
		}
		room := 2*p.Nodes*n + p.Surge*n
		quota := w.around.Cores[p.Region+"/"+family]
		quota.Limit += room
		w.around.Cores[p.Region+"/"+family] = quota
		total.Limit += room
		w.around.Cores[p.Region+"/cores"] = total
	}
	for _, peer := range w.Peers {
		w.seeds = append(w.seeds, hub(peer.ID, "10.0.0.0/16", "10.1.0.0/16"))
	}
	return w
}

// hub is a network with these addresses, peered with a spoke that has those.
func hub(id, own, spoke string) core.Resource {
	return core.Resource{ID: id, Body: map[string]any{"location": "swedencentral", "properties": map[string]any{
		"addressSpace": map[string]any{"addressPrefixes": []any{own}},
		"virtualNetworkPeerings": []any{map[string]any{"name": "spoke", "properties": map[string]any{
			"remoteVirtualNetwork": map[string]any{"id": strings.Replace(id, "vnet-hub", "vnet-spoke", 1)},
			"remoteAddressSpace":   map[string]any{"addressPrefixes": []any{spoke}},
		}}},
	}}}
}

// caller is the object id of who asks.
const caller = "cccccccc-0000-4000-8000-000000000001"

// tokens stands in for a login.
type tokens struct{ none map[string]error }

func (c tokens) GetToken(_ context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	audience := strings.TrimSuffix(o.Scopes[0], "/.default")
	if err := c.none[audience]; err != nil {
		return azcore.AccessToken{}, err
	}
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"oid":%q}`, caller))
	return azcore.AccessToken{Token: "e30." + claims + ".c2ln", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// endpoint is that of the simulated Azure; nobody looks it up.
const endpoint = "https://management.simulated"

// open serves the world and returns clients for it.
func (w *world) open(t testing.TB) (*azread.Azure, *sim.Cloud) {
	t.Helper()
	c, err := sim.Open("", sim.WithQuiet(0), sim.WithSurroundings(w.around), sim.WithModelQuota(w.quota), sim.WithSeed(w.seeds...), sim.WithTypesOnly())
	require.NoError(t, err)
	c.SeedDeleted(w.deleted...)
	azure := c.ARM()
	if w.make != nil {
		w.make(&client{t, azure})
	}
	transport := w.wire
	if transport == nil {
		transport = &wire{}
	}
	transport.azure = azure
	a, err := azread.New(azread.Options{
		Subscription: w.Subscription, Credential: tokens{w.noToken}, Transport: transport, MaxRetries: -1,
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: endpoint, Audience: endpoint}}},
	})
	require.NoError(t, err)
	return a, c
}

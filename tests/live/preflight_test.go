package live_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az/rights"
	"onedoor/internal/finding"
	"onedoor/internal/preflight"
	"onedoor/sim/core"
)

// preflightOf runs preflight in the world.
func (w *world) preflight(t testing.TB) finding.Report {
	t.Helper()
	a, _ := w.open(t)
	return preflight.Run(t.Context(), w.Needs, preflight.Options{
		Azure: a, Audience: endpoint,
		Resolve: func(context.Context, string) ([]string, error) {
			if w.noAddress {
				return nil, errors.New("no such host")
			}
			return []string{"10.0.0.4"}, nil
		},
		Dial: func(context.Context, string) error { return w.unreached },
	})
}

// withCluster makes the cluster exist, with an API server of that name.
func (w *world) withCluster() {
	w.seeds = append(w.seeds, core.Resource{ID: w.Cluster.ID, Body: map[string]any{"location": "swedencentral", "properties": map[string]any{
		"fqdn": "aks.hcp.swedencentral.azmk8s.io", "privateFQDN": "aks.privatelink.swedencentral.azmk8s.io",
		"agentPoolProfiles": []any{},
	}}})
}

// name is that of the planned resource of a type.
func (w *world) name(armType string) preflight.Item {
	for _, item := range w.Names {
		if strings.EqualFold(item.ARMType, armType) {
			return item
		}
	}
	panic(armType)
}

// pool is the first pool with GPUs, or without.
func (w *world) pool(gpu bool) preflight.Pool {
	for _, p := range w.Pools {
		if p.GPU == gpu {
			return p
		}
	}
	panic("no pool")
}

// leave lowers the quota of a pool's family so that so many cores are left beyond
// what the pools of the family need.
func (w *world) leave(p preflight.Pool, left int) {
	key := ""
	size := 0
	for _, s := range w.around.Sizes {
		if s.Name == p.Size {
			key, size = p.Region+"/"+s.Family, s.CPUs
		}
	}
	need := 0
	for _, other := range w.Pools {
		if other.Size == p.Size {
			need += other.Nodes * size
		}
	}
	quota := w.around.Cores[key]
	quota.Limit = need + left
	w.around.Cores[key] = quota
}

// size changes the size of a pool.
func (w *world) size(p preflight.Pool, change func(i int)) {
	for i := range w.around.Sizes {
		if w.around.Sizes[i].Name == p.Size {
			change(i)
		}
	}
}

// planted are problems around the stack, by what is wrong. Each has one code.
var planted = map[string]struct {
	code  string
	plant func(*world)
}{
	"the subscription is disabled":         {preflight.SubscriptionUsable, func(w *world) { w.around.State = "Warned" }},
	"the subscription is another tenant's": {preflight.SubscriptionUsable, func(w *world) { w.around.Tenant = "99999999-0000-4000-8000-000000000009" }},
	"a provider is not registered":         {preflight.ProviderRegistered, func(w *world) { w.around.Unregistered = []string{"Microsoft.CognitiveServices"} }},
	"a provider of AKS is not registered":  {preflight.ProviderRegistered, func(w *world) { w.around.Unregistered = []string{"Microsoft.Compute"} }},
	"a region lacks a model":               {preflight.ModelOffered, func(w *world) { w.around.Models = w.around.Models[1:] }},
	"a region lacks the batch SKU": {preflight.ModelOffered, func(w *world) {
		for i, m := range w.around.Models {
			if m.SKUs[0] == "GlobalBatch" {
				w.around.Models[i].SKUs = []string{"GlobalStandard"}
			}
		}
	}},
	"batch quota is too small": {preflight.ModelQuota, func(w *world) {
		for key := range w.quota {
			if strings.Contains(key, "GlobalBatch") {
				w.quota[key]--
			}
		}
	}},
	"others use the model's quota": {preflight.ModelQuota, func(w *world) {
		w.around.ModelsInUse = map[string]float64{w.Models[0].Region + "/" + w.Models[0].Offer.Usage(): 1}
	}},
	"cores for fewer nodes":          {preflight.CoresForAll, func(w *world) { w.leave(w.pool(true), -1) }},
	"cores of the region":            {preflight.CoresForAll, func(w *world) { w.around.Cores[w.Pools[0].Region+"/cores"] = w.around.Cores["none"] }},
	"no cores for the surge":         {preflight.CoresForSurge, func(w *world) { w.leave(w.pool(true), 0) }},
	"no cores for a second GPU pool": {preflight.CoresForReplacing, func(w *world) { w.leave(w.pool(true), 60) }},
	"the region lacks a size":        {preflight.SizeOffered, func(w *world) { w.size(w.pool(true), func(i int) { w.around.Sizes[i].Region = "westus" }) }},
	"a size is kept from us":         {preflight.SizeOffered, func(w *world) { w.size(w.pool(true), func(i int) { w.around.Sizes[i].Restricted = true }) }},
	"a zone lacks a size":            {preflight.ZonesOffered, func(w *world) { w.size(w.pool(false), func(i int) { w.around.Sizes[i].Zones = []string{"2", "3"} }) }},
	"a zone is kept from us":         {preflight.ZonesOffered, func(w *world) { w.size(w.pool(false), func(i int) { w.around.Sizes[i].Closed = []string{"1"} }) }},
	"a deleted account has a name": {preflight.DeletedAccount, func(w *world) {
		w.deleted = append(w.deleted, core.Resource{ID: w.name("Microsoft.CognitiveServices/accounts").ID})
	}},
	"a deleted gateway has a name": {preflight.DeletedGateway, func(w *world) {
		w.deleted = append(w.deleted, core.Resource{ID: w.name("Microsoft.ApiManagement/service").ID})
	}},
	"a deleted vault has a name": {preflight.DeletedVault, func(w *world) {
		w.deleted = append(w.deleted, core.Resource{ID: w.name("Microsoft.KeyVault/vaults").ID})
	}},
	"an account's name is taken":   {preflight.NameFree, func(w *world) { w.take("Microsoft.CognitiveServices/accounts") }},
	"the gateway's name is taken":  {preflight.NameFree, func(w *world) { w.take("Microsoft.ApiManagement/service") }},
	"a vault's name is taken":      {preflight.NameFree, func(w *world) { w.take("Microsoft.KeyVault/vaults") }},
	"the registry's name is taken": {preflight.NameFree, func(w *world) { w.take("Microsoft.ContainerRegistry/registries") }},
	"the queue's name is taken":    {preflight.NameFree, func(w *world) { w.take("Microsoft.ServiceBus/namespaces") }},
	"the storage's name is taken":  {preflight.NameFree, func(w *world) { w.take("Microsoft.Storage/storageAccounts") }},
	"a peer has our addresses":     {preflight.OverlapsPeer, func(w *world) { w.seeds[0] = hub(w.Peers[0].ID, "10.48.8.0/21", "10.1.0.0/16") }},
	"a peer has those of the pods": {preflight.ClusterOverlaps, func(w *world) { w.seeds[0] = hub(w.Peers[0].ID, "10.241.0.0/24", "10.1.0.0/16") }},
	"a spoke has our addresses":    {preflight.OverlapsSpoke, func(w *world) { w.seeds[0] = hub(w.Peers[0].ID, "10.0.0.0/16", "10.48.0.0/24") }},
	"the caller may only read": {preflight.RightToWrite, func(w *world) {
		w.around.Permissions = []rights.Role{{Actions: []string{"*/read", "Microsoft.Authorization/*"}}}
	}},
	"the caller may not assign roles": {preflight.RightToAssign, func(w *world) {
		w.around.Permissions = []rights.Role{rights.BuiltIn["b24988ac-6180-42a0-ab88-20f7382dd24c"], {Actions: []string{"Microsoft.Authorization/policy*"}}}
	}},
	"the API server does not answer": {preflight.ClusterReachable, func(w *world) { w.unreached = errors.New("timeout") }},
	"the directory lacks an audience": {preflight.TokenForAudience, func(w *world) {
		w.noToken["api://onedoor-batch"] = errors.New("AADSTS500011: The resource principal named api://onedoor-batch was not found in the tenant")
	}},
}

func (w *world) take(armType string) {
	w.around.TakenNames = append(w.around.TakenNames, w.name(armType).Name)
}

func TestPreflightPassesInACalmSubscription(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.withCluster()
	report := w.preflight(t)
	assert.Empty(t, report.Findings)
	assert.Equal(t, finding.ExitOK, report.ExitCode())
	for _, c := range report.Checks {
		assert.Equal(t, finding.OK, c.State, "%s: %s", c.Code, "prod has something that every code is about")
	}
}

func TestPreflightNamesEveryPlantedProblem(t *testing.T) {
	t.Parallel()
	codes := map[string]bool{}
	for what, p := range planted {
		codes[p.code] = true
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := calm(t)
			w.withCluster()
			p.plant(w)
			report := w.preflight(t)
			found := map[string]bool{}
			for _, f := range report.Findings {
				if f.Severity != finding.NotChecked { // what cannot be judged for want of what is wrong
					found[f.Code] = true
				}
				assert.NotEmpty(t, f.Message)
				assert.NotEmpty(t, f.Remedy)
				assert.FileExists(t, "../../"+f.Page)
			}
			assert.Equal(t, map[string]bool{p.code: true}, found, "%v", report.Findings)
			for _, f := range report.Findings {
				if f.Severity == finding.Error {
					assert.Equal(t, finding.ExitProblems, report.ExitCode())
				}
			}
		})
	}
	for _, c := range preflight.Codes {
		assert.True(t, codes[c.ID], "%s: no problem is planted for it", c.ID)
	}
	assert.GreaterOrEqual(t, len(codes), 20)
}

func TestPreflightWithoutCredentialsChecksNothing(t *testing.T) {
	t.Parallel()
	w := calm(t)
	w.noToken[endpoint] = errors.New("DefaultAzureCredential: failed to acquire a token")
	w.wire = &wire{}
	report := w.preflight(t)
	assert.Equal(t, finding.ExitIncomplete, report.ExitCode())
	assert.Empty(t, w.wire.requests(), "nobody is asked without a token")
	for _, c := range report.Checks {
		assert.Equal(t, finding.Open, c.State, c.Code)
	}
}

// Quota that the stack holds already is not needed twice.
func TestPreflightOfAStackThatExists(t *testing.T) {
	t.Parallel()
	w := calm(t)
	existing(t, w)
	w.around.ModelsInUse = nil
	report := w.preflight(t)
	assert.Empty(t, report.Findings)

	one := w.Models[0]
	w.around.ModelsInUse = map[string]float64{one.Region + "/" + one.Offer.Usage(): 1}
	assert.Equal(t, finding.Found, w.preflight(t).State(preflight.ModelQuota), "others count all the same")
}

// Whatever read fails, and however: what it was needed for is not checked, or the
// problem is found all the same. No planted problem is ever taken for good.
func TestPreflightIsNeverSureOfWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	all := calm(t)
	all.withCluster()
	all.wire = &wire{}
	clean := all.preflight(t)
	require.Equal(t, finding.ExitOK, clean.ExitCode())
	reads := all.wire.requests()
	require.Greater(t, len(reads), 30)

	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for _, read := range reads {
				w := calm(t)
				w.withCluster()
				w.wire = &wire{spoil: read, with: f}
				report := w.preflight(t)
				assert.NotEqual(t, finding.ExitOK, report.ExitCode(), "%s: read badly, and all is well", read)
				assert.Positive(t, report.Count(finding.NotChecked)+report.Count(finding.Error), read)
				if f.status != 200 {
					assert.Zero(t, report.Count(finding.Error), "%s: %v", read, report.Findings)
				}
			}
		})
	}
}

// The same for a subscription in which everything is wrong.
func TestPreflightNeverLosesAProblem(t *testing.T) {
	t.Parallel()
	reads := func() []string {
		w := calm(t)
		w.withCluster()
		w.wire = &wire{}
		w.preflight(t)
		return w.wire.requests()
	}()
	for what, p := range planted {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for i, read := range reads {
				if testing.Short() && i%5 != 0 {
					continue
				}
				w := calm(t)
				w.withCluster()
				p.plant(w)
				w.wire = &wire{spoil: read, with: faults[i%len(faults)]}
				state := w.preflight(t).State(p.code)
				assert.Contains(t, []finding.State{finding.Found, finding.Open}, state, "%s %s", read, fmt.Sprint(faults[i%len(faults)]))
			}
		})
	}
}

package cluster

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/cmd/embedded"
	"onedoor/internal/az/aks"
	"onedoor/internal/engine"
	"onedoor/sim"
	"onedoor/sim/core"
	"onedoor/sim/kube"
	"onedoor/tests/kit"
)

// clusterType is the type of the cluster in Azure.
const clusterType = "Microsoft.ContainerService/managedClusters"

// watch sees the cluster through the operations of one stack.
type watch struct {
	writes []sim.LogEntry // to the cluster and what is below it, in the order in which Azure took them
	live   map[string]any // properties of the cluster after the last operation
	id     string
}

// over lets w watch s.
func (w *watch) over(s *embedded.Session) *embedded.Session {
	s.Inspect = func(cloud *sim.Cloud) {
		w.writes, w.live = nil, nil
		for _, entry := range cloud.Log() {
			_, below, found := strings.Cut(entry.ID, "/managedClusters/")
			if found && !strings.Contains(below, "/providers/") && !strings.Contains(below, "/objects/") {
				w.writes = append(w.writes, entry)
			}
		}
		for _, r := range cloud.State().Resources {
			if r.Type == clusterType {
				w.live, w.id = r.Body["properties"].(map[string]any), r.ID
			}
		}
	}
	return s
}

// below names what each write went to, from the cluster's name on.
func (w *watch) below() []string {
	var out []string
	for _, entry := range w.writes {
		out = append(out, entry.ID[strings.Index(entry.ID, "/managedClusters/")+len("/managedClusters/"):])
	}
	return out
}

// at is the value at a path of objects, nil if there is none.
func at(v any, path ...string) any {
	for _, step := range path {
		object, _ := v.(map[string]any)
		v = object[step]
	}
	return v
}

// keda tells whether the cluster has KEDA.
func (w *watch) keda() any { return at(w.live, "workloadAutoScalerProfile", "keda", "enabled") }

const aksName = "aks-onedoor-dev"

// The order that everything in the cluster relies on, as Azure sees it: the
// cluster with workload identity, then KEDA, then pool after pool, none
// overlapping another.
func TestAzureSeesWorkloadIdentityThenKEDAThenPools(t *testing.T) {
	t.Parallel()
	var seen watch
	s := seen.over(kit.Session(t, "dev", kit.Small(t)))
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{
		aksName, aksName, aksName + "/agentPools/worker", aksName + "/agentPools/batch", aksName + "/agentPools/a100",
		aksName + "/maintenanceConfigurations/aksManagedAutoUpgradeSchedule", aksName + "/maintenanceConfigurations/aksManagedNodeOSUpgradeSchedule",
	}, seen.below())
	for i, w := range seen.writes[1:] {
		assert.GreaterOrEqual(t, w.Start, seen.writes[i].End, "%s began before %s had ended", w.ID, seen.writes[i].ID)
	}
	created, patched := seen.writes[0].Body["properties"], seen.writes[1].Body["properties"]
	assert.Equal(t, true, at(created, "securityProfile", "workloadIdentity", "enabled"))
	assert.NotContains(t, created, "workloadAutoScalerProfile", "one write that did both would leave the order to Azure")
	assert.Equal(t, true, at(patched, "workloadAutoScalerProfile", "keda", "enabled"))
	assert.Equal(t, true, at(patched, "securityProfile", "workloadIdentity", "enabled"), "the second write keeps what the first one said")

	_, err = s.Refresh(t.Context())
	require.NoError(t, err)
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.Empty(t, seen.writes, "an update after a refresh has nothing to write")
}

// Entra compares the issuer byte for byte, its last slash included. KEDA's operator
// asks for the length of a queue as itself, so the scaler's identity must trust it.
func TestIdentitiesTrustTheAccountsOfThisCluster(t *testing.T) {
	t.Parallel()
	s := kit.Session(t, "dev", kit.Small(t))
	issuer, subjects := "", map[string]string{} // of each identity
	s.Inspect = func(cloud *sim.Cloud) {
		for _, r := range cloud.State().Resources {
			switch props, _ := r.Body["properties"].(map[string]any); r.Type {
			case clusterType:
				issuer, _ = at(props, "oidcIssuerProfile", "issuerURL").(string)
			case "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials":
				name := core.Name(core.ParentOf(r.ID))
				assert.NotContains(t, subjects, name, "one account acts as an identity")
				subjects[name], _ = props["subject"].(string)
				assert.Equal(t, []any{"api://AzureADTokenExchange"}, props["audiences"])
				defer func() { assert.Equal(t, issuer, props["issuer"], r.ID) }()
			}
		}
	}
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Regexp(t, `^https://.*/$`, issuer)
	assert.Equal(t, map[string]string{
		"id-onedoor-dev-control-plane": "system:serviceaccount:onedoor-batch:control-plane",
		"id-onedoor-dev-edge":          "system:serviceaccount:onedoor-edge:serving-edge",
		"id-onedoor-dev-scaler":        "system:serviceaccount:kube-system:keda-operator",
		"id-onedoor-dev-serving":       "system:serviceaccount:onedoor-serving:model-server",
		"id-onedoor-dev-worker-text":   "system:serviceaccount:onedoor-workers:worker-text",
	}, subjects)
}

// A tag is a write to the cluster that does not mention KEDA. Whatever Azure makes
// of that, and whatever is in the way, KEDA is on at the end of the same update.
func TestKEDAIsOnAfterEveryUpdate(t *testing.T) {
	t.Parallel()
	busy := sim.Fault{Type: clusterType, Method: core.Put, Code: core.OperationNotAllowed, Message: "another operation is in progress"}
	for name, c := range map[string]struct {
		simulate []sim.Option
		fault    *sim.Fault
		refresh  bool
	}{
		"The cluster is busy once":      {fault: &busy},
		"AKS writes in the background":  {simulate: []sim.Option{sim.WithBackgroundWrites()}},
		"After a refresh in reset mode": {refresh: true, simulate: []sim.Option{sim.WithResetOmittedProfiles()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen watch
			s := seen.over(kit.Session(t, "dev", kit.Small(t)))
			s.Simulate = c.simulate
			if c.fault != nil {
				s.Prepare = func(cloud *sim.Cloud) { cloud.Inject(*c.fault) }
			}
			_, err := s.Up(t.Context())
			require.NoError(t, err)
			assert.Equal(t, true, seen.keda(), "after the first update")
			if c.refresh {
				_, err = s.Refresh(t.Context())
				require.NoError(t, err)
			}
			s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"base.owner": "somebody@example.com"})
			_, err = s.Up(t.Context())
			require.NoError(t, err)
			assert.NotEmpty(t, seen.writes)
			assert.Equal(t, true, seen.keda(), "after a tag has changed")
			again, err := s.Preview(t.Context())
			require.NoError(t, err)
			assert.False(t, again.HasChanges(), "%v", again.Changes)
		})
	}
}

// AKS promises no order inside the cluster: its webhook may come after KEDA's
// operator, as it does where KEDA was on before workload identity.
func TestAnOperatorThatCameTooEarlyIsRestarted(t *testing.T) {
	t.Parallel()
	s := kit.Session(t, "dev", kit.Small(t))
	s.Simulate = []sim.Option{sim.WithLateIdentityWebhook()}
	identified := false
	s.Inspect = func(cloud *sim.Cloud) {
		for _, r := range cloud.State().Resources {
			if r.Type == clusterType {
				identified = kube.OperatorHasIdentity(cloud.State(), r.ID)
			}
		}
	}
	small := s.StackFile
	s.StackFile = kit.Changed(t, small, map[string]any{"cluster.inCluster": "skip"})
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.False(t, identified, "nobody has restarted it yet")
	s.StackFile = small
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.True(t, identified)
}

// The new cluster is another one under the same id: it needs KEDA once more.
func TestAReplacedClusterGetsKEDAByAWriteOfItsOwn(t *testing.T) {
	t.Parallel()
	var seen watch
	s := seen.over(kit.Session(t, "dev", kit.Small(t)))
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	first := seen.live["resourceUID"]
	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"cluster.serviceCidr": "10.246.0.0/16"})
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, first, seen.live["resourceUID"], "the cluster must have been replaced")
	assert.Equal(t, true, seen.keda())
	var puts []sim.LogEntry
	for _, w := range seen.writes {
		if w.Method == core.Put && strings.HasSuffix(w.ID, "/"+aksName) {
			puts = append(puts, w)
		}
	}
	require.Len(t, puts, 2)
	assert.NotContains(t, puts[0].Body["properties"], "workloadAutoScalerProfile")
	assert.GreaterOrEqual(t, puts[1].Start, puts[0].End)
	again, err := s.Preview(t.Context())
	require.NoError(t, err)
	assert.False(t, again.HasChanges(), "%v", again.Changes)
}

// A patch is Azure's to choose; a minor version is ours: first the control
// plane, then the system pool, then the others one after another.
func TestUpgrades(t *testing.T) {
	t.Parallel()
	var seen watch
	s := seen.over(kit.Session(t, "dev", kit.Small(t)))
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	before := seen.live["currentKubernetesVersion"]
	s.Prepare = func(cloud *sim.Cloud) { require.NoError(t, cloud.UpgradePatch(seen.id)) }
	_, err = s.Refresh(t.Context())
	require.NoError(t, err)
	s.Prepare = nil
	require.NotEqual(t, before, seen.live["currentKubernetesVersion"], "Azure must have upgraded the cluster")
	preview, err := s.Preview(t.Context())
	require.NoError(t, err)
	assert.False(t, preview.HasChanges(), "a patch is no change of ours: %v", preview.Changes)

	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"cluster.version": "1.34"})
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{aksName, aksName + "/agentPools/system", aksName + "/agentPools/worker", aksName + "/agentPools/batch", aksName + "/agentPools/a100"},
		slices.DeleteFunc(seen.below(), func(id string) bool { return strings.Contains(id, "maintenance") }), "the control plane, its pool, then each of the others")
	assert.Equal(t, "1.34", at(seen.writes[0].Body["properties"], "kubernetesVersion"))
	for i, w := range seen.writes[1:] {
		assert.GreaterOrEqual(t, w.Start, seen.writes[i].End)
	}
	assert.Regexp(t, `^1\.34\.`, seen.live["currentKubernetesVersion"])

	// A later write sends the list of pools again: it must be what Azure has now, with
	// the new versions and without the pools that are gone.
	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"cluster.access.ranges": []string{"198.51.100.0/24"}})
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"cluster.pools.gpu": map[string]any{}})
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"cluster.access.ranges": []string{"192.0.2.0/24"}})
	_, err = s.Up(t.Context())
	require.NoError(t, err)
	assert.Contains(t, seen.below(), aksName)
	assert.Equal(t, true, seen.keda())
}

// kubernetesChanges are the objects in the cluster that a plan changes.
func kubernetesChanges(result *engine.Result) []string {
	var out []string
	for _, r := range result.Resources {
		if strings.HasPrefix(r.Type, "kubernetes:") && r.Op != "same" {
			out = append(out, r.Op+" "+r.URN)
		}
	}
	return out
}

// The kubeconfig is asked for with plain names, and the identity of the cluster is
// a plain name too: or each change of the cluster would show everything in it as
// changed.
func TestATagOfTheClusterChangesNothingInIt(t *testing.T) {
	t.Parallel()
	var seen watch
	s := seen.over(kit.Session(t, "dev", kit.Small(t)))
	up, err := s.Up(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, kubernetesChanges(up), "there must be objects in the cluster")
	s.Prepare = func(cloud *sim.Cloud) {
		patch := httptest.NewRequest(http.MethodPatch, seen.id+"?api-version=2025-01-01", strings.NewReader(`{"tags": {"by-hand": "yes"}}`))
		patch.Header.Set("Content-Type", "application/json")
		patch.Header.Set("Authorization", "Bearer any")
		answer := httptest.NewRecorder()
		cloud.ARM().ServeHTTP(answer, patch)
		require.Less(t, answer.Code, 300, answer.Body.String())
	}
	_, err = s.Refresh(t.Context())
	require.NoError(t, err)
	s.Prepare = nil
	plan, err := s.Preview(t.Context())
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(plan.Resources, func(r engine.Resource) bool {
		return strings.HasSuffix(r.Type, ":ManagedCluster") && r.Op == "update"
	}), "the tag is to be taken away: %v", plan.Changes)
	assert.Empty(t, kubernetesChanges(plan))
}

// A tag of everything is a change of everything, and of nothing else: no role, no
// object in the cluster, and above all no replacement of what is protected.
func TestATagOfEverythingReplacesNothing(t *testing.T) {
	t.Parallel()
	s := kit.Session(t, "prod", kit.StackFiles()["prod"])
	_, err := s.Up(t.Context())
	require.NoError(t, err)
	s.StackFile = kit.Changed(t, s.StackFile, map[string]any{"base.owner": "somebody@example.com"})
	plan, err := s.Preview(t.Context())
	require.NoError(t, err)
	assert.Zero(t, plan.Changes["replace"])
	assert.Empty(t, kubernetesChanges(plan))
	for _, r := range plan.Resources {
		if strings.HasSuffix(r.Type, ":RoleAssignment") {
			assert.Equal(t, "same", r.Op, r.Name)
		}
	}
}

// A first update from outside the network leaves the cluster empty; one from
// inside fills it. Together they make what one update makes.
func TestSkippingTheClusterAndThenNotIsOneUpdate(t *testing.T) {
	t.Parallel()
	made := func(files ...string) map[string]any {
		s := kit.Session(t, "dev", files[0])
		for _, file := range files {
			s.StackFile = file
			_, err := s.Up(t.Context())
			require.NoError(t, err)
		}
		last, err := s.Preview(t.Context())
		require.NoError(t, err)
		assert.False(t, last.HasChanges())
		out := map[string]any{}
		for _, r := range last.Resources {
			out[r.URN] = r.Inputs
		}
		return out
	}
	small := kit.Small(t)
	skip := kit.Changed(t, small, map[string]any{"cluster.inCluster": "skip"})
	once, twice := made(small), made(skip, small)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(once)), slices.Collect(maps.Keys(twice)))
	for urn, want := range once {
		assert.Equal(t, want, twice[urn], urn)
	}
	plan, err := kit.Session(t, "dev", skip).Preview(t.Context())
	require.NoError(t, err)
	assert.Empty(t, kubernetesChanges(plan), "skip leaves the cluster alone")
}

// An import takes what Azure answers for inputs. The program's own must not differ
// from them in anything that would make a new cluster.
func TestAnImportedClusterIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := kit.Session(t, "prod", kit.StackFiles()["prod"])
	var declared map[string]any
	up, err := s.Up(t.Context())
	require.NoError(t, err)
	for _, r := range up.Resources {
		if strings.HasSuffix(r.Type, ":ManagedCluster") {
			declared = r.Inputs
		}
	}
	require.NotNil(t, declared)
	renamed := maps.Clone(declared)
	renamed["dnsPrefix"], renamed["fqdnSubdomain"] = "another", "another"
	s.Inspect = func(cloud *sim.Cloud) {
		assert.Empty(t, importAndDiff(t, cloud, declared))
		assert.NotEmpty(t, importAndDiff(t, cloud, renamed), "another name of the API server is another cluster")
	}
	_, err = s.Preview(t.Context())
	require.NoError(t, err)
}

// importAndDiff imports the only cluster as the engine does, and returns what of
// the inputs would replace it.
func importAndDiff(t *testing.T, cloud *sim.Cloud, inputs map[string]any) []string {
	var id string
	for _, r := range cloud.State().Resources {
		if r.Type == clusterType {
			id = r.ID
		}
	}
	require.NotEmpty(t, id)
	const urn = "urn:pulumi:dev::onedoor::azure-native:containerservice/v20250101:ManagedCluster::imported"
	provider := cloud.Providers()[sim.AzureNative]
	read, err := provider.Read(t.Context(), &pulumirpc.ReadRequest{Id: id, Urn: urn})
	require.NoError(t, err)
	news, err := structpb.NewStruct(inputs)
	require.NoError(t, err)
	diff, err := provider.Diff(t.Context(), &pulumirpc.DiffRequest{
		Id: id, Urn: urn, OldInputs: read.GetInputs(), Olds: read.GetProperties(), News: news, IgnoreChanges: []string{"workloadAutoScalerProfile", "agentPoolProfiles"},
	})
	require.NoError(t, err)
	replaces := diff.GetReplaces()
	for path := range diff.GetDetailedDiff() {
		for _, immutable := range aks.ReplaceOnChanges(aks.ClusterImmutables) { // an option of the program, not the provider's
			if path == immutable || strings.HasPrefix(path, immutable+".") || strings.HasPrefix(path, immutable+"[") {
				replaces = append(replaces, path)
			}
		}
	}
	return replaces
}

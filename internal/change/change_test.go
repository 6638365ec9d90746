package change

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
)

const prefix = "urn:pulumi:dev::onedoor::"

func resource(op, typ, name string, inputs map[string]any) engine.Resource {
	return engine.Resource{URN: prefix + typ + "::" + name, Type: typ, Name: name, Op: op, Inputs: inputs}
}

func TestChangesAreToldTheWorstFirst(t *testing.T) {
	t.Parallel()
	cluster := resource("replace", "azure-native:containerservice/v20250101:ManagedCluster", "cluster", map[string]any{"networkProfile": map[string]any{"networkPlugin": "none"}})
	cluster.Before = map[string]any{"networkProfile": map[string]any{"networkPlugin": "azure"}}
	cluster.Because = []string{"networkProfile"}
	grown := resource("update", "azure-native:containerservice/v20250101:AgentPool", "pool", map[string]any{"maxCount": 4.0, "__defaults": []any{}})
	grown.Before = map[string]any{"maxCount": 2.0, "__defaults": []any{"x"}}

	got := Of([]engine.Resource{
		resource("create", "azure-native:apimanagement/v20240501:Subscription", "tenant", nil),
		resource("same", "azure-native:network/v20240501:Subnet", "subnet", nil),
		resource("create", "onedoor:gateway:Gateway", "gateway", nil),
		grown, cluster,
		resource("delete", "azure-native:servicebus/v20240101:Queue", "text", nil),
		resource("delete", "azure-native:authorization/v20220401:RoleAssignment", "role", nil),
	})
	assert.Equal(t, []Resource{
		{
			Op: Replaced, URN: cluster.URN, Kind: "containerservice:ManagedCluster", Name: "cluster", Because: []string{"networkProfile.networkPlugin"},
			Properties: []Property{{"networkProfile.networkPlugin", "azure", "none"}}, Loses: lossOf("containerservice:ManagedCluster"),
		},
		{Op: Deleted, URN: prefix + "azure-native:servicebus/v20240101:Queue::text", Kind: "servicebus:Queue", Name: "text", Loses: lossOf("servicebus:Queue")},
		{Op: Deleted, URN: prefix + "azure-native:authorization/v20220401:RoleAssignment::role", Kind: "authorization:RoleAssignment", Name: "role"},
		{Op: Updated, URN: grown.URN, Kind: "containerservice:AgentPool", Name: "pool", Properties: []Property{{"maxCount", 2.0, 4.0}}},
		{Op: Created, URN: prefix + "azure-native:apimanagement/v20240501:Subscription::tenant", Kind: "apimanagement:Subscription", Name: "tenant"},
	}, got)
	assert.Len(t, Lost(got), 2, "a role that goes loses nothing that is not made again")
}

// TestTheLargestLossComesFirst: the first screen names three, and a cluster that is
// replaced takes dozens of other resources with it.
func TestTheLargestLossComesFirst(t *testing.T) {
	t.Parallel()
	var planned []engine.Resource
	for _, l := range losses {
		planned = append(planned, resource("replace", "p:"+l.kind, "x", nil))
	}
	slices.Reverse(planned)
	var kinds []string
	for _, c := range Of(planned) {
		kinds = append(kinds, c.Kind)
	}
	assert.Equal(t, []string{"resources:ResourceGroup", "network:VirtualNetwork", "containerservice:ManagedCluster"}, kinds[:3])
	assert.Less(t, slices.Index(kinds, "containerservice:ManagedCluster"), slices.Index(kinds, "core:PersistentVolumeClaim"))
}

func TestCompareNamesEachProperty(t *testing.T) {
	t.Parallel()
	for reason, test := range map[string]struct {
		before, after map[string]any
		want          []Property
	}{
		"equal":            {map[string]any{"a": []any{1.0}}, map[string]any{"a": []any{1.0}}, nil},
		"added":            {map[string]any{}, map[string]any{"a": 1.0}, []Property{{"a", nil, 1.0}}},
		"removed":          {map[string]any{"a": map[string]any{"b": 1.0}}, map[string]any{}, []Property{{"a", map[string]any{"b": 1.0}, nil}}},
		"in a list":        {map[string]any{"a": []any{1.0, 2.0}}, map[string]any{"a": []any{1.0, 3.0, 4.0}}, []Property{{"a[1]", 2.0, 3.0}, {"a[2]", nil, 4.0}}},
		"one more text":    {map[string]any{"a": []any{"x", "z"}}, map[string]any{"a": []any{"x", "y", "z"}}, []Property{{"a[1]", nil, "y"}}},
		"another text":     {map[string]any{"a": []any{"x", "z"}}, map[string]any{"a": []any{"y", "z"}}, []Property{{"a[0]", "x", nil}, {"a[0]", nil, "y"}}},
		"texts in order":   {map[string]any{"a": []any{"x", "y"}}, map[string]any{"a": []any{"y", "x"}}, []Property{{"a[0]", "x", "y"}, {"a[1]", "y", "x"}}},
		"a text twice":     {map[string]any{"a": []any{"x"}}, map[string]any{"a": []any{"x", "x"}}, []Property{{"a[1]", nil, "x"}}},
		"a list emptied":   {map[string]any{"a": []any{1.0}}, map[string]any{"a": []any{}}, []Property{{"a", []any{1.0}, []any{}}}},
		"a key with a dot": {map[string]any{"tags": map[string]any{"a.b": "x"}}, map[string]any{"tags": map[string]any{"a.b": "y"}}, []Property{{`tags["a.b"]`, "x", "y"}}},
		"another type":     {map[string]any{"a": "1"}, map[string]any{"a": 1.0}, []Property{{"a", "1", 1.0}}},
		"by key in order":  {map[string]any{"b": 1.0, "a": 1.0}, map[string]any{"b": 2.0, "a": 2.0}, []Property{{"a", 1.0, 2.0}, {"b", 1.0, 2.0}}},
	} {
		assert.Equal(t, test.want, Compare(test.before, test.after), reason)
	}
}

func TestCapacityAddsUpWhatMayBeUsed(t *testing.T) {
	t.Parallel()
	pool := func(op, size string, most float64) engine.Resource {
		return resource(op, "azure-native:containerservice/v20250101:AgentPool", size, map[string]any{"vmSize": size, "count": 1.0, "maxCount": most})
	}
	model := func(sku string, capacity float64) engine.Resource {
		return resource("create", "azure-native:cognitiveservices/v20241001:Deployment", sku, map[string]any{"sku": map[string]any{"name": sku, "capacity": capacity}})
	}
	scaler := resource("create", "kubernetes:keda.sh/v1alpha1:ScaledObject", "text", map[string]any{"spec": map[string]any{"maxReplicaCount": 7.0}})
	before := []engine.Resource{pool("same", "Standard_NC48ads_A100_v4", 2), model("Standard", 100)}
	after := []engine.Resource{
		pool("update", "Standard_NC48ads_A100_v4", 3), pool("create", "Standard_D8s_v5", 5), pool("delete", "Standard_NC40ads_H100_v5", 9),
		model("Standard", 100), model("GlobalBatch", 50), model("ProvisionedManaged", 15), scaler,
	}
	assert.Equal(t, []Quantity{
		{"GPUs, A100-80GB", 4, 6},
		{nodes, 2, 8},
		{replicas, 0, 7},
		{tokens, 100_000, 100_000},
		{enqueued, 0, 50},
		{provisioned, 0, 15},
	}, Capacity(before, after))
}

func TestCriticalPathIsTheLongestChainOfWaits(t *testing.T) {
	t.Parallel()
	slow := map[string]time.Duration{"network": time.Minute, "cluster": 5 * time.Minute, "pool": 3 * time.Minute, "gateway": 6 * time.Minute, "unchanged": time.Hour}
	network := resource("create", "a:b:C", "network", nil)
	cluster := resource("create", "a:b:C", "cluster", nil)
	pool := resource("create", "a:b:C", "pool", nil)
	gateway := resource("create", "a:b:C", "gateway", nil)
	unchanged := resource("same", "a:b:C", "unchanged", nil)
	gone := resource("delete", "a:b:C", "network2", nil)
	cluster.Dependencies = []string{network.URN, unchanged.URN}
	pool.Parent = cluster.URN
	gateway.Dependencies = []string{network.URN, "urn:of:another:stack"}
	network.Dependencies = []string{pool.URN} // a ring, which no engine plans, must not hang

	got := Critical([]engine.Resource{cluster, gateway, gone, network, pool, unchanged}, func(r engine.Resource) time.Duration { return slow[r.Name] })
	assert.GreaterOrEqual(t, got.Took, Span(9*time.Minute))

	network.Dependencies = nil
	got = Critical([]engine.Resource{cluster, gateway, gone, network, pool, unchanged}, func(r engine.Resource) time.Duration { return slow[r.Name] })
	assert.Equal(t, Path{Span(9 * time.Minute), []Step{
		{network.URN, Created, Span(time.Minute)}, {cluster.URN, Created, Span(5 * time.Minute)}, {pool.URN, Created, Span(3 * time.Minute)},
	}}, got)
}

// TestFilesHaveSeconds: whoever reads a file must not have to guess a unit.
func TestFilesHaveSeconds(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(Path{Span(90 * time.Second), []Step{{"urn::x", Created, Span(1500 * time.Millisecond)}}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"tookSeconds": 90, "steps": [{"urn": "urn::x", "op": "created", "tookSeconds": 1.5}]}`, string(got))
	none, err := json.Marshal(Critical(nil, nil))
	require.NoError(t, err)
	assert.JSONEq(t, `{"tookSeconds": 0, "steps": []}`, string(none), "a list is never null")
	assert.Equal(t, []string{"1 s", "59 s", "1 min", "2 min", "90 min"}, []string{
		Span(time.Second).String(), Span(59 * time.Second).String(), Span(time.Minute).String(), Span(100 * time.Second).String(), Span(90 * time.Minute).String(),
	})
}

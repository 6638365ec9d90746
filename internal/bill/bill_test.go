package bill

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
)

func table(t *testing.T) *prices.Table {
	t.Helper()
	table, err := prices.Load()
	require.NoError(t, err)
	return table
}

// perMonth is what units of a fixed part cost.
func perMonth(t *testing.T, kind prices.Kind, sku string, units int64) prices.USD {
	t.Helper()
	price, known := table(t).Fixed(kind, sku)
	require.True(t, known, "%s %s", kind, sku)
	return price.USD.Times(units * HoursPerMonth)
}

type object = map[string]any

func inputs(o object) propvalue.Value { return propvalue.OfRecord(o) }

func TestEachKindIsPaidByTheHour(t *testing.T) {
	t.Parallel()
	vm, known := table(t).VM("Standard_D8s_v5")
	require.True(t, known)
	node := vm.USD.Times(HoursPerMonth)
	unit, known := table(t).Provisioned("ProvisionedManaged")
	require.True(t, known)
	for reason, test := range map[string]struct {
		kind       string
		inputs     object
		idle, most prices.USD
	}{
		"a pool that scales":          {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "enableAutoScaling": true, "count": 3.0, "minCount": 1.0, "maxCount": 5.0}, node, node.Times(5)},
		"a pool that scales to zero":  {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "enableAutoScaling": true, "minCount": 0.0, "maxCount": 5.0}, 0, node.Times(5)},
		"a pool that does not":        {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "count": 3.0}, node.Times(3), node.Times(3)},
		"a cluster with its own pool": {"containerservice:ManagedCluster", object{"sku": object{"tier": "Standard"}, "agentPoolProfiles": []any{object{"vmSize": "Standard_D8s_v5", "count": 2.0}}}, perMonth(t, prices.AKS, "Standard", 1).Plus(node.Times(2)), perMonth(t, prices.AKS, "Standard", 1).Plus(node.Times(2))},
		"a gateway by its units":      {"apimanagement:ApiManagementService", object{"sku": object{"name": "Premium", "capacity": 3.0}}, perMonth(t, prices.Gateway, "Premium", 3), perMonth(t, prices.Gateway, "Premium", 3)},
		"a namespace by its units":    {"servicebus:Namespace", object{"sku": object{"name": "Premium", "capacity": 2.0}}, perMonth(t, prices.Bus, "Premium", 2), perMonth(t, prices.Bus, "Premium", 2)},
		"an endpoint":                 {"network:PrivateEndpoint", object{}, perMonth(t, prices.PrivateEndpoint, "", 1), perMonth(t, prices.PrivateEndpoint, "", 1)},
		"a door of the cluster":       {"core:Service", object{"spec": object{"type": "LoadBalancer"}}, perMonth(t, prices.LoadBalancer, "", 1), perMonth(t, prices.LoadBalancer, "", 1)},
		"a service that is no door":   {"core:Service", object{"spec": object{"type": "ClusterIP"}}, 0, 0},
		"units bought ahead":          {"cognitiveservices:Deployment", object{"sku": object{"name": "ProvisionedManaged", "capacity": 15.0}}, unit.USD.Times(15 * HoursPerMonth), unit.USD.Times(15 * HoursPerMonth)},
		"a model paid by the token":   {"cognitiveservices:Deployment", object{"sku": object{"name": "GlobalStandard", "capacity": 15.0}}, 0, 0},
	} {
		got := Of([]Resource{{URN: "urn:x", Kind: test.kind, Inputs: inputs(test.inputs)}}, table(t))
		assert.Equal(t, test.idle.String(), got.Idle.String(), reason)
		assert.Equal(t, test.most.String(), got.Most.String(), reason)
		assert.Empty(t, got.Unpriced, reason)
		assert.False(t, got.AtLeast, reason)
	}
}

// TestAPoolIsCountedOnce: a cluster that was read back lists every pool, also those
// that are resources of their own.
func TestAPoolIsCountedOnce(t *testing.T) {
	t.Parallel()
	cluster := Resource{URN: "urn::cluster", Kind: "containerservice:ManagedCluster", Inputs: inputs(object{"sku": object{"tier": "Free"}, "agentPoolProfiles": []any{
		object{"name": "system", "vmSize": "Standard_D8s_v5", "count": 1.0}, object{"name": "worker", "vmSize": "Standard_D8s_v5", "count": 2.0},
	}})}
	worker := Resource{URN: "urn::worker", Kind: "containerservice:AgentPool", Inputs: inputs(object{"agentPoolName": "worker", "vmSize": "Standard_D8s_v5", "count": 2.0})}
	vm, known := table(t).VM("Standard_D8s_v5")
	require.True(t, known)
	assert.Equal(t, vm.USD.Times(3*HoursPerMonth), Of([]Resource{cluster, worker}, table(t)).Idle)
}

// TestWhatIsNotKnownIsNamed: a floor that could be higher must not look like one that
// is known.
func TestWhatIsNotKnownIsNamed(t *testing.T) {
	t.Parallel()
	const unknown = propvalue.ShownUnknown
	for reason, test := range map[string]struct {
		kind    string
		inputs  object
		what    string
		atLeast bool
	}{
		"a number":                     {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "count": unknown}, "1 Standard_D8s_v5", true},
		"the least number":             {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "enableAutoScaling": true, "minCount": unknown, "maxCount": 3.0}, "0 to 3 Standard_D8s_v5", true},
		"whether it scales":            {"containerservice:AgentPool", object{"vmSize": "Standard_D8s_v5", "enableAutoScaling": unknown, "count": 2.0}, "2 Standard_D8s_v5", true},
		"a size":                       {"containerservice:AgentPool", object{"vmSize": unknown, "count": 2.0}, "2 [unknown]", true},
		"a size of nothing while idle": {"containerservice:AgentPool", object{"vmSize": "Standard_X1", "enableAutoScaling": true, "maxCount": 3.0}, "0 to 3 Standard_X1", false},
		"the pools of a cluster":       {"containerservice:ManagedCluster", object{"agentPoolProfiles": unknown}, "pools [unknown]", true},
		"a SKU":                        {"apimanagement:ApiManagementService", object{"sku": object{"name": unknown, "capacity": 2.0}}, "2 units of gateway [unknown]", true},
		"units":                        {"apimanagement:ApiManagementService", object{"sku": object{"name": "Premium", "capacity": unknown}}, "gateway Premium", true},
		"the SKU of a deployment":      {"cognitiveservices:Deployment", object{"sku": object{"name": unknown, "capacity": 15.0}}, "15 units of [unknown]", true},
		"a SKU that nobody knows":      {"cognitiveservices:Deployment", object{"sku": object{"name": "ProvisionedLater", "capacity": 15.0}}, "15 units of ProvisionedLater", true},
		"units that were bought":       {"cognitiveservices:Deployment", object{"sku": object{"name": "ProvisionedManaged", "capacity": unknown}}, "0 units of ProvisionedManaged", true},
	} {
		got := Of([]Resource{{URN: "urn::x", Kind: test.kind, Inputs: inputs(test.inputs)}}, table(t))
		assert.Equal(t, []string{"x: " + test.what}, got.Unpriced, reason)
		assert.Equal(t, test.atLeast, got.AtLeast, reason)
	}
	door := Of([]Resource{{URN: "urn::door", Kind: "core:Service", Inputs: inputs(object{"spec": object{"type": unknown}})}}, table(t))
	assert.Equal(t, perMonth(t, prices.LoadBalancer, "", 1), door.Idle, "it may be one")
}

func TestWhatHasNoPriceIsNamed(t *testing.T) {
	t.Parallel()
	got := Of([]Resource{
		{URN: "urn::pool", Kind: "containerservice:AgentPool", Inputs: inputs(object{"vmSize": "Standard_X1", "count": 2.0})},
		{URN: "urn::gateway", Kind: "apimanagement:ApiManagementService", Inputs: inputs(object{"sku": object{"name": "Isolated", "capacity": 1.0}})},
	}, table(t))
	assert.Equal(t, []string{"gateway: gateway Isolated", "pool: 2 Standard_X1"}, got.Unpriced)
	assert.True(t, got.AtLeast)
	assert.Zero(t, got.Idle)
}

func TestLinesGoByWhatTheyCostIdle(t *testing.T) {
	t.Parallel()
	got := Of([]Resource{
		{URN: "urn::zone", Kind: "network:PrivateZone"},
		{URN: "urn::gateway", Kind: "apimanagement:ApiManagementService", Inputs: inputs(object{"sku": object{"name": "Developer", "capacity": 1.0}})},
	}, table(t))
	require.Len(t, got.Lines, 2)
	assert.Equal(t, "urn::gateway", got.Lines[0].URN)
	assert.Equal(t, got.Idle, got.Lines[0].Idle.Plus(got.Lines[1].Idle))
}

// TestAnUpgradeRunsTheModelTwice: 2N nodes of the pool that the servers select.
func TestAnUpgradeRunsTheModelTwice(t *testing.T) {
	t.Parallel()
	pool := Resource{URN: "urn::pool", Kind: "containerservice:AgentPool", Inputs: inputs(object{"vmSize": "Standard_NC24ads_A100_v4", "enableAutoScaling": true, "minCount": 0.0, "maxCount": 4.0, "nodeLabels": object{"pool": "a100"}})}
	service := func(strategy, pool string, limits object) Resource {
		return Resource{URN: "urn::llama", Kind: "ray.io:RayService", Inputs: inputs(object{"spec": object{
			"upgradeStrategy": object{"type": strategy},
			"rayClusterConfig": object{"workerGroupSpecs": []any{object{
				"maxReplicas": 2.0,
				"template":    object{"spec": object{"nodeSelector": object{"pool": pool}, "containers": []any{object{"resources": object{"limits": limits}}}}},
			}}},
		}})}
	}
	price, known := table(t).VM("Standard_NC24ads_A100_v4")
	require.True(t, known)
	whole := object{"nvidia.com/gpu": "1"}
	assert.Equal(t, price.USD.Times(2), Of([]Resource{pool, service("NewCluster", "a100", whole)}, table(t)).UpgradePerHour)
	assert.Equal(t, price.USD.Times(2), Of([]Resource{pool, service("NewCluster", "a100", object{"nvidia.com/mig-3g.40gb": "1"})}, table(t)).UpgradePerHour)
	assert.Zero(t, Of([]Resource{pool, service("None", "a100", whole)}, table(t)).UpgradePerHour)
	assert.Zero(t, Of([]Resource{pool, service("NewCluster", "a100", object{"cpu": "1"})}, table(t)).UpgradePerHour)
}

// A pool that may go to nothing does not, while a model on it keeps replicas: two slices of
// a node are two replicas, and a pod with two GPUs is a whole node of the other pool.
func TestServedModelsKeepNodes(t *testing.T) {
	t.Parallel()
	pool := func(label, size, mig string, least float64) Resource {
		return Resource{URN: "urn::" + label, Kind: "containerservice:AgentPool", Inputs: inputs(object{
			"vmSize": size, "gpuInstanceProfile": mig, "enableAutoScaling": true, "minCount": least, "maxCount": 8.0, "nodeLabels": object{"pool": label},
		})}
	}
	model := func(pool string, limit, least any) Resource {
		return Resource{URN: "urn::" + pool + "-model", Kind: "ray.io:RayService", Inputs: inputs(object{"spec": object{
			"upgradeStrategy": object{"type": "NewCluster"},
			"rayClusterConfig": object{"workerGroupSpecs": []any{object{
				"replicas": 1.0, "minReplicas": least, "maxReplicas": 6.0,
				"template": object{"spec": object{"nodeSelector": object{"pool": pool}, "containers": []any{object{"resources": object{"limits": object{"nvidia.com/gpu": limit}}}}}},
			}}},
		}})}
	}
	a100, known := table(t).VM("Standard_NC24ads_A100_v4")
	require.True(t, known)
	h100, known := table(t).VM("Standard_NC80adis_H100_v5")
	require.True(t, known)
	got := Of([]Resource{
		pool("a100", "Standard_NC24ads_A100_v4", "MIG3g", 0), model("a100", "1", 3.0),
		pool("h100", "Standard_NC80adis_H100_v5", "", 1), model("h100", "2", 2.0),
	}, table(t))
	assert.Equal(t, a100.USD.Times(2*HoursPerMonth).Plus(h100.USD.Times(2*HoursPerMonth)), got.Idle)
	assert.Equal(t, a100.USD.Times(8*HoursPerMonth).Plus(h100.USD.Times(8*HoursPerMonth)), got.Most)
	assert.Equal(t, a100.USD.Times(3).Plus(h100.USD.Times(6)), got.UpgradePerHour, "six slices are three nodes")
	assert.Equal(t, "2 to 8 Standard_NC80adis_H100_v5, where served models stand", got.Lines[0].What)
	assert.False(t, got.AtLeast)

	none := Of([]Resource{pool("h100", "Standard_NC80adis_H100_v5", "", 1), model("h100", "2", 0.0)}, table(t))
	assert.Equal(t, h100.USD.Times(HoursPerMonth), none.Idle, "the pool's own least number")
	unsure := Of([]Resource{pool("h100", "Standard_NC80adis_H100_v5", "", 0), model("h100", "2", propvalue.ShownUnknown)}, table(t))
	assert.True(t, unsure.AtLeast)
}

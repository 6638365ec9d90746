package stacks

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// values are the root keys of a stack file of the project as the engine hands
// them over: JSON text.
func values(t *testing.T, stack string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("../Pulumi." + stack + ".yaml")
	require.NoError(t, err)
	var file struct{ Config map[string]any }
	require.NoError(t, yaml.Unmarshal(raw, &file))
	out := map[string]string{}
	for key, value := range file.Config {
		if root, ours := strings.CutPrefix(key, "onedoor:"); ours {
			text, err := json.Marshal(value)
			require.NoError(t, err)
			out[root] = string(text)
		}
	}
	return out
}

// set changes one key of values, given as a path below its root; nil removes
// it.
func set(t *testing.T, values map[string]string, path string, value any) {
	t.Helper()
	root, rest, _ := strings.Cut(path, ".")
	var tree map[string]any
	if text, ok := values[root]; ok {
		require.NoError(t, json.Unmarshal([]byte(text), &tree))
	} else {
		tree = map[string]any{}
	}
	at := tree
	keys := strings.Split(rest, ".")
	for _, key := range keys[:len(keys)-1] {
		next, ok := at[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[key] = next
		}
		at = next
	}
	if value == nil {
		delete(at, keys[len(keys)-1])
	} else {
		at[keys[len(keys)-1]] = value
	}
	text, err := json.Marshal(tree)
	require.NoError(t, err)
	values[root] = string(text)
}

// queues are two valid queues, but for one field of the one called name.
func queues(name, field string, value any) map[string]any {
	queue := func() map[string]any {
		return map[string]any{"p99": "30s", "wait": "24h", "deliveries": 5, "batch": 1}
	}
	changed := queue()
	changed[field] = value
	return map[string]any{"text": queue(), name: changed}
}

// gpu is a valid kind of GPU node, but for one field.
func gpuPool(field string, value any) map[string]any {
	kind := map[string]any{"slot": 1, "size": "Standard_NC40ads_H100_v5", "minNodes": 0, "maxNodes": 1}
	kind[field] = value
	return kind
}

// A queue that is given replaces the default ones.
func TestQueuesAreThoseThatAreGiven(t *testing.T) {
	t.Parallel()
	v := alone(t, "queue")
	set(t, v, "queue.queues", queues("video", "batch", 2))
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Equal(t, []string{"text", "video"}, sortedKeys(cfg.Queue.Queues))
	assert.Equal(t, "payloads-video", cfg.Queue.Queues["video"].container("video"))
}

func TestProjectStacksAreValid(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod"} {
		cfg, err := Parse(stack, values(t, stack))
		require.NoError(t, err)
		assert.Equal(t, stack, string(cfg.Base.Environment))
		assert.Equal(t, 1, cfg.Base.Generation, "what is not set has its default")
	}
}

// Each case breaks one thing of the dev stack.
func TestWrongValuesSayWhatIsWanted(t *testing.T) {
	t.Parallel()
	const vnet = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v"
	for name, c := range map[string]struct {
		path  string
		value any
		want  string
	}{
		"SubscriptionIsNoGUID":   {"base.subscriptionId", "prod", `onedoor:base.subscriptionId: got "prod", want the GUID of the subscription to deploy to`},
		"SubscriptionMissing":    {"base.subscriptionId", nil, `onedoor:base.subscriptionId: got "", want the GUID`},
		"LocationIsADisplayName": {"base.location", "Sweden Central", `onedoor:base.location: got "Sweden Central", want a region's short name`},
		"EnvironmentUnknown":     {"base.environment", "test", `onedoor:base.environment: got "test", want one of dev, prod`},
		"GenerationTooLow":       {"base.generation", 0, `onedoor:base.generation: got 0, want 1 to 99`},
		"GenerationIsAText":      {"base.generation", "2", `onedoor:base.generation: got "2", want a whole number`},
		"GenerationIsAFraction":  {"base.generation", 1.5, `onedoor:base.generation: got 1.5, want a whole number`},
		"OwnerMissing":           {"base.owner", nil, `onedoor:base.owner: got "", want 1 to 256 characters`},
		"BudgetMissing":          {"budget.monthlyFloor", nil, `onedoor:budget.monthlyFloor: got 0, want 1 to 1000000 US dollars a month: what the stack may cost while nobody uses it`},
		"BudgetNegative":         {"budget.monthlyFloor", -1, `onedoor:budget.monthlyFloor: got -1, want 1 to`},
		"BudgetWithoutLimit":     {"budget.monthlyFloor", 1_000_001, `onedoor:budget.monthlyFloor: got 1000001, want 1 to`},
		"BudgetInAnotherCoin":    {"budget.monthlyFloor", "600 EUR", `onedoor:budget.monthlyFloor: got "600 EUR", want a whole number`},
		"RetentionTooShort":      {"logs.retentionDays", 29, `onedoor:logs.retentionDays: got 29, want 30 to 730 days`},
		"RetentionTooLong":       {"logs.retentionDays", 731, `onedoor:logs.retentionDays: got 731, want 30 to 730 days`},
		"QuotaZero":              {"logs.dailyQuotaGb", 0, `onedoor:logs.dailyQuotaGb: got 0, want -1 for no cap, or at least 0.023 GB`},
		"NobodyHearsAlerts":      {"logs.alerts", []string{}, `onedoor:logs.alerts: got 0, want 1 to 1000 e-mail addresses`},
		"AlertsAreNoAddress":     {"logs.alerts", []string{"on call"}, `onedoor:logs.alerts: got "on call", want a plain e-mail address`},
		"AlertsAreNoList":        {"logs.alerts", "a@example.com", `onedoor:logs.alerts: got "a@example.com", want a list`},
		"WorkspaceIsAnotherType": {"logs.workspaceId", vnet, `want the id of a resource of type Microsoft.OperationalInsights/workspaces`},
		"SpaceMissing":           {"network.addressSpace", nil, `onedoor:network.addressSpace: want an IPv4 range such as 10.40.0.0/20`},
		"SpaceIsNoRange":         {"network.addressSpace", "10.40.0.0", `onedoor:network.addressSpace: got "10.40.0.0", want an IPv4 range such as 10.40.0.0/20`},
		"SpaceTooSmall":          {"network.addressSpace", "10.40.0.0/24", `onedoor:network.addressSpace: got 10.40.0.0/24, want a /20 or larger`},
		"PodsOverlapServices":    {"cluster.serviceCidr", "10.244.0.0/24", `onedoor:cluster.serviceCidr: got 10.244.0.0/24, want a range that does not overlap the pod range 10.244.0.0/16`},
		"ExistingIsAnotherType":  {"network.existing.vnetId", vnet + "/subnets/s", `want the id of a resource of type Microsoft.Network/virtualNetworks`},
		"ExistingElsewhere":      {"network.existing.vnetId", strings.Replace(vnet, "11111111", "99999999", 1), `onedoor:network.existing.vnetId: got "99999999-2222-3333-4444-555555555555", want a network in the stack's own subscription`},
		"PeerWithoutId":          {"network.peers.hub.addressSpace", []string{"10.0.0.0/16"}, `onedoor:network.peers.hub.vnetId: got "", want the id`},
		"PeerWithoutRanges":      {"network.peers.hub.vnetId", vnet, `onedoor:network.peers.hub.addressSpace: want every range of the peer`},
		"PeerOverlaps":           {"network.peers", map[string]any{"hub": map[string]any{"vnetId": vnet, "addressSpace": []string{"10.40.0.0/16"}}}, `onedoor:network.peers.hub.addressSpace: got 10.40.0.0/16, want a range that does not overlap`},
		"DNSServerIsNoAddress":   {"network.dns.servers", []any{"dns.example.com"}, `onedoor:network.dns.servers.0: got "dns.example.com", want an address such as 10.0.0.4`},
		"DNSServerIsIPv6":        {"network.dns.servers", []any{"fd00::4"}, `onedoor:network.dns.servers: got fd00::4, want IPv4 addresses`},
		"DNSModeUnknown":         {"network.dns.mode", "auto", `onedoor:network.dns.mode: got "auto", want one of create, existing, policy`},
		"ZonesExistNowhere":      {"network.dns.mode", "existing", `onedoor:network.dns.resourceGroupId: got "", want the id of a resource group`},
		"ZonesGroupNotRead":      {"network.dns.resourceGroupId", "/subscriptions/x", `want nothing: with network.dns.mode create it is not read`},
		"SubnetOverrideOfNone":   {"network.subnets", map[string]any{"worker": "10.40.12.0/23"}, `onedoor:network.subnets.worker: got 10.40.12.0/23, want the role of a subnet`},
		"GatewayModeUnknown":     {"gateway.mode", "v2", `onedoor:gateway.mode: got "v2", want one of classic, endpoint, injected`},
		"OnlyClassicIsExternal":  {"gateway.mode", "injected", `onedoor:gateway.exposure: got "external", want internal: only mode classic`},
		"PoolTooLarge":           {"cluster.pools.worker.maxNodes", 1001, `onedoor:cluster.pools.worker.maxNodes: got 1001, want 1 to 1000 nodes`},
		"PoolTooLargeForPods":    {"cluster.pools.worker.maxNodes", 250, `onedoor:cluster.podCidr: got 10.244.0.0/16, want room for 343 nodes`},
		"PoolTooLargeForSubnet":  {"cluster.pools.gpu.a100.maxNodes", 100, `onedoor:network.subnets.gpu-nodes-a100: got 10.40.4.0/25, want at least 133 usable addresses (100 nodes + 33 that an upgrade adds)`},
		"KindIsNoPoolName":       {"cluster.pools.gpu.A-100", gpuPool("slot", 1), `onedoor:cluster.pools.gpu.A-100: want a kind of lower-case letters`},
		"SlotTaken":              {"cluster.pools.gpu.h100", gpuPool("slot", 0), `onedoor:cluster.pools.gpu.h100: got slot 0, want a slot of its own`},
		"TenantIsNoGUID":         {"base.tenantId", "example.com", `onedoor:base.tenantId: got "example.com", want the GUID of the Entra tenant`},
		"PayloadsGoneTooSoon":    {"storage.payloadDays", 5, `onedoor:storage.payloadDays: got 5, want at least 7 days, or a live message of queue "audio" could point at nothing: (message 25h0m0s + back end 24h0m0s + dead-letter triage 72h0m0s) in whole days + 1 = 7 days, where a message lives for 24h0m0s of waiting + 10 deliveries x 6m0s = 25h0m0s`},
		"EvidenceTooShort":       {"storage.evidenceDays", 29, `onedoor:storage.evidenceDays: got 29, want 30 to 3650 days`},
		"SoftDeleteTooLong":      {"storage.softDeleteDays", 366, `onedoor:storage.softDeleteDays: got 366, want 1 to 365 days`},
		"TriageIsNoDuration":     {"storage.triage", "soon", `onedoor:storage.triage: got "soon", want a duration such as 90s, 20m or 24h`},
		"TriageIsANumber":        {"storage.triage", 72, `onedoor:storage.triage: got 72, want a duration such as 90s, 20m or 24h`},
		"WaitIsANumber":          {"queue.queues", queues("video", "wait", 24), `onedoor:queue.queues.video.wait: got 24, want a duration such as 90s, 20m or 24h`},
		"SpaceIsANumber":         {"network.addressSpace", 10, `onedoor:network.addressSpace: got 10, want an IPv4 range such as 10.40.0.0/20`},
		"PeerRangeIsANumber":     {"network.peers", map[string]any{"hub": map[string]any{"vnetId": vnet, "addressSpace": []any{5}}}, `onedoor:network.peers.hub.addressSpace.0: got 5, want an IPv4 range such as 10.40.0.0/20`},
		"P99WouldOverflow":       {"queue.queues", queues("video", "p99", "900000h"), `onedoor:queue.queues.video.p99: got 900000h0m0s, want work that a lock can cover`},
		"TriageTooShort":         {"storage.triage", "10m", `onedoor:storage.triage: got 10m0s, want 1h to 720h`},
		"RegistryIsAnotherType":  {"registry.id", vnet, `want the id of a resource of type Microsoft.ContainerRegistry/registries`},
		"StandardIsNotPrivate":   {"queue.private", true, `onedoor:queue.private: got true, want false, or queue.tier premium: a standard namespace has no private endpoint`},
		"StandardHasNoUnits":     {"queue.units", 2, `onedoor:queue.units: got 2, want 1: only the premium tier has units`},
		"UnitsAreNoSize":         {"queue", map[string]any{"tier": "premium", "units": 3}, `onedoor:queue.units: got 3, want 1, 2, 4, 8 or 16 units`},
		"TierUnknown":            {"queue.tier", "basic", `onedoor:queue.tier: got "basic", want one of standard, premium`},
		"NoQueues":               {"queue.queues", map[string]any{}, `onedoor:queue.queues: got 0, want 1 to 16 queues`},
		"WorkNoLockCovers":       {"queue.queues", queues("video", "p99", "21m"), `onedoor:queue.queues.video.p99: got 21m0s, want work that a lock can cover: 3 x p99 21m0s x batch of 1 = 1h3m0s is more than the 1h0m0s that a message can be held`},
		"WaitTooLong":            {"queue.queues", queues("video", "wait", "337h"), `onedoor:queue.queues.video.wait: got 337h0m0s, want 1m to 336h`},
		"NoDeliveries":           {"queue.queues", queues("video", "deliveries", 0), `onedoor:queue.queues.video.deliveries: got 0, want 1 to 100 attempts`},
		"BatchTooLarge":          {"queue.queues", queues("video", "batch", 33), `onedoor:queue.queues.video.batch: got 33, want 1 to 32 messages`},
		"ContainerMalformed":     {"queue.queues", queues("video", "payloads", "Video"), `onedoor:queue.queues.video.payloads: got "Video", want 3 to 63 lower-case letters`},
		"ContainerShared":        {"queue.queues", queues("video", "payloads", "payloads-text"), `onedoor:queue.queues.video.payloads: got "payloads-text", want a container of its own: this one is that of queue "text"`},
		"ContainerOfThePlatform": {"queue.queues", queues("video", "payloads", "evidence"), `onedoor:queue.queues.video.payloads: got "evidence", want a container of its own: this one is that of the platform`},
		"ContainerOfResults":     {"queue.queues", queues("video", "payloads", "results-text"), `got "results-text", want a container of its own: this one is that of the platform`},
		"QueueNameTaken":         {"queue.queues", queues("ingest", "batch", 1), `onedoor:queue.queues.ingest: want another name: the topic that takes all work has this one`},
		"QueueNameMalformed":     {"queue.queues", queues("Video-1", "batch", 1), `onedoor:queue.queues.Video-1: want a name of 2 to 20 lower-case letters and digits`},
		"VersionWithPatch":       {"cluster.version", "1.33.2", `onedoor:cluster.version: got "1.33.2", want a Kubernetes minor version`},
		"NobodyAdministers":      {"cluster.admins", []any{}, `onedoor:cluster.admins: want at least one Entra group`},
		"AdminIsNoGroup":         {"cluster.admins", []any{"admins"}, `onedoor:cluster.admins: got "admins", want the object id of an Entra group`},
		"RangesOfAPrivateServer": {"cluster.access", map[string]any{"private": true, "ranges": []string{"203.0.113.0/24"}}, `onedoor:cluster.access.ranges: got 1, want none: they do not apply to a private API server`},
		"LeastAboveMost":         {"cluster.pools.worker.minNodes", 11, `onedoor:cluster.pools.worker.minNodes: got 11, want 0 to 10`},
		"SystemPoolMayBeEmpty":   {"cluster.pools.system.minNodes", 0, `onedoor:cluster.pools.system.minNodes: got 0, want`},
		"SystemPoolTooSmall":     {"cluster.pools.system.size", "Standard_B4ms", `onedoor:cluster.pools.system.size: got`},
		"GPUSizeUnknown":         {"cluster.pools.gpu.h100", gpuPool("size", "Standard_NC40ads_H100_v6"), `onedoor:cluster.pools.gpu.h100.size: got "Standard_NC40ads_H100_v6", want a VM size with NVIDIA GPUs, nearest is Standard_NC40ads_H100_v5`},
		"GPUSizeWithoutGPU":      {"cluster.pools.gpu.h100", gpuPool("size", "Standard_D4s_v5"), `onedoor:cluster.pools.gpu.h100.size: got "Standard_D4s_v5", want a VM size with NVIDIA GPUs`},
		"CardCannotBeCut":        {"cluster.pools.gpu.a10", map[string]any{"slot": 2, "size": "Standard_NV36ads_A10_v5", "minNodes": 0, "maxNodes": 1, "mig": "MIG1g"}, `onedoor:cluster.pools.gpu.a10.size: got "Standard_NV36ads_A10_v5", want a size with A100, H100 or H200 cards`},
		"ProfileUnknown":         {"cluster.pools.gpu.h100", gpuPool("mig", "MIG5g"), `onedoor:cluster.pools.gpu.h100.mig: got`},
		"ZoneUnknown":            {"cluster.pools.worker.zones", []string{"4"}, `onedoor:cluster.pools.worker.zones: got`},
		"KindIsAnotherPool":      {"cluster.pools.gpu.worker", gpuPool("slot", 1), `onedoor:cluster.pools.gpu.worker: want a kind`},
		"KeyUnknown":             {"network.addresSpace", "10.0.0.0/8", "onedoor:network.addresSpace: unknown key, nearest is onedoor:network.addressSpace"},
		"KeyUnknownInMap":        {"cluster.pools.gpu.a100.maxNode", 3, "onedoor:cluster.pools.gpu.a100.maxNode: unknown key"},
		"RootIsNoMap":            {"netwrok.addressSpace", "10.40.0.0/20", "onedoor:netwrok: unknown key, nearest is onedoor:network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, "dev")
			if !strings.Contains(c.path, ".") {
				text, err := json.Marshal(c.value)
				require.NoError(t, err)
				v[c.path] = string(text)
			} else {
				set(t, v, c.path, c.value)
			}
			_, err := Parse("dev", v)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			var config *ConfigError
			require.ErrorAs(t, err, &config)
			assert.Len(t, config.Problems, 1, err.Error())
		})
	}
}

func TestAllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "base.generation", 100)
	set(t, v, "logs.retentionDays", 7)
	set(t, v, "gateway.mode", "none")
	_, err := Parse("dev", v)
	require.Error(t, err)
	assert.Equal(t, `stack config of "dev" is wrong in 3 places:
  onedoor:base.generation: got 100, want 1 to 99: it becomes part of every name from 2 on
    fix: pulumi config set --stack dev --path 'onedoor:base.generation' 1
  onedoor:gateway.mode: got "none", want one of classic, endpoint, injected
    fix: pulumi config set --stack dev --path 'onedoor:gateway.mode' classic
  onedoor:logs.retentionDays: got 7, want 30 to 730 days, the limits of the PerGB2018 tier
    fix: pulumi config set --stack dev --path 'onedoor:logs.retentionDays' 30`, err.Error())
}

// Two faults of one key, and of keys that are judged together, are two faults.
func TestProblemsDoNotHideOneAnother(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "logs.alerts", []string{"one", "two"})
	set(t, v, "network.subnets", map[string]any{"gateway": "10.40.12.0/31", "worker-nodes": "10.40.0.0/20"})
	set(t, v, "storage.payloadDays", 2)
	_, err := Parse("dev", v)
	for _, want := range []string{
		`logs.alerts: got "one"`, `logs.alerts: got "two"`, "subnets.gateway: got 10.40.12.0/31, want at least", "subnets.worker-nodes: got 10.40.0.0/20, want a range that no other subnet uses; doors",
		"subnets.worker-nodes: got 10.40.0.0/20, want a range that no other subnet uses; runner", "storage.payloadDays: got 2, want at least 7 days",
	} {
		assert.ErrorContains(t, err, want)
	}
}

// Nobody else can have made a zone whose name follows from the stack.
func TestTheGatewaysOwnZoneIsTheStacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode, gateway   string
		doors, existing int // one zone is of the other doors
	}{
		"Create":           {"create", "classic", 2, 0},
		"Policy":           {"policy", "classic", 2, 0},
		"Existing":         {"existing", "classic", 2, 9},
		"ExistingEndpoint": {"existing", "endpoint", 1, 10},
		"PolicyEndpoint":   {"policy", "endpoint", 2, 0},
	} {
		v := values(t, "prod")
		set(t, v, "network.dns.mode", c.mode)
		if c.mode == "existing" {
			set(t, v, "network.dns.resourceGroupId", "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-dns")
		}
		unserved(t, v)
		set(t, v, "gateway.mode", c.gateway)
		cfg, err := Parse("prod", v)
		require.NoError(t, err, name)
		dns := cfg.dns()
		assert.Len(t, dns.Doors, c.doors, name)
		assert.Len(t, dns.Existing, c.existing, name)
	}
}

func TestStackNamesThatCouldMeetAreRefused(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"Team_A", "team.a", "team--a", "-a"} {
		_, err := Parse(stack, values(t, "dev"))
		require.ErrorContains(t, err, "the stack's name: got \""+stack+"\", want a name of lower-case letters")
	}
	_, err := Parse("team-a", values(t, "dev"))
	require.NoError(t, err)
}

func TestProdIsPrivate(t *testing.T) {
	t.Parallel()
	v := values(t, "prod")
	delete(v, "registry")
	delete(v, "queue")
	set(t, v, "gateway.exposure", "external")
	set(t, v, "cluster.access.private", false)
	_, err := Parse("prod", v)
	for _, want := range []string{
		"onedoor:registry.private: got false, want true: prod is private", "onedoor:queue.private: got false, want true, with queue.tier premium: prod is private",
		`onedoor:gateway.exposure: got "external", want internal: prod is private`, "onedoor:cluster.access.private: got false, want true: prod is private",
	} {
		assert.ErrorContains(t, err, want)
	}
}

// The fix of an unknown key is to remove it.
func TestUnknownKeysComeWithTheirRemedy(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "logs.retention", 30)
	_, err := Parse("dev", v)
	require.ErrorContains(t, err, "fix: pulumi config rm --stack dev --path 'onedoor:logs.retention'")
}

func TestAScalarRootIsRefused(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	v["gateway"] = "classic"
	_, err := Parse("dev", v)
	require.ErrorContains(t, err, `onedoor:gateway: got "classic", want a map of keys: mode, exposure`)
}

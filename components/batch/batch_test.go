package batch_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/batch"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/door"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
	"onedoor/internal/ref"
	"onedoor/internal/settings"
)

const vaultID = fake.GroupID + "/providers/Microsoft.KeyVault/vaults/kv-test"

// given is a control plane over two zones with one nightly job.
func given() batch.Args {
	subnet := fake.Subnet("snet-doors")
	subnet.Prefix = netip.MustParsePrefix("10.40.9.0/25")
	return batch.Args{
		Scope: fake.Scope(az.Prod), TenantID: "tenant", Group: fake.Group(),
		Namespace: pulumi.String(kube.Batch), Workers: pulumi.String(kube.Workers),
		Image: pulumi.String("cr.azurecr.io/onedoor/control-plane:1"), ClientID: pulumi.String("control-plane-client"),
		Vault:     batch.Vault{Resource: ref.Ready(vaultID), URL: pulumi.String("https://kv-test.vault.azure.net/"), Certificate: "door"},
		Verifiers: map[string]ref.Identity{"worker-text": fake.Identity("worker-text")}, Key: 3,
		Door: door.Door{
			Name: "batch", Zone: fake.Zones("test.onedoor.internal")["test.onedoor.internal"], Address: netip.MustParseAddr("10.40.9.126"), Subnet: subnet,
			Sources: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("10.40.0.0/23")},
		},
		Account: pulumi.String("https://oai-batch.openai.azure.com"), Blobs: pulumi.String("https://st.blob.core.windows.net/"),
		Tables: pulumi.String("https://st.table.core.windows.net/"), BusHost: pulumi.String("sb.servicebus.windows.net"),
		Events: batch.Events{
			Insights: ref.Ready(fake.GroupID + "/providers/Microsoft.Insights/components/appi"), Connection: pulumi.String("InstrumentationKey=key"), Sender: fake.Identity("control-plane"),
		},
		Nodes: batch.Nodes{
			Selector: map[string]string{"pool": "batch"}, Tolerations: []aks.Toleration{{Key: "onedoor/batch", Operator: aks.OpEqual, Value: "only", Effect: aks.NoSchedule}},
			Zones: 2, Clients: map[string]string{"pool": "worker"},
		},
		Settings: settings.Settings{
			Ledger: "ledger", OutputContainer: "batch-output", OutputExpirySeconds: 1_209_600, PollSeconds: 60,
			Aliases:     map[string]settings.Alias{"chat": {Deployment: "chat", Residency: "global", EnqueuedTokens: 1_000_000}},
			NightlyJobs: map[string]settings.Nightly{"tickets": {Schedule: "0 1 * * *", Tenant: "desk", Alias: "chat", Source: "nightly/tickets/", DeadlineSeconds: 86_400}},
		},
	}
}

func program(change func(*batch.Args)) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		args := given()
		args.Cluster = &cluster
		if change != nil {
			change(&args)
		}
		made, err := batch.New(ctx, "batch", args)
		if err != nil {
			return err
		}
		if err := fake.Reader(ctx, "caller", made.URL); err != nil {
			return err
		}
		return fake.Reader(ctx, "verifier", made.Keys.Secrets["3"])
	}
}

func object(r fake.Resource) map[string]any {
	out := map[string]any{}
	for key := range r.Inputs {
		out[string(key)] = r.Input(string(key))
	}
	return out
}

// at is the value at path in v.
func at(v any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	return v
}

func TestObjectsAreLegalAndGoWithTheCluster(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		count := 0
		for _, r := range fake.Run(t, mode, program(nil)).Resources {
			if !strings.HasPrefix(r.Type, "kubernetes:") {
				continue
			}
			count++
			assert.Empty(t, manifest.Check(object(r)), r.Name)
			assert.Equal(t, "aks", r.Options.DeletedWith, r.Name)
		}
		assert.Equal(t, 11, count)
	}
}

// Two keys are valid at a time, and the one that signed stays as it is.
func TestKeysChangeOneByOne(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		for key, want := range map[int][]string{3: {"mac-key-2", "mac-key-3"}, 4: {"mac-key-3", "mac-key-4"}} {
			plan := fake.Run(t, mode, program(func(a *batch.Args) { a.Key = key }))
			var names []string
			for _, r := range plan.Resources {
				if r.Type == "azure-native:keyvault/v20230701:Secret" {
					names = append(names, r.Input("secretName").(string))
					assert.Equal(t, "batch-"+r.Input("secretName").(string), r.Name)
				}
			}
			assert.Equal(t, want, names)
			assert.Equal(t, []string{"batch-" + want[0], "batch-" + want[1]}, plan.Names(":RandomPassword"))
			assert.Empty(t, plan.Names("core/v1:Secret"))
		}
	}
}

// monitor is the providers with passwords that are made, and secret.
type monitor struct {
	mu      sync.Mutex
	secrets map[string]resource.PropertyMap // inputs of the vault's secrets
	leaks   []string                        // other resources whose inputs hold a secret or a password
}

const password = "made-by-the-provider"

func (*monitor) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) { return nil, nil }

func (m *monitor) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	outs := args.Inputs.Copy()
	if args.TypeToken == "random:index/randomPassword:RandomPassword" {
		outs["result"] = resource.MakeSecret(resource.NewProperty(password))
		return args.Name, outs, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case args.TypeToken == "azure-native:keyvault/v20230701:Secret":
		m.secrets[args.Name] = args.Inputs
	case args.Inputs.ContainsSecrets() || strings.Contains(fmt.Sprint(args.Inputs), password):
		m.leaks = append(m.leaks, args.Name)
	}
	return args.Name, outs, nil
}

// Nobody sees a key on its way from where it is made into the vault: the state
// keeps it encrypted, and nothing else has it.
func TestKeysAreSecret(t *testing.T) {
	t.Parallel()
	m := &monitor{secrets: map[string]resource.PropertyMap{}}
	require.NoError(t, pulumi.RunErr(program(nil), pulumi.WithMocks("onedoor", "test", m)))
	require.Len(t, m.secrets, 2)
	for name, inputs := range m.secrets {
		value := inputs["properties"].ObjectValue()["value"]
		require.True(t, value.IsSecret(), name)
		assert.Equal(t, password, value.SecretValue().Element.StringValue(), name)
	}
	assert.Empty(t, m.leaks)
}

func TestRolesAreTheLeast(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(nil))
	assert.Equal(t, []string{
		"control-plane-principal 3913510d-42f4-4e42-8a64-420c390055eb at components/appi",
		"worker-text-principal 4633458b-17de-408a-b874-0445c86b69e6 at secrets/mac-key-2",
		"worker-text-principal 4633458b-17de-408a-b874-0445c86b69e6 at secrets/mac-key-3",
	}, plan.Grants())
	assert.Contains(t, plan.Get(t, "verifier").DependsOn, "batch-worker-text-reads-mac-key-3")
	assert.Contains(t, plan.Get(t, "batch").DependsOn, "batch-sends-events")
}

func TestTheDoorStandsAtItsPlannedAddress(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(nil))
	door := plan.Get(t, "batch-door")
	const prefix = "service.beta.kubernetes.io/azure-load-balancer-"
	assert.Equal(t, map[string]any{prefix + "internal": "true", prefix + "internal-subnet": "snet-doors", prefix + "ipv4": "10.40.9.126"}, at(object(door), "metadata", "annotations"))
	spec := door.Input("spec").(map[string]any)
	assert.Equal(t, []any{"10.0.0.0/16", "10.40.0.0/23"}, spec["loadBalancerSourceRanges"])
	assert.Equal(t, "Local", spec["externalTrafficPolicy"])
	assert.Equal(t, []any{map[string]any{"name": "door", "port": 443.0, "targetPort": 8443.0, "protocol": "TCP"}}, spec["ports"])
	record := plan.Get(t, "batch-record")
	assert.Equal(t, []any{"test.onedoor.internal", "batch", "A"}, []any{record.Input("privateZoneName"), record.Input("relativeRecordSetName"), record.Input("recordType")})
	assert.Equal(t, []any{map[string]any{"ipv4Address": "10.40.9.126"}}, record.Input("aRecords"))
	for _, needed := range []string{"batch", "batch-door", "batch-record"} {
		assert.Contains(t, plan.Get(t, "caller").DependsOn, needed, "callers come when somebody answers")
	}
}

func TestReplicasAreKeptApartOnTheirOwnNodes(t *testing.T) {
	t.Parallel()
	for zones, otherwise := range map[int]string{2: "DoNotSchedule", 0: "ScheduleAnyway"} {
		plan := fake.Run(t, fake.Update, program(func(a *batch.Args) { a.Nodes.Zones = zones }))
		made := plan.Get(t, "batch")
		spec := made.Input("spec")
		assert.Equal(t, 2.0, at(spec, "replicas"))
		pod := at(spec, "template", "spec")
		assert.Equal(t, otherwise, at(pod, "topologySpreadConstraints", 0, "whenUnsatisfiable"))
		assert.Equal(t, []any{map[string]any{"key": "onedoor/batch", "operator": "Equal", "value": "only", "effect": "NoSchedule"}}, at(pod, "tolerations"))
		assert.Equal(t, map[string]any{"pool": "batch"}, at(pod, "nodeSelector"))
		assert.Equal(t, false, at(pod, "automountServiceAccountToken"))
		assert.Equal(t, map[string]any{"onedoor.io/batch-output-days": "14", "onedoor.io/batch-output-container": "batch-output"}, at(object(made), "metadata", "annotations"))
		for _, needed := range []string{"batch-asks", "batch-leads", "batch-keys", "batch-tls"} {
			assert.Contains(t, made.DependsOn, needed)
		}
		assert.Equal(t, 1.0, at(plan.Get(t, "batch-disruptions").Input("spec"), "minAvailable"))
	}
}

func TestItMayLeadAndAskAndNothingElse(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(nil))
	assert.Equal(t, []any{
		map[string]any{"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "verbs": []any{"create"}},
		map[string]any{"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "resourceNames": []any{"control-plane"}, "verbs": []any{"get", "update", "patch"}},
	}, plan.Get(t, "batch-leases").Input("rules"))
	assert.Equal(t, []any{map[string]any{"apiGroups": []any{"authentication.k8s.io"}, "resources": []any{"tokenreviews"}, "verbs": []any{"create"}}}, plan.Get(t, "batch-reviews").Input("rules"))
}

// A file that changed under pods that run with it would be a surprise at their
// next start.
func TestNewSettingsAreANewObject(t *testing.T) {
	t.Parallel()
	one := fake.Run(t, fake.Preview, program(nil))
	other := fake.Run(t, fake.Preview, program(func(a *batch.Args) { a.Settings.PollSeconds = 61 }))
	name := func(plan *fake.Plan) string {
		return at(object(plan.Get(t, "batch-config")), "metadata", "name").(string)
	}
	assert.NotEqual(t, name(one), name(other))
	assert.Equal(t, name(one), at(one.Get(t, "batch").Input("spec"), "template", "spec", "volumes", 0, "configMap", "name"))
	assert.Equal(t, true, one.Get(t, "batch-config").Input("immutable"))
	var read settings.Settings
	require.NoError(t, json.Unmarshal([]byte(at(one.Get(t, "batch-config").Input("data"), "config.json").(string)), &read))
	assert.Equal(t, given().Settings, read)
}

// What starts at night is a client like any other: not beside the control plane,
// and with no identity of Azure.
func TestNightlyJobsAreClientsOfTheDoor(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		job := fake.Run(t, mode, program(nil)).Get(t, "batch-nightly-tickets")
		assert.Equal(t, kube.Workers, at(object(job), "metadata", "namespace"))
		spec := job.Input("spec")
		assert.Equal(t, []any{"0 1 * * *", "Etc/UTC", "Forbid"}, []any{at(spec, "schedule"), at(spec, "timeZone"), at(spec, "concurrencyPolicy")})
		pod := at(spec, "jobTemplate", "spec", "template", "spec")
		assert.Equal(t, "nightly", at(pod, "serviceAccountName"))
		assert.Equal(t, map[string]any{"pool": "worker"}, at(pod, "nodeSelector"))
		assert.Equal(t, []any{"nightly", "tickets"}, at(pod, "containers", 0, "args"))
		assert.Equal(t, "onedoor-control-plane", at(pod, "volumes", 0, "projected", "sources", 0, "serviceAccountToken", "audience"))
		assert.NotContains(t, at(spec, "jobTemplate", "spec", "template", "metadata", "labels"), kube.UseLabel)
	}
}

func TestWrongArgumentsAreRefusedAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := fake.Try(fake.Preview, program(func(a *batch.Args) {
		a.Key, a.Vault.Certificate, a.Door.Address, a.Door.Sources, a.Nodes.Selector = 0, "", netip.MustParseAddr("10.40.10.1"), nil, nil
		a.Settings.PollSeconds, a.Settings.OutputExpirySeconds, a.Settings.OutputContainer = 59, 13*86_400, ""
	}))
	for _, want := range []string{
		"signing key 0", "no certificate", "address 10.40.10.1, want one of the door's subnet 10.40.9.0/25", "no sources", "no node selector",
		"59 s between polls, want at least 60", "outputs expire after 13 days, want 14 to 30", "no container of outputs",
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = fake.Try(fake.Preview, program(func(a *batch.Args) { a.Settings.OutputExpirySeconds = 14*86_400 + 1 }))
	require.ErrorContains(t, err, "want whole days")
}

// The contract is what the authors of the program read.
func TestTheContractNamesWhatTheProgramIsTold(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../docs/contracts/control-plane.md")
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`(ONEDOOR|APPLICATIONINSIGHTS)_[A-Z_]+`).FindAllString(string(contract), -1) {
		documented[name] = true
	}
	plan := fake.Run(t, fake.Update, program(nil))
	told := map[string]bool{}
	for _, pod := range []any{at(plan.Get(t, "batch").Input("spec"), "template", "spec"), at(plan.Get(t, "batch-nightly-tickets").Input("spec"), "jobTemplate", "spec", "template", "spec")} {
		for _, v := range at(pod, "containers", 0, "env").([]any) {
			told[at(v, "name").(string)] = true
		}
	}
	assert.Equal(t, told, documented)
}

package policies_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
)

// judged runs a pack over a stack and returns what it wrote.
func judged(t testing.TB, pack policypack.Pack, stack []recorded, config map[string]*pulumirpc.PolicyConfig) []results.Run {
	t.Helper()
	dir := t.TempDir()
	preview(t, start(t, pack, dir), stack, config)
	runs, err := results.Read(dir)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	return runs
}

// failures are the rules that fail or cannot be decided, with how many times.
func failures(runs []results.Run) map[string]int {
	out := map[string]int{}
	for _, j := range runs[0].Judgements {
		if j.State == results.Fail || j.State == results.NotChecked {
			out[fmt.Sprintf("%s %s", j.Rule, j.State)]++
		}
	}
	return out
}

// stackSettings are what the project's own stacks are judged with: they use global
// batch deployments, and dev is open to the internet and takes the images of model
// servers by their version.
func stackSettings(t testing.TB, pack, stack string) map[string]*pulumirpc.PolicyConfig {
	const level = pulumirpc.EnforcementLevel_MANDATORY
	if pack == "batchdoor" {
		return map[string]*pulumirpc.PolicyConfig{"SET-01": settings(t, level, map[string]any{"residency": "global"})}
	}
	own := map[string]any{}
	if stack == "dev" {
		own["exposure"], own["gpuDigests"] = "public", false
	}
	return map[string]*pulumirpc.PolicyConfig{"SET-02": settings(t, level, own)}
}

// undecided are the rules that a first preview of the project's stacks cannot
// decide: service accounts and policies of the gateway carry client ids that Azure
// has yet to make. No rule fails.
var undecided = []string{"GW-03 not-checked", "GW-11 not-checked", "K8S-01 not-checked"}

func TestTheProjectKeepsItsRules(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod", "existing"} {
		resources := load(t, filepath.Join("..", "tests", "testdata", stack+".preview.json"))
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			got := map[string]int{}
			for name, pack := range packs {
				maps.Copy(got, failures(judged(t, pack(), resources, stackSettings(t, name, stack))))
			}
			assert.Equal(t, undecided, slices.Sorted(maps.Keys(got)))
		})
	}
}

// Packs that let a planted violation pass judge nothing.
func TestPlantedViolationsAreFound(t *testing.T) {
	t.Parallel()
	const id = "/subscriptions/11111111-2222-3333-4444-555555555555"
	for _, plant := range []struct {
		pack, rule string
		resource   recorded
	}{
		{"batchdoor", "BAT-01", recorded{Type: "azure-native:cognitiveservices/v20241001:Deployment", Inputs: map[string]any{
			"resourceGroupName": "rg-onedoor-prod-platform", "accountName": "ai", "sku": map[string]any{"name": "GlobalBatch"}}}},
		{"batchdoor", "BAT-03", recorded{Type: "azure-native:authorization:RoleAssignment", Inputs: map[string]any{
			"scope": id + "/resourceGroups/rg-onedoor-prod-batch-door", "principalId": "99999999-8888-7777-6666-555555555555", "roleDefinitionId": id + "/providers/Microsoft.Authorization/roleDefinitions/a001fd3d-188f-4b5d-821b-7da978bf7442"}}},
		{"platform", "ST-01", recorded{Type: "azure-native:storage/v20230501:StorageAccount", Inputs: map[string]any{"accountName": "stopen"}}},
		{"platform", "AOA-01", recorded{Type: "azure-native:cognitiveservices:Account", Inputs: map[string]any{"accountName": "ai", "disableLocalAuth": false}}},
	} {
		t.Run(plant.rule, func(t *testing.T) {
			t.Parallel()
			stack := load(t, filepath.Join("..", "tests", "testdata", "prod.preview.json"))
			plant.resource.URN = "urn:pulumi:prod::onedoor::planted::planted"
			found := func(stack []recorded) bool {
				return slices.ContainsFunc(judged(t, packs[plant.pack](), stack, nil)[0].Judgements, func(j results.Judgement) bool {
					return j.Rule == plant.rule && j.URN == plant.resource.URN && j.State == results.Fail
				})
			}
			assert.False(t, found(stack))
			assert.True(t, found(append(stack, plant.resource)))
		})
	}
}

// foreign is a stack that has nothing to do with this project.
func foreign() []recorded {
	var out []recorded
	for i, typ := range []string{
		"pulumi:pulumi:Stack", "pulumi:providers:aws", "aws:s3/bucket:Bucket", "aws:ec2/instance:Instance", "aws:iam/role:Role",
		"gcp:storage/bucket:Bucket", "random:index/randomPassword:RandomPassword", "tls:index/privateKey:PrivateKey",
		"azure-native:web:WebApp", "azure-native:web/v20230101:AppServicePlan", "azure-native:sql:Server", "azure-native:documentdb:DatabaseAccount",
		"azure-native:network:PublicIPAddress", "azure-native:network:PrivateZone", "azure-native:resources:ResourceGroup",
		"azure-native:compute:VirtualMachine", "azure-native:dns:Zone", "docker:index/image:Image", "command:local:Command", "acme:index:Widget",
	} {
		out = append(out, recorded{URN: fmt.Sprintf("urn:pulumi:x::y::%s::r%d", typ, i), Type: typ, Name: fmt.Sprintf("r%d", i), Inputs: map[string]any{
			"name": fmt.Sprintf("r%d", i), "location": "westeurope", "tags": map[string]any{"a": "b"}, "password": "[secret]", "kind": "[unknown]", "sku": map[string]any{"name": "S1"},
		}})
	}
	return out
}

func TestPacksAnswerAndFindNothingInAForeignStack(t *testing.T) {
	t.Parallel()
	require.Len(t, foreign(), 20)
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pack := packs[name]()
			client := start(t, pack, t.TempDir())
			plugin, err := client.GetPluginInfo(t.Context(), &emptypb.Empty{})
			require.NoError(t, err)
			assert.Equal(t, pack.Version, plugin.GetVersion())
			info, err := client.GetAnalyzerInfo(t.Context(), &emptypb.Empty{})
			require.NoError(t, err)
			assert.Equal(t, name, info.GetName())
			assert.Len(t, info.GetPolicies(), len(pack.Rules))
			assert.Empty(t, preview(t, client, foreign(), nil))
			_, err = client.Cancel(t.Context(), &emptypb.Empty{})
			require.NoError(t, err)
			assert.Empty(t, failures(judged(t, pack, foreign(), nil)))
		})
	}
}

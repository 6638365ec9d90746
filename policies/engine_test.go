package policies_test

import (
	"os"
	"path/filepath"
	"testing"

	resources "github.com/pulumi/pulumi-azure-native-sdk/resources/v2/v20240301"
	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20240101"
	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	platform "onedoor/policies/platform/rules"
	"onedoor/sim"
)

// account declares one storage account whose keys work.
func account(ctx *pulumi.Context) error {
	azure, err := azurenative.NewProvider(ctx, "azure", &azurenative.ProviderArgs{SubscriptionId: pulumi.String("11111111-2222-3333-4444-555555555555")}, pulumi.Version("2.92.3"))
	if err != nil {
		return err
	}
	group, err := resources.NewResourceGroup(ctx, "group", &resources.ResourceGroupArgs{ResourceGroupName: pulumi.String("rg-x"), Location: pulumi.String("swedencentral")}, pulumi.Provider(azure))
	if err != nil {
		return err
	}
	_, err = storage.NewStorageAccount(ctx, "open", &storage.StorageAccountArgs{
		AccountName: pulumi.String("stopen1"), ResourceGroupName: group.Name, Location: pulumi.String("swedencentral"),
		Kind: pulumi.String("StorageV2"), Sku: storage.SkuArgs{Name: pulumi.String("Standard_LRS")},
		AllowSharedKeyAccess: pulumi.Bool(true),
	}, pulumi.Provider(azure))
	return err
}

func TestTheEngineStopsOnAViolation(t *testing.T) {
	t.Parallel()
	dir, home, judged := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: foreign\nruntime: go\n"), 0o644))
	file := filepath.Join(dir, "Pulumi.dev.yaml")
	require.NoError(t, os.WriteFile(file, []byte("config: {}\n"), 0o644))
	cli, err := engine.Find(t.Context(), engine.Options{})
	require.NoError(t, err)
	pack, err := engine.Link(home, platform.New().Executable())
	require.NoError(t, err)
	cloud, err := sim.Open(filepath.Join(home, "cloud.json"))
	require.NoError(t, err)
	defer func() { require.NoError(t, cloud.Close()) }()
	run := &engine.Run{
		CLI: cli, Dir: dir, StackFile: file, Stack: "dev", Home: home, Program: account,
		Packs: []string{pack}, Env: map[string]string{results.EnvDir: judged},
	}
	for pkg, server := range cloud.Providers() {
		run.Providers = append(run.Providers, engine.Provider{Package: pkg, Server: server})
	}
	result, err := run.Preview(t.Context())
	var failure *engine.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, engine.KindPolicy, failure.Kind, "%v", err)
	rules := map[string]engine.PolicyViolation{}
	for _, v := range result.PolicyViolations {
		rules[v.Policy] = v
	}
	require.Contains(t, rules, "ST-01")
	assert.Equal(t, "mandatory", rules["ST-01"].Enforcement)
	assert.Equal(t, platform.Version, rules["ST-01"].Version)
	assert.Contains(t, rules["ST-01"].Message, "allowSharedKeyAccess is true, want false")
	assert.NotEmpty(t, result.PolicySummaries)

	_, err = results.Read(judged)
	require.NoError(t, err)

	// A configuration that names a rule which does not exist stops everything.
	wrong := filepath.Join(dir, "wrong.json")
	require.NoError(t, os.WriteFile(wrong, []byte(`{"version":2,"policies":{"ST-99":"mandatory"}}`), 0o644))
	run.PackConfigs = []string{wrong}
	_, err = run.Preview(t.Context())
	require.ErrorContains(t, err, "ST-99: no such rule in this pack; it has ST-01")
	// Audit stops nothing.
	audit := filepath.Join(dir, "audit.json")
	require.NoError(t, os.WriteFile(audit, []byte(`{"version":2,"policies":{"all":"advisory"}}`), 0o644))
	run.PackConfigs = []string{audit}
	result, err = run.Preview(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, result.PolicyViolations)

	// In an update stack rules see outputs as well.
	updated := t.TempDir()
	run.Env[results.EnvDir] = updated
	_, err = run.Up(t.Context())
	require.NoError(t, err)
	runs, err := results.Read(updated)
	require.NoError(t, err)
	assert.Equal(t, string(policypack.Audit), runs[0].Profile)
	for _, j := range runs[0].Judgements {
		assert.NotEqual(t, results.NotChecked, j.State, "%s: after an update everything is known", j.Rule)
	}
}

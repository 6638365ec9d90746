package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	resources "github.com/pulumi/pulumi-azure-native-sdk/resources/v2/v20240301"
	storage "github.com/pulumi/pulumi-azure-native-sdk/storage/v2/v20240101"
	azurenative "github.com/pulumi/pulumi-azure-native-sdk/v2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
	"onedoor/internal/waiver"
	platform "onedoor/policies/platform/rules"
	"onedoor/sim"
)

// waivers is a file with one waiver, for the account of judgedRun and for that of
// keyed.
const waivers = `waivers:
  - id: SEC-7
    rules: [ST-01]
    targets: ["urn:pulumi:dev::platform::*:StorageAccount::results"]
    owner: ann@example.com
    approver: bob@example.com
    ticket: SEC-7
    reason: the old reader still uses keys
    created: 2026-11-01
    expires: 2027-01-31
    compensatingControl: keys rotate daily
`

func TestReportWaiversJudges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fail := judgedRun(t, filepath.Join(dir, "a"), "dev", results.Fail)
	pass := judgedRun(t, filepath.Join(dir, "b"), "dev", results.Pass)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "policies"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policies", "waivers.yaml"), []byte(waivers), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "base.yaml"), []byte("waivers: []\n"), 0o644))
	wrong := strings.Replace(waivers, "[ST-01]", "[ST-99]", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "wrong.yaml"), []byte(wrong), 0o644))
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"active":       {[]string{fail, "--today", "2026-11-29"}, exitOK, "SEC-7: active until 2027-01-31, covers 1"},
		"expiring":     {[]string{fail, "--today", "2027-01-20"}, exitOK, "SEC-7: expiring until 2027-01-31, covers 1; 11 days are left"},
		"expired":      {[]string{fail, "--today", "2027-02-01"}, exitUser, "SEC-7: expired until 2027-01-31"},
		"orphan":       {[]string{pass, "--today", "2026-11-29"}, exitUser, "nothing fails for ST-01"},
		"new":          {[]string{fail, "--today", "2026-11-29", "--base", "base.yaml"}, exitOK, "SEC-7: new"},
		"in the base":  {[]string{fail, "--today", "2026-11-29", "--base", "policies/waivers.yaml"}, exitOK, "SEC-7: active"},
		"wrong":        {[]string{fail, "--waivers", "wrong.yaml"}, exitUser, `rules: got "ST-99", want the id of a rule`},
		"unknown pack": {[]string{fail, "--today", "2026-11-29", "--config", "x=base.yaml", "--out", "o"}, exitUser, `got pack "x", want batchdoor or platform`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := call(dir, append([]string{"report", "waivers"}, c.args...)...)
			assert.Equal(t, c.code, code, stderr)
			assert.Contains(t, stdout+stderr, c.want)
		})
	}
	_, stdout, _ := call(dir, "report", "waivers", fail, "--today", "2026-11-29", "--json")
	var got struct{ Waivers []verdict }
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	assert.Equal(t, []verdict{{"SEC-7", waiver.Active, true, "2027-01-31", "", []waiver.Failure{{Rule: "ST-01", URN: openAccount}}}}, got.Waivers)
}

// keyed declares an account whose keys work.
func keyed(ctx *pulumi.Context) error {
	azure, err := azurenative.NewProvider(ctx, "azure", &azurenative.ProviderArgs{SubscriptionId: pulumi.String("11111111-2222-3333-4444-555555555555")}, pulumi.Version("2.92.3"))
	if err != nil {
		return err
	}
	group, err := resources.NewResourceGroup(ctx, "group", &resources.ResourceGroupArgs{ResourceGroupName: pulumi.String("rg-x"), Location: pulumi.String("swedencentral")}, pulumi.Provider(azure))
	if err != nil {
		return err
	}
	_, err = storage.NewStorageAccount(ctx, "results", &storage.StorageAccountArgs{
		AccountName: pulumi.String("stresults1"), ResourceGroupName: group.Name, Location: pulumi.String("swedencentral"),
		Kind: pulumi.String("StorageV2"), Sku: storage.SkuArgs{Name: pulumi.String("Standard_LRS")}, AllowSharedKeyAccess: pulumi.Bool(true),
	}, pulumi.Provider(azure))
	return err
}

// What is compiled is what the engine takes: it refuses the account, and lets the
// same account through with the waiver, and only while that counts.
func TestTheEngineTakesCompiledWaivers(t *testing.T) {
	t.Parallel()
	dir, home, judged := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"Pulumi.yaml": "name: platform\nruntime: go\n", "Pulumi.dev.yaml": "config: {}\n", "waivers.yaml": waivers,
		"config.json": `{"version": 2, "policies": {"all": "advisory", "ST-01": "mandatory"}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cli, err := engine.Find(t.Context(), engine.Options{})
	require.NoError(t, err)
	pack, err := engine.Link(home, platform.New().Executable())
	require.NoError(t, err)
	cloud, err := sim.Open(filepath.Join(home, "cloud.json"))
	require.NoError(t, err)
	defer func() { require.NoError(t, cloud.Close()) }()
	preview := &engine.Run{
		CLI: cli, Dir: dir, StackFile: filepath.Join(dir, "Pulumi.dev.yaml"), Stack: "dev", Home: home, Program: keyed,
		Packs: []string{pack}, PackConfigs: []string{filepath.Join(dir, "config.json")}, Env: map[string]string{results.EnvDir: judged},
	}
	for pkg, server := range cloud.Providers() {
		preview.Providers = append(preview.Providers, engine.Provider{Package: pkg, Server: server})
	}
	_, err = preview.Preview(t.Context())
	var refused *engine.Failure
	require.ErrorAs(t, err, &refused)
	require.Equal(t, engine.KindPolicy, refused.Kind, "%v", err)

	runs, err := results.Read(judged)
	require.NoError(t, err)
	d, err := results.Make(results.Subject{Project: "platform", Stack: "dev"}, runs, nil)
	require.NoError(t, err)
	policy, err := embedded.WritePolicy(&d, dir)
	require.NoError(t, err)
	compile := func(today, out string) {
		t.Helper()
		_, _, _ = call(dir, "report", "waivers", policy, "--waivers", "waivers.yaml", "--today", today, "--config", "platform=config.json", "--out", out)
		preview.PackConfigs = []string{filepath.Join(dir, out, "platform.json")}
	}
	compile("2026-11-29", "active")
	result, err := preview.Preview(t.Context())
	require.NoError(t, err, "the waiver is taken")
	assert.NotEmpty(t, result.PolicyViolations, "what is advisory is still told")
	compile("2027-02-01", "expired")
	_, err = preview.Preview(t.Context())
	require.ErrorAs(t, err, &refused, "an expired waiver closes the gate by itself")
	assert.Equal(t, engine.KindPolicy, refused.Kind)
}

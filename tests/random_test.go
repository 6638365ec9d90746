package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/sim"
	"onedoor/tests/kit"
)

// The official SDK of the random package, through the real engine, finds the
// simulator to be what it expects: values that stay, that are secret where the
// schema says so, and that change with their keepers.
func TestRandomValuesStayUntilTheirKeepersChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	home := t.TempDir()
	project := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(project, "Pulumi.yaml"), []byte("name: chance\nruntime: go\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(project, "Pulumi.one.yaml"), []byte("config: {}\n"), 0o644))
	cli, err := engine.Find(ctx, engine.Options{Progress: &kit.Log{T: t}})
	require.NoError(t, err)
	cloud, err := sim.Open("")
	require.NoError(t, err)

	keeper := "a"
	run := &engine.Run{
		CLI: cli, Dir: project, StackFile: filepath.Join(project, "Pulumi.one.yaml"), Stack: "one", Home: home,
		Providers: []engine.Provider{{Package: sim.Random, Server: cloud.Providers()[sim.Random]}},
		Program: func(ctx *pulumi.Context) error {
			keepers := pulumi.StringMap{"keeper": pulumi.String(keeper)}
			name, err := random.NewRandomString(ctx, "name", &random.RandomStringArgs{
				Length: pulumi.Int(12), Special: pulumi.Bool(false), Upper: pulumi.Bool(false), Keepers: keepers,
			})
			if err != nil {
				return err
			}
			if _, err := random.NewRandomPassword(ctx, "password", &random.RandomPasswordArgs{Length: pulumi.Int(20), MinNumeric: pulumi.Int(3)}); err != nil {
				return err
			}
			if _, err := random.NewRandomUuid(ctx, "id", nil); err != nil {
				return err
			}
			ctx.Export("name", name.Result)
			return nil
		},
	}
	first, err := run.Up(ctx)
	require.NoError(t, err)
	name, _ := first.Outputs["name"].(string)
	assert.Regexp(t, `^[a-z0-9]{12}$`, name)
	for _, r := range first.Resources {
		if r.Name == "password" {
			assert.Equal(t, "[secret]", r.Outputs["result"])
		}
		if r.Name == "id" {
			assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-`, r.Outputs["result"])
		}
	}

	again, err := run.Up(ctx)
	require.NoError(t, err)
	assert.False(t, again.HasChanges(), "%v", again.Changes)
	assert.Equal(t, name, again.Outputs["name"])

	keeper = "b"
	changed, err := run.Up(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, changed.Changes["replace"])
	assert.NotEqual(t, name, changed.Outputs["name"])
}

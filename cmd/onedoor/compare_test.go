package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/change"
	"onedoor/internal/forge"
)

// compared is preview --base in dir, over a base whose configuration alone differs.
func compared(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := screen{dir, &out, &errs, selfBuild}.root()
	root.SetArgs(append([]string{"preview", "--home", filepath.Join(t.TempDir(), "home")}, args...))
	code = report(&errs, root.ExecuteContext(t.Context()))
	return code, out.String(), errs.String()
}

// TestAChangeThatMattersIsRefusedOnTheFirstScreen: it replaces the cluster, gives
// somebody a role, and adds a tenant.
func TestAChangeThatMattersIsRefusedOnTheFirstScreen(t *testing.T) {
	t.Parallel()
	dir, base := project(t), project(t)
	const admin = "      - 77777777-8888-9999-aaaa-bbbbbbbbbbbb\n"
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "    podCidr: 10.244.0.0/16", "    podCidr: 10.248.0.0/16")
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), admin, admin+"      - 88888888-8888-9999-aaaa-bbbbbbbbbbbb\n")
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "  onedoor:tenants:\n", "  onedoor:tenants:\n    newcomer:\n      owner: newcomer@example.com\n      applications: [a9999999-1111-4111-8111-111111111111]\n      plan: starter\n      residency: regional\n")

	code, stdout, stderr := compared(t, dir, "--base", base)
	require.Equal(t, exitUser, code, stderr)
	first, _, _ := strings.Cut(stdout, "\nreplaced\n")
	for _, want := range []string{"REPLACED", "ManagedCluster cluster, because of networkProfile.podCidr", "+ gateway-tenant-newcomer", "± RoleAssignment", "in Azure: "} {
		assert.Contains(t, first, want)
	}
	assert.Contains(t, stdout, "lost for good")

	raw, err := os.ReadFile(filepath.Join(dir, "out", "dev", "change.md"))
	require.NoError(t, err)
	_, err = forge.Read(string(raw))
	require.NoError(t, err, "it is a comment")
	raw, err = os.ReadFile(filepath.Join(dir, "out", "dev", "change.json"))
	require.NoError(t, err)
	var written struct {
		Changes []change.Resource
		Bill    struct{ Before, After struct{ Idle, Most float64 } }
	}
	require.NoError(t, json.Unmarshal(raw, &written))
	assert.NotEmpty(t, written.Changes)
	assert.Equal(t, written.Bill.Before, written.Bill.After, "replacing costs nothing more")
	assert.FileExists(t, filepath.Join(dir, "out", "dev", "policy.json"))
	assert.NoDirExists(t, filepath.Join(base, ".onedoor"), "the base is left as it was")
}

func TestAHarmlessChangePasses(t *testing.T) {
	t.Parallel()
	dir, base := project(t), project(t)
	edit(t, filepath.Join(dir, "Pulumi.dev.yaml"), "costCentre: cc-1234", "costCentre: cc-5678")
	code, stdout, stderr := compared(t, dir, "--base", base, "--json")
	var got struct {
		OK       bool
		Refusals []string
		Changes  []change.Resource
		Policy   struct{ Changes []any }
		OnlyBase []any
		Reach    []any
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &got), stderr)
	assert.Empty(t, got.Refusals, "%v %v", change.Lost(got.Changes), got.Policy.Changes)
	assert.True(t, got.OK)
	assert.Equal(t, exitOK, code)
	assert.Empty(t, got.Policy.Changes)
	assert.Empty(t, got.OnlyBase)
	assert.Empty(t, got.Reach)
	assert.NotEmpty(t, got.Changes)
	for _, c := range got.Changes {
		assert.Equal(t, change.Updated, c.Op, c.URN)
	}
}

func TestABaseThatIsNoneIsTheUsersMistake(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for reason, base := range map[string]string{"no commit": "no-such-branch", "no project": t.TempDir(), "an option": "--output=x"} {
		code, _, stderr := compared(t, dir, "--base="+base)
		assert.Equal(t, exitUser, code, reason)
		assert.Contains(t, stderr, "--base", reason)
	}
}

package shown

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const page = "# A page\n\nText with `code (](x.md)`.\n\n```sh\nA=1 onedoor preview \\\n  --stack 'my stack' | jq .x # why\n```\n\n1. In a list:\n\n   ```sh\n   TOKEN=$(az account show)\n   echo \"$TOKEN\"\n   ```\n\n```text\nonedoor not a command\n```\n\n```\nnor this\n```\n\n## Add a `tenant`, now\n\n[here](#add-a-tenant-now) [there](../b.md#x) [out](https://example.com) <img src=\"p.svg\">\n\n## Twice\n\n## Twice\n"

func write(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "docs", "a.md"), []byte(page), 0o644))
	return root
}

func TestCommands(t *testing.T) {
	t.Parallel()
	got, err := Commands(write(t), "docs/a.md")
	require.NoError(t, err)
	assert.Equal(t, []Command{
		{"docs/a.md", 6, []string{"onedoor", "preview", "--stack", "my stack"}, []string{"A=1"}},
		{"docs/a.md", 7, []string{"jq", ".x"}, nil},
		{"docs/a.md", 13, []string{"az", "account", "show"}, nil},
		{"docs/a.md", 14, []string{"echo", "$TOKEN"}, nil},
	}, got)
}

func TestLinksAndHeadings(t *testing.T) {
	t.Parallel()
	got, err := Links(write(t), "docs/a.md")
	require.NoError(t, err)
	assert.Equal(t, []Link{{"docs/a.md", "docs/a.md", "add-a-tenant-now"}, {"docs/a.md", "b.md", "x"}, {"docs/a.md", "docs/p.svg", ""}}, got)
	assert.Equal(t, []string{"a-page", "add-a-tenant-now", "twice", "twice-1"}, Headings(page))
}

func TestOnedoor(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"preview"}, Onedoor([]string{"go", "run", "./cmd/onedoor", "preview"}))
	assert.Equal(t, []string{}, Onedoor([]string{"onedoor"}))
	assert.Nil(t, Onedoor([]string{"go", "run", "./cmd/other", "preview"}))
}

// A command that nobody has thought of has no kind, whoever's it is.
func TestKindOf(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Kind{
		"onedoor preview --stack prod":                  Offline,
		"go run ./cmd/onedoor preview --base main":      Compare,
		"onedoor report waivers p.json --base w.yaml":   Offline,
		"./onedoor verify --stack dev":                  Azure,
		"onedoor enqueue tickets/":                      Intake,
		"onedoor docs --check":                          Source,
		"onedoor comment out/dev/change.md":             Forge,
		"pulumi stack output imports":                   Pulumi,
		"curl https://example.com":                      Gateway,
		"go run github.com/google/ko@v0.18.0 build ./x": Image,
		"az acr login --name r":                         Nothing,
		"az vm delete --name v":                         "",
		"helm install x":                                "",
		"go run ./cmd/other":                            "",
		"onedoor":                                       "",
	} {
		found, err := Parse(line)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, want, KindOf(found[0]), line)
	}
}

func TestOfShowsACommandOnce(t *testing.T) {
	t.Parallel()
	root := write(t)
	for page, text := range map[string]string{"README.md": "```sh\ngo run ./cmd/onedoor preview --stack 'my stack'\npulumi up\n```\n", "SECURITY.md": "", "CONTRIBUTING.md": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(root, page), []byte(text), 0o644))
	}
	got, err := Of(root, Offline)
	require.NoError(t, err)
	assert.Equal(t, []Command{{"README.md", 2, []string{"go", "run", "./cmd/onedoor", "preview", "--stack", "my stack"}, nil}}, got)
}

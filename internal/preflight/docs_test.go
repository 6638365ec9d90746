package preflight_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/finding"
	"onedoor/internal/preflight"
)

var update = flag.Bool("update", false, "write the pages")

const intro = `# Preflight

` + "`onedoor preflight --stack NAME`" + ` asks Azure, before an update, what a preview cannot know. It previews the stack
first, without Azure, or reads the record of a preview (` + "`--plan`" + `); what it asks follows from that plan. It reads and
changes nothing.

| severity | means |
|---|---|
| error | the update will fail, or what it makes will not work |
| warning | the update works; something later will not |
| info | worth knowing |
| not checked | Azure did not answer, or this machine could not ask: it may be wrong |

| exit code | means |
|---|---|
| 0 | everything was checked, no errors; there may be warnings |
| 1 | errors, whatever else could not be checked, or a mistake in the command or the configuration |
| 2 | no errors, but not everything could be checked |

Credentials are those that Azure's SDKs find: a login of ` + "`az`" + `, a workload identity, or the environment. Without any,
everything is not checked. A role of Reader at the subscription, and at networks that the stack peers with, is enough.
Results go to standard output, as JSON with ` + "`--json`" + `; progress goes to standard error.

## Codes

`

func golden(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "%s: run go test with -update", path)
}

// The pages follow from the codes, and there is none of a code that is gone.
func TestPagesAreCurrent(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs", "preflight")
	want := []string{}
	for _, c := range preflight.Codes {
		golden(t, filepath.Join(docs, c.ID+".md"), c.Markdown())
		want = append(want, c.ID+".md")
	}
	golden(t, filepath.Join(docs, "README.md"), append([]byte(intro), finding.Index(preflight.Codes, func(c finding.Code) string { return c.ID + ".md" })...))
	pages, err := filepath.Glob(filepath.Join(docs, "*-*.md"))
	require.NoError(t, err)
	for _, page := range pages {
		assert.Contains(t, want, filepath.Base(page), "a page of no code")
	}
	slices.Sort(want)
	assert.Len(t, slices.Compact(slices.Clone(want)), len(want), "a code is used twice")
	for _, c := range preflight.Codes {
		for _, said := range []string{c.Title, c.Reads, c.Why, c.Remedy, c.Source} {
			assert.NotEmpty(t, said, c.ID)
		}
		assert.Contains(t, finding.Severities, c.Severity)
	}
}

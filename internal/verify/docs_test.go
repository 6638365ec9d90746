package verify_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/finding"
	"onedoor/internal/verify"
)

var update = flag.Bool("update", false, "write the page")

const intro = `# Verify

` + "`onedoor verify --stack NAME`" + ` asks Azure, after an update, who can in effect reach a model, and compares that with the
plan of the stack. A preview proves what this program declares; this proves the rest: what somebody else declared, above
the stack or beside it.

## What it does

1. It previews the stack without Azure, or reads the record of a preview (` + "`--plan`" + `). From that it knows the model
   accounts, which identity may use which of them, and where programs run that may use none.
2. It reads each account, its deployments, and every role assignment at it and above it: its group, its subscription and
   the management groups. Roles that somebody may activate count as held. Custom roles, wildcards and exclusions are
   evaluated; a condition is not, so that a conditional assignment counts as held. A denial for everybody takes away.
3. With ` + "`--probe-image IMAGE`" + ` it tries, from each place where workers run, to connect to each account, and to the
   gateway. Each try is a Job in the workers' namespace, with their labels, service account, nodes and tolerations, and
   without a token. The accounts must be refused by the network; the gateway must answer, or the refusals prove nothing.
   The image needs ` + "`curl`" + ` and has to come from a registry that the cluster admits. The Jobs are deleted.

It changes nothing in Azure and reads no directory: a group is a group, and who is in it is for its owner to say.

| severity | means |
|---|---|
| error | somebody reaches a model past the doors, or a door does not work |
| warning | somebody may make a way, by a right that managing Azure brings with it |
| info | worth knowing |
| not checked | it could not be read or tried, and may be wrong |

Exit code: 0 when all is well, 1 with errors or a mistake in the command, 2 when not everything could be checked.

## Who deploys

Whoever deploys holds rights with which a way could be made: that is what deploying is. Such rights are warnings, and say
who runs the command. ` + "`--known OBJECT-ID`" + `, as often as needed, answers for a principal; it excuses those rights and
never a role that calls a model or submits jobs.

## Evidence

` + "`out/NAME/verify.json`" + ` has a judgement for each code and account, in the form of a run of the policy packs, so that
` + "`onedoor report`" + ` turns it into its other forms. ` + "`out/NAME/verify.oscal.json`" + ` is the same as OSCAL assessment results, of
live Azure, with commit and hashes of plan and configuration. A control with something that was not checked, and nothing
that failed, gets no finding but a remark: what was not read is signed by nobody.

## What it leaves out

- Model servers: a Job in their place would wake a node with GPUs. ` + "`onedoor reach`" + ` proves their walls for the plan.
- Routes of the gateway: whether it serves batch routes is proved for the plan, not tried live.
- Places outside: nothing is tried from the internet, from peered networks or from on premises. Whether an account
  takes connections from there is read from its settings (VER-ACCT-03), and ` + "`onedoor reach`" + ` proves the plan.
- Keys that were copied while keys were on. Regenerate them.

## Codes

`

func TestPageIsCurrent(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	want.WriteString(intro)
	want.Write(finding.Index(verify.Codes, func(c finding.Code) string { return "#" + strings.ToLower(c.ID) }))
	for _, c := range verify.Codes {
		want.WriteString("\n")
		want.Write(c.Section())
	}
	path := filepath.Join("..", "..", "docs", "verify.md")
	if *update {
		require.NoError(t, os.WriteFile(path, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want.String(), string(got), "run go test with -update")
	var ids []string
	for _, c := range verify.Codes {
		ids = append(ids, c.ID)
		for _, said := range []string{c.Title, c.Reads, c.Why, c.Remedy, c.Source} {
			assert.NotEmpty(t, said, c.ID)
		}
	}
	slices.Sort(ids)
	assert.Equal(t, ids, slices.Compact(slices.Clone(ids)), "a code is used twice")
}

package tests

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/reach"
)

// Who can open a connection to what, and that no way leads to a model but through
// its door.
func TestTheReachOfStacksIsKnown(t *testing.T) {
	t.Parallel()
	for stack, file := range stackFiles {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			_, result := preview(t, stack, file)
			var planned []reach.Resource
			for _, r := range result.Resources {
				planned = append(planned, reach.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs})
			}
			report := reach.Judge(stack, planned)
			for _, finding := range report.Findings {
				assert.False(t, finding.Fails(), finding.Text)
			}
			var out bytes.Buffer
			require.NoError(t, embedded.Encode(&out, report))
			golden(t, stack+".reach.json", out.Bytes())
		})
	}
}

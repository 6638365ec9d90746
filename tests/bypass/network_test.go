package bypass_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/reach"
	"onedoor/tests/bad/replay"
)

// network is how the network refuses a way: the proof of the changed plan finds it,
// or the connection that it needs stays closed.
type network struct {
	Finding string       `yaml:"finding"` // a part of what is found
	Closed  []connection `yaml:"closed"`
}

// connection is one cell of the matrix.
type connection struct{ From, To string }

func (n network) asked() bool { return n.Finding != "" || len(n.Closed) > 0 }

func proof(s replay.Stack) reach.Report {
	planned := make([]reach.Resource, len(s.Resources))
	for i, r := range s.Resources {
		planned[i] = reach.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs}
	}
	return reach.Judge(s.Name, planned)
}

func TestTheNetworkRefuses(t *testing.T) {
	t.Parallel()
	assert.True(t, proof(prod(t)).OK, "what the proof finds must come from the change")
	for _, w := range ways(t) {
		if !w.RefusedBy.Network.asked() {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			report, want := proof(mutated(t, w)), w.RefusedBy.Network
			if want.Finding != "" {
				found := false
				for _, f := range report.Findings {
					found = found || f.Fails() && strings.Contains(f.Text, want.Finding)
				}
				assert.True(t, found, "%q is not found: %v", want.Finding, report.Findings)
			}
			for _, c := range want.Closed {
				cell, known := report.Matrix.Cell(c.From, c.To)
				if assert.True(t, known, "%s to %s: no such connection in the matrix", c.From, c.To) {
					assert.Equal(t, reach.Closed, cell.State, "%s to %s: %s", c.From, c.To, cell.By)
				}
			}
		})
	}
}

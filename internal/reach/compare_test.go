package reach

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCompareTellsWhatOpensAndWhatCloses(t *testing.T) {
	t.Parallel()
	matrix := func(cells ...Cell) Matrix { return Matrix{Cells: cells} }
	cell := func(from, to string, s State) Cell {
		return Cell{From: from, To: to, Port: "443", State: s, By: "rule of " + to}
	}
	before := matrix(
		cell("gateway", "models", Open), cell("gateway", "batch", Closed), cell("worker", "models", Closed),
		cell("gone", "models", Open), cell("gone", "batch", Closed), cell("gateway", "ray", Absent))
	after := matrix(
		cell("gateway", "models", Open), cell("gateway", "batch", Partly), cell("worker", "models", Unknown),
		cell("new", "models", Open), cell("new", "batch", Closed), cell("gateway", "ray", Open))
	assert.Equal(t, []Change{
		{"gateway", "batch", "443", Closed, Partly, "rule of batch"},
		{"worker", "models", "443", Closed, Unknown, "rule of models"},
		{"new", "models", "443", Absent, Open, "rule of models"},
		{"gateway", "ray", "443", Absent, Open, "rule of ray"},
		{"gone", "models", "443", Open, Absent, "not planned"},
	}, Compare(before, after))
	assert.Empty(t, Compare(after, after))
	opens := map[string]bool{}
	for _, c := range Compare(before, after) {
		opens[c.From+" to "+c.To] = c.Opens()
	}
	assert.Equal(t, map[string]bool{"gateway to batch": true, "worker to models": false, "new to models": true, "gateway to ray": true, "gone to models": false}, opens)
}

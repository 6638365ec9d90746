package reach

// Change is a cell that two plans answer differently.
type Change struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Port   string `json:"port"`
	Before State  `json:"before"`
	After  State  `json:"after"`
	By     string `json:"by"` // what decides after
}

// Connects tells whether something gets through.
func (s State) Connects() bool { return s == Open || s == Partly || s == Unnamed }

// Opens tells whether the change lets something through that did not get through.
func (c Change) Opens() bool { return c.After.Connects() && !c.Before.Connects() }

// Compare tells which cells changed from before to after, in the order of after's
// matrix, then what only before had. A workload or destination that only one of
// them has counts as absent in the other; cells that are absent in both, or closed
// where nothing was, are no change.
func Compare(before, after Matrix) []Change {
	out := []Change{}
	add := func(c Cell, was, is State) {
		if was == is || !was.Connects() && !is.Connects() && (was == Absent || is == Absent) {
			return
		}
		out = append(out, Change{c.From, c.To, c.Port, was, is, c.By})
	}
	for _, c := range after.Cells {
		was := Absent
		if old, known := before.Cell(c.From, c.To); known {
			was = old.State
		}
		add(c, was, c.State)
	}
	for _, c := range before.Cells {
		if _, still := after.Cell(c.From, c.To); !still {
			add(Cell{From: c.From, To: c.To, Port: c.Port, By: "not planned"}, c.State, Absent)
		}
	}
	return out
}

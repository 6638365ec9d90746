package reach

// State is how far a workload gets to a destination.
type State string

// The states.
const (
	Open    State = "open"
	Partly  State = "partly"  // some of it: some of the addresses or names
	Unnamed State = "unnamed" // by address, to whoever does not ask for the name
	Closed  State = "closed"
	Unknown State = "unknown" // the plan cannot tell
	Absent  State = "absent"  // the destination is not planned
)

// Cell is one answer of the matrix.
type Cell struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Port  string `json:"port"`
	State State  `json:"state"`
	By    string `json:"by"` // what decides: a rule, a policy or a setting
}

// Matrix is who reaches what. Cells go by From, then To, both in the order of the
// lists.
type Matrix struct {
	From  []string `json:"from"`
	To    []string `json:"to"`
	Cells []Cell   `json:"cells"`
}

// Matrix asks every workload about every destination.
func (m *Model) Matrix() Matrix {
	out := Matrix{From: []string{}, To: []string{}, Cells: []Cell{}}
	destinations := m.destinations()
	for _, d := range destinations {
		out.To = append(out.To, d.name)
	}
	for _, o := range m.workloads() {
		out.From = append(out.From, o.name)
		for _, d := range destinations {
			out.Cells = append(out.Cells, d.cell(o))
		}
	}
	return out
}

// cell is the answer to one question.
func (d destination) cell(o origin) Cell {
	c := Cell{From: o.name, To: d.name, Port: d.port, State: Absent, By: "not planned"}
	if !d.planned {
		return c
	}
	a := d.reach(o, d.port)
	decided := a.named.some
	switch {
	case a.named.every.verdict == yes:
		c.State = Open
	case a.named.some.verdict == yes:
		c.State, decided = Partly, a.named.every
	case a.any.verdict == yes:
		c.State = Unnamed
	case a.any.verdict == maybe || a.named.some.verdict == maybe:
		c.State = Unknown
		if a.named.some.verdict != maybe {
			decided = a.any
		}
	default:
		c.State = Closed
	}
	c.By = decided.by
	if c.By == "" {
		c.By = "nothing holds it back"
	}
	return c
}

// Cell is the answer for one workload and destination.
func (m Matrix) Cell(from, to string) (Cell, bool) {
	for _, c := range m.Cells {
		if c.From == from && c.To == to {
			return c, true
		}
	}
	return Cell{}, false
}

package graph

// arrow is how the flows from one box to another are drawn.
type arrow struct {
	from, to ID
	words    string // what goes there, for whoever does not read the list
	route    func(from, to area, l layout) []point
}

// arrows are the ways that the picture has lines for. An arrow points at what is
// connected to: workers fetch from queues.
var arrows = []arrow{
	{Callers, Gateway, "calls", straight},
	{Callers, ControlPlane, "work", straight},
	{Gateway, Accounts, "calls", straight},
	{Gateway, Edge, "open models", straight},
	{Edge, Servers, "", straight},
	{ControlPlane, BatchAccount, "batch jobs", low},
	{ControlPlane, Queues, "send", toQueues},
	{Workers, Queues, "take", back},
	{Workers, Gateway, "call models", toGateway},
	{Workers, ControlPlane, "report", toControlPlane},
}

// straight goes along, in the middle of the smaller box.
func straight(from, to area, _ layout) []point {
	across := to.across.mid()
	if to.across.to-to.across.from > from.across.to-from.across.from {
		across = from.across.mid()
	}
	return []point{{from.along.to, across}, {to.along.from, across}}
}

// low goes along, past what is beside the middle.
func low(from, to area, _ layout) []point {
	across := from.across.at(0.8)
	return []point{{from.along.to, across}, {to.along.from, across}}
}

// back goes along, the other way.
func back(from, to area, _ layout) []point {
	across := from.across.mid()
	return []point{{from.along.from, across}, {to.along.to, across}}
}

// toQueues goes along and turns to the queues' side.
func toQueues(from, to area, _ layout) []point {
	across := from.across.at(0.2)
	return []point{{from.along.to, across}, {to.along.mid(), across}, {to.along.mid(), to.across.to}}
}

// toControlPlane leaves at the workers' side and turns back.
func toControlPlane(from, to area, _ layout) []point {
	across := to.across.at(0.5)
	return []point{{from.along.mid(), from.across.to}, {from.along.mid(), across}, {to.along.to, across}}
}

// toGateway goes back between the lanes of the gateway and those below it.
func toGateway(from, to area, l layout) []point {
	channel := (from.across.from + to.across.to) / 2
	return []point{{from.along.mid(), from.across.from}, {from.along.mid(), channel}, {to.along.at(0.75), channel}, {to.along.at(0.75), to.across.to}}
}

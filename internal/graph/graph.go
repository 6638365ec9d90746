// Package graph draws the platform of a plan: who calls, the doors, the walls
// beside them and the flows through them. What is drawn is read from planned
// resources, the table of flows and internal/reach; nothing is contacted, and the
// same plan gives the same picture. Which resources belong together is said by the
// components that declare them, not here.
package graph

import (
	"onedoor/internal/az/flows"
	"onedoor/internal/reach"
)

// Graph is what there is to draw of a plan.
type Graph struct {
	Stack     string
	Location  string
	Resources int
	Boxes     []Box
	Flows     []Flow
	Walls     []Card // what refuses a way round the doors
	Ground    []Card // what all of it stands on
	Findings  []reach.Finding
	OK        bool // no finding fails
}

// Box is a part of the platform that calls or is called.
type Box struct {
	ID    ID
	Role  Role
	Title string
	Facts []string
	Proof string // of models: who alone gets there
}

// ID names a box. Each has its place in the picture.
type ID string

// The boxes.
const (
	Callers      ID = "callers"
	Gateway      ID = "gateway"
	ControlPlane ID = "control-plane"
	Queues       ID = "queues"
	Workers      ID = "workers"
	Edge         ID = "edge"
	Accounts     ID = "accounts"
	Servers      ID = "servers"
	BatchAccount ID = "batch-account"
)

// Role is what a box is in the picture.
type Role string

// The roles.
const (
	Caller Role = "caller"
	Door   Role = "door"
	Part   Role = "part"
	Target Role = "model"
)

// Flow is a row of the table of flows that joins two boxes.
type Flow struct {
	Number int
	From   ID
	To     ID
	Ports  string
	Why    string
	State  FlowState
}

// FlowState is what the plan says about a flow that it needs.
type FlowState string

// The states.
const (
	Connects FlowState = "connects"
	Blocked  FlowState = "blocked" // something holds it back
	Unproven FlowState = "unproven"
)

// Card is a wall, or something that everything stands on.
type Card struct {
	Title string
	Facts []string
}

// Of reads a plan.
func Of(stack string, resources []reach.Resource) Graph {
	p := read(resources)
	model, report := reach.New(resources), reach.Judge(stack, resources)
	g := Graph{Stack: stack, Location: p.location(), Resources: len(resources), Findings: report.Findings, OK: report.OK}
	g.Boxes = p.boxes(report.Matrix)
	g.Walls = p.walls(report.Matrix)
	g.Ground = p.ground(report.Matrix)
	g.Flows = p.flows(model, g.Boxes)
	return g
}

// box is the box of that name; one that is not drawn is empty.
func (g Graph) box(id ID) Box {
	for _, b := range g.Boxes {
		if b.ID == id {
			return b
		}
	}
	return Box{}
}

// origins and destinations are the boxes that the table of flows calls so. Doors
// share a subnet, and are told apart by the pods behind them.
var (
	origins = map[string]ID{
		"peers": Callers, internet: Callers, "gateway": Gateway, "worker-nodes": Workers, "platform-pods": Workers, "batch-nodes": ControlPlane, "serving-edge": Edge,
	}
	destinations = map[string]ID{
		"gateway": Gateway, "public-gateway": Gateway, "bus": Queues, "ServiceBus.{location}": Queues,
		"model accounts": Accounts, "batch account": BatchAccount, "model-servers": Servers,
	}
)

// destination is the box that a flow leads to.
func destination(p flows.Place) ID {
	if id, known := destinations[p.String()]; known {
		return id
	}
	if pods := p.Namespaces(); p.String() == doorsPlace && len(pods) == 1 {
		return behind[pods[0]]
	}
	return ""
}

package change

import (
	"cmp"
	"slices"
	"strings"

	"onedoor/internal/engine"
)

// Op is what becomes of a resource.
type Op string

// The operations, those that a reader must see first first.
const (
	Replaced Op = "replaced"
	Deleted  Op = "deleted"
	Updated  Op = "updated"
	Created  Op = "created"
)

// Ops are all operations, in the order in which they are told.
var Ops = []Op{Replaced, Deleted, Updated, Created}

// opOf translates the engine's words; what is not in it is no change.
var opOf = map[string]Op{"replace": Replaced, "delete": Deleted, "update": Updated, "create": Created, "import": Created}

// Resource is a resource that changes.
type Resource struct {
	Op   Op     `json:"op"`
	URN  string `json:"urn"`
	Kind string `json:"kind"` // as in "containerservice:AgentPool"
	Name string `json:"name"`
	// Properties are those that differ, of an update or a replacement, by path.
	Properties []Property `json:"properties,omitempty"`
	// Because are the properties that force a replacement; none if it follows from
	// that of another resource.
	Because []string `json:"because,omitempty"`
	// Loses is what is gone for good when the resource is; "" if nothing is that an
	// update does not make again.
	Loses string `json:"loses,omitempty"`
}

// Property is one difference of inputs. A side that lacks it has nil.
type Property struct {
	Path   string `json:"path"` // as in "agentPoolProfiles[0].vmSize"
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// Of are the changes that a preview plans, by operation, by what is lost, kind and name. The stack
// and the components, which have no inputs of their own, are left out.
func Of(resources []engine.Resource) []Resource {
	out := []Resource{}
	for _, r := range resources {
		op, changes := opOf[r.Op]
		if !changes || strings.HasPrefix(r.Type, "onedoor:") || strings.HasPrefix(r.Type, "pulumi:pulumi:") {
			continue
		}
		c := Resource{Op: op, URN: r.URN, Kind: r.Kind(), Name: r.Name, Because: r.Because}
		if op == Updated || op == Replaced {
			c.Properties = Compare(r.Before, r.Inputs)
			c.Because = narrow(c.Because, c.Properties)
		}
		if op == Replaced || op == Deleted {
			c.Loses = lossOf(c.Kind)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(slices.Index(Ops, a.Op), slices.Index(Ops, b.Op)), cmp.Compare(lostFirst(a), lostFirst(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.URN, b.URN))
	})
	return out
}

// lostFirst puts what is lost first, the most of it before the rest.
func lostFirst(r Resource) int {
	if r.Loses == "" {
		return len(losses)
	}
	return rank(r.Kind)
}

// narrow names, for a property that forces a replacement and is an object or a list,
// the members that differ, as far as inputs tell.
func narrow(because []string, differ []Property) []string {
	var out []string
	for _, path := range because {
		var within []string
		for _, p := range differ {
			if rest, below := strings.CutPrefix(p.Path, path); below && rest != "" && strings.ContainsAny(rest[:1], ".[") {
				within = append(within, p.Path)
			}
		}
		if within == nil {
			within = []string{path}
		}
		out = append(out, within...)
	}
	return out
}

// Lost are the changes that lose something for good.
func Lost(changes []Resource) []Resource {
	return slices.DeleteFunc(slices.Clone(changes), func(r Resource) bool { return r.Loses == "" })
}

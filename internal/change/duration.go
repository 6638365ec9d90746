package change

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"onedoor/internal/engine"
)

// Path is the longest chain of operations that wait for one another.
type Path struct {
	Took  Span   `json:"tookSeconds"`
	Steps []Step `json:"steps"` // those that take time, first to last; never null
}

// Step is one operation of a path.
type Step struct {
	URN  string `json:"urn"`
	Op   Op     `json:"op"`
	Took Span   `json:"tookSeconds"`
}

// Span is a duration that files have in seconds.
type Span time.Duration

// MarshalJSON is the duration in seconds, as a number.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// String is the duration in minutes, or in seconds below one.
func (s Span) String() string {
	d := time.Duration(s)
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}

// Critical is the critical path of an update: how long it takes at least, if
// everything that may run at once does. took is how long one operation takes.
// Deletions come last in an update, and are not counted.
func Critical(resources []engine.Resource, took func(engine.Resource) time.Duration) Path {
	c := critical{took: took, byURN: map[string]engine.Resource{}, ends: map[string]end{}}
	for _, r := range resources {
		c.byURN[r.URN] = r
	}
	var last string
	for _, r := range resources { // sorted by URN: the first of equals
		if c.end(r.URN).at > c.end(last).at {
			last = r.URN
		}
	}
	p := Path{Took: Span(c.end(last).at), Steps: []Step{}}
	for urn := last; urn != ""; urn = c.ends[urn].after {
		if t := c.ends[urn].took; t > 0 {
			p.Steps = append(p.Steps, Step{urn, opOf[c.byURN[urn].Op], Span(t)})
		}
	}
	slices.Reverse(p.Steps)
	return p
}

type critical struct {
	took  func(engine.Resource) time.Duration
	byURN map[string]engine.Resource
	ends  map[string]end
}

// end is when an operation is done, how long it takes itself, and for which other
// it waited.
type end struct {
	at, took time.Duration
	after    string
}

func (c *critical) end(urn string) end {
	r, there := c.byURN[urn]
	if !there || r.Op == "delete" {
		return end{}
	}
	if e, known := c.ends[urn]; known {
		return e
	}
	c.ends[urn] = end{} // a resource never waits for itself
	var e end
	for _, other := range append(slices.Clone(r.Dependencies), r.Parent, r.Provider) {
		if o := c.end(other); o.at > e.at {
			e.at, e.after = o.at, other
		}
	}
	if _, changes := opOf[r.Op]; changes {
		e.took = c.took(r)
	}
	e.at += e.took
	c.ends[urn] = e
	return e
}

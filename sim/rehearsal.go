package sim

import (
	"fmt"

	"onedoor/sim/core"
)

// rehearsal is the copy of the state in which a preview is played through, so
// that it refuses what the update would refuse. It never reaches the file.
//
// A new run begins when a provider that is known already is configured once
// more, or when the real state has changed.
type rehearsal struct {
	gen     int // of the real state it is a copy of
	begun   bool
	state   core.State
	configs map[string]bool   // URNs of providers configured in this run
	made    map[string]string // key of an id made in this run, to its URN
}

// rehearse returns the rehearsal of the present run; c.mu is held.
func (c *Cloud) rehearse() *rehearsal {
	d := &c.dry
	if !d.begun || d.gen != c.gen {
		configs := d.configs
		*d = rehearsal{gen: c.gen, begun: true, state: core.Settle(c.state), configs: configs, made: map[string]string{}}
	}
	return d
}

// configured notes that the engine configured a provider.
func (c *Cloud) configured(urn string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if urn == "" || c.dry.configs[urn] || c.dry.configs == nil {
		c.dry = rehearsal{configs: map[string]bool{}}
	}
	c.dry.configs[urn] = true
}

// tryCreate plays a creation through; two resources of one run with the same
// id are refused, one that exists already is not: its replacement looks the same.
func (c *Cloud) tryCreate(urn string, op core.Op) (core.Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.rehearse()
	key := core.Key(op.ID)
	if other, ok := d.made[key]; ok && other != urn {
		return core.Answer{}, fmt.Errorf("two resources of this program have the id %q: %s and %s; fix: rename one", op.ID, other, urn)
	}
	answer := c.try(op)
	if answer.Error == nil {
		d.made[key] = urn
	}
	return answer, nil
}

// tryUpdate plays an update through.
func (c *Cloud) tryUpdate(op core.Op) core.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.try(op)
}

func (c *Cloud) try(op core.Op) core.Answer {
	d := c.rehearse()
	op.Instant, op.TypesOnly = true, c.typesOnly
	next, answer := core.Apply(d.state, op)
	d.state = next
	return answer
}

// leaving notes that a resource will be deleted before its replacement is made.
func (c *Cloud) leaving(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.rehearse()
	d.state = core.Leave(d.state, id)
}

// groupLocation returns the location of a resource group, real or rehearsed.
func (c *Cloud) groupLocation(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range []core.State{c.state, c.rehearse().state} {
		if r, ok := state.Find(id); ok {
			location, _ := r.Body["location"].(string)
			return location
		}
	}
	return ""
}

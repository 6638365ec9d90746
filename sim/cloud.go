package sim

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"onedoor/internal/armtypes"
	"onedoor/internal/manifest"
	"onedoor/sim/core"
	"onedoor/sim/kube"
)

// Cloud is one embedded Azure: a state, its clock and its file. All its methods
// may be called at the same time.
type Cloud struct {
	file      *file
	typesOnly bool

	mu     sync.Mutex
	state  core.State
	gen    int // counts changes of state
	clock  clock
	faults []*Fault
	log    []LogEntry
	fails  map[string]*core.Error // outcome of failed operations, by id
	dry    rehearsal
	around Surroundings
	// buckets are not written to the file: each is full again before the next
	// run begins.
	buckets core.Buckets
}

// LogEntry is one accepted write, in virtual time.
type LogEntry struct {
	// Seq is the order in which Azure accepted it.
	Seq int
	// Method is PUT, PATCH or DELETE.
	Method core.Method
	// ID is the resource written.
	ID string
	// Body is what was sent, nil for DELETE.
	Body map[string]any
	// Start and End are virtual; End is equal to Start for a write that the
	// answer itself completes.
	Start, End time.Duration
}

// Option changes how Open makes a Cloud.
type Option func(*Cloud)

// WithQuiet sets the real time without a request after which the virtual clock
// moves on; the default is 10 ms. Zero moves it as soon as all requests wait,
// which is right for tests that send one request after another.
func WithQuiet(d time.Duration) Option { return func(c *Cloud) { c.clock.quiet = d } }

// WithTypesOnly turns the behaviour rules off: types and names are checked,
// nothing else is refused. One refusal hides all later resources from policy
// packs, so a run that is about policies may want this.
func WithTypesOnly() Option { return func(c *Cloud) { c.typesOnly = true } }

// WithSeed adds resources that exist outside the stack, see core.Seed. They are
// not written to the file.
func WithSeed(resources ...core.Resource) Option {
	return func(c *Cloud) { c.state = core.Seed(c.state, resources...) }
}

// WithClosedTenant makes the directory hold no principals but the identities of
// the state: a role for anybody else is refused with PrincipalNotFound (A304).
// For a single refusal, inject a Fault.
func WithClosedTenant() Option { return func(c *Cloud) { c.state.ClosedTenant = true } }

// WithBackgroundWrites lets AKS write to each new cluster by itself, just after its
// creation has succeeded, so that the next write is refused for a while (A402).
func WithBackgroundWrites() Option { return func(c *Cloud) { c.state.BackgroundWrites = true } }

// WithLateIdentityWebhook starts KEDA's operator before the webhook of workload
// identity, as AKS may: it promises no order (A661).
func WithLateIdentityWebhook() Option { return func(c *Cloud) { c.state.LateIdentityWebhook = true } }

// WithResetOmittedProfiles makes a write to a cluster that leaves
// workloadAutoScalerProfile out reset it, instead of keeping it (A405).
func WithResetOmittedProfiles() Option {
	return func(c *Cloud) { c.state.ResetOmittedProfiles = true }
}

// betweenRuns is how much virtual time passes between two runs (A015).
const betweenRuns = time.Hour

// Open returns the Cloud stored at path. A missing file is an empty cloud, a
// damaged one an error; an empty path keeps everything in memory.
//
// Operations that ran when the last process ended have completed by now, as
// they would have in Azure.
func Open(path string, opts ...Option) (*Cloud, error) {
	c := &Cloud{file: &file{path: path}, state: core.New(), fails: map[string]*core.Error{}, buckets: core.Buckets{}}
	c.clock = clock{quiet: 10 * time.Millisecond, cloud: c}
	if path != "" {
		stored, found, err := c.file.load()
		if err != nil {
			return nil, err
		}
		if found {
			stored = core.Settle(stored)
			c.state = core.Advance(stored, stored.Now+betweenRuns)
		}
	}
	for _, opt := range opts {
		opt(c)
	}
	return c, nil
}

// Close writes what is not written yet: how the last operations ended. The Cloud
// stays usable.
func (c *Cloud) Close() error {
	c.mu.Lock()
	gen := c.gen
	c.mu.Unlock()
	if gen == 0 {
		return nil
	}
	return c.save(gen)
}

// State returns the present state; it never changes under the caller.
func (c *Cloud) State() core.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Log returns the writes that were accepted since Open, in order.
func (c *Cloud) Log() []LogEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]LogEntry(nil), c.log...)
}

// Seed adds resources that exist outside the stack, see core.Seed.
func (c *Cloud) Seed(resources ...core.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = core.Seed(c.state, resources...)
}

// Landed returns the id of what a create has made whose client was killed before it had
// the answer; "" if there is nothing, or nothing that a second create would meet. token
// and inputs are those of the Pulumi resource.
func (c *Cloud) Landed(token string, inputs map[string]any, subscription string) (string, error) {
	provider, _, _ := strings.Cut(token, ":")
	switch provider {
	case AzureNative:
		types, err := armtypes.Load()
		if err != nil {
			return "", err
		}
		typ, known := types.ByToken(token)
		if !known {
			return "", fmt.Errorf("resource type: got %q, want one the simulator knows", token)
		}
		id, problems := typ.ID(inputs, subscription)
		if len(problems) > 0 {
			return "", fmt.Errorf("id of a %s: %w", token, problems[0])
		}
		if r, exists := c.State().Find(id); exists {
			return r.ID, nil
		}
	case Kubernetes:
		return c.landedObject(token, inputs)
	}
	return "", nil // values that are made up, and writes that can be repeated
}

// landedObject returns the id of an object of any cluster; only fields of it are no object.
func (c *Cloud) landedObject(token string, inputs map[string]any) (string, error) {
	kind, err := objectKey(token)
	if err != nil {
		return "", err
	}
	if kind.APIVersion == kube.ReleaseVersion && kind.Kind == kube.ReleaseKind {
		inputs = releaseObject(inputs)
	}
	want := manifest.Key(inputs)
	if want.Kind != kind.Kind { // a patch
		return "", nil
	}
	for _, o := range c.State().Objects {
		if key := manifest.Key(o.Body); key == want {
			return strings.TrimPrefix(key.Namespace+"/"+key.Name, "/"), nil
		}
	}
	return "", nil
}

// Purge ends the soft deletion of a resource, so that its name is free; a vault
// with purge protection stays, see core.Purge.
func (c *Cloud) Purge(id string) error {
	return c.happen(func(s core.State) (core.State, *core.Error) { return core.Purge(s, id) })
}

// UpgradePatch lets Azure upgrade a cluster by itself, see core.UpgradePatch.
func (c *Cloud) UpgradePatch(cluster string) error {
	return c.happen(func(s core.State) (core.State, *core.Error) { return core.UpgradePatch(s, cluster) })
}

// happen changes the state without a request, and stores it.
func (c *Cloud) happen(change func(core.State) (core.State, *core.Error)) error {
	c.mu.Lock()
	next, refusal := change(c.state)
	if refusal != nil {
		c.mu.Unlock()
		return refusal
	}
	c.set(next)
	gen := c.gen
	c.mu.Unlock()
	return c.save(gen)
}

// do applies one operation and stores the result; it does not wait for its end.
func (c *Cloud) do(op core.Op) (core.Answer, error) {
	c.mu.Lock()
	op.TypesOnly = op.TypesOnly || c.typesOnly
	if !op.TypesOnly {
		if refusal, retryAt := c.buckets.Take(c.state.Now, op); refusal != nil {
			c.mu.Unlock()
			return core.Answer{Status: refusal.Status(), Error: refusal, RetryAt: retryAt}, nil
		}
	}
	before := c.state.Seq
	next, answer := core.Apply(c.state, op)
	changed := next.Seq != before
	if changed {
		c.set(next)
		entry := LogEntry{Seq: next.Seq, Method: op.Method, ID: op.ID, Body: op.Body, Start: next.Now, End: next.Now}
		if answer.Operation != nil {
			entry.ID, entry.End = answer.Operation.Target, answer.Operation.End
		}
		c.log = append(c.log, entry)
	}
	gen := c.gen
	c.mu.Unlock()
	if !changed {
		return answer, nil
	}
	return answer, c.save(gen)
}

// set replaces the state; c.mu is held.
func (c *Cloud) set(next core.State) {
	c.state = next
	c.gen++
}

// save returns once a state at least as new as gen is on the disk. Writers wait
// for one another, and the one that comes first writes for all.
func (c *Cloud) save(gen int) error {
	c.file.mu.Lock()
	defer c.file.mu.Unlock()
	if c.file.saved >= gen {
		return nil
	}
	c.mu.Lock()
	state, gen := c.state, c.gen
	c.mu.Unlock()
	if err := c.file.store(state); err != nil {
		return err
	}
	c.file.saved = gen
	return nil
}

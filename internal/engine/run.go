package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Run is one program with one stack. Its methods may be called one after another; each takes
// the stack's lock while it runs, unless Hold has it.
type Run struct {
	// CLI is what Find returned.
	CLI CLI
	// Dir holds Pulumi.yaml. It is only read.
	Dir string
	// StackFile is the stack's configuration: Pulumi.dev.yaml, or any other file. It is only read.
	StackFile string
	// Stack is the stack's name; StackFile need not bear it.
	Stack string
	// Home is the directory for everything that is written: usually .onedoor.
	Home string
	// Program is the Pulumi program.
	Program pulumi.RunFunc
	// Providers answer for the program's packages. No other provider can be reached.
	Providers []Provider
	// Packs are policy packs for --policy-pack: executables, or directories for an installed
	// CLI that has language hosts. Preview and Up run them; for other operations they are ignored.
	Packs []string
	// PackConfigs are configuration files for Packs, in their order; may be shorter.
	PackConfigs []string
	// Recorder is what LinkRecorder returned; "" leaves previews without dependencies.
	Recorder string
	// Progress receives what a person wants to see; nil means silence.
	Progress io.Writer
	// Env is added to the environment of the engine, and so of the packs.
	Env map[string]string
	// Parallel bounds how many resources are worked on at once; 0 is the engine's default.
	Parallel int32
	// SkipCheckpoints makes updates of many resources fast and a killed update lose its state.
	// For test matrices only; previews do it always.
	SkipCheckpoints bool
	// NoRefresh lets Preview and Up go by the state as it is, also where Pulumi.yaml asks for a
	// refresh first.
	NoRefresh bool
	// ContinueOnError lets Up and Destroy go on with what does not depend on a failure.
	ContinueOnError bool
	// Landed is asked before Up, Refresh and Destroy about each create that was under way when
	// an engine was killed: it returns the id of what exists, "" if nothing came of it. What
	// exists is taken into the state, and the next Up writes it once more, because nobody
	// knows how far the create had come; the rest is cleared from the state. An error stops
	// the run and leaves all as it is. nil means that nothing ever came of it.
	Landed func(PendingOperation) (id string, err error)
	// OnEvent sees every engine event as it comes, in one goroutine; may be nil.
	OnEvent func(apitype.EngineEvent)

	held bool // by Hold
}

// Hold takes the stack for several operations, and for what the caller opens beside it; op is
// what others are told of the holder. An error is a *Locked when another process has the stack.
func (r *Run) Hold(ctx context.Context, op Operation) (release func(), err error) {
	l, err := r.layout()
	if err != nil {
		return nil, setup(err)
	}
	unlock, err := l.lock(ctx, op)
	if err != nil {
		return nil, err
	}
	r.held = true
	return func() { r.held = false; unlock() }, nil
}

// DestroyOptions change what Destroy does.
type DestroyOptions struct {
	// IgnoreProtect deletes protected resources too.
	IgnoreProtect bool
}

// Preview plans an update and changes nothing. Result is not nil if the engine ran, also
// beside an error, which is then a *Failure.
func (r *Run) Preview(ctx context.Context) (*Result, error) {
	return r.operate(ctx, OpPreview, r.refreshFlags(), func(ctx context.Context, s auto.Stack, ch chan<- events.EngineEvent) error {
		opts := []optpreview.Option{
			optpreview.EventStreams(ch), optpreview.SuppressProgress(), optpreview.SuppressOutputs(),
			optpreview.PolicyPacks(r.packs(OpPreview)...), optpreview.PolicyPackConfigs(r.packConfigs(OpPreview)...),
		}
		if r.Parallel > 0 {
			opts = append(opts, optpreview.Parallel(int(r.Parallel)))
		}
		_, err := s.Preview(ctx, opts...)
		return err
	})
}

// Up creates and updates what the program declares. It does not preview first; a policy pack
// then sees a resource only when its turn has come, so callers preview with the packs before.
func (r *Run) Up(ctx context.Context) (*Result, error) {
	return r.operate(ctx, OpUp, r.refreshFlags(), func(ctx context.Context, s auto.Stack, ch chan<- events.EngineEvent) error {
		opts := []optup.Option{
			optup.EventStreams(ch), optup.SuppressProgress(), optup.SuppressOutputs(),
			optup.PolicyPacks(r.packs(OpUp)...), optup.PolicyPackConfigs(r.packConfigs(OpUp)...),
		}
		if r.Parallel > 0 {
			opts = append(opts, optup.Parallel(int(r.Parallel)))
		}
		if r.ContinueOnError {
			opts = append(opts, optup.ContinueOnError())
		}
		_, err := s.Up(ctx, opts...)
		return err
	})
}

func (r *Run) refreshFlags() []string {
	if r.NoRefresh {
		return []string{"--refresh=false"}
	}
	return nil
}

// Refresh reads every resource from its provider and writes what it finds into the state. It
// does not run the program. It leaves out those whose last write failed half way or was
// killed: reading them would make the engine forget that the next Up must write them again.
// https://github.com/pulumi/pulumi/issues/17949
func (r *Run) Refresh(ctx context.Context) (*Result, error) {
	return r.operate(ctx, OpRefresh, nil, func(ctx context.Context, s auto.Stack, ch chan<- events.EngineEvent) error {
		opts := []optrefresh.Option{optrefresh.EventStreams(ch), optrefresh.SuppressProgress(), optrefresh.SuppressOutputs()}
		unsettled, err := r.unsettled()
		if err != nil {
			return err
		}
		if len(unsettled) > 0 {
			opts = append(opts, optrefresh.Exclude(unsettled))
		}
		if r.Parallel > 0 {
			opts = append(opts, optrefresh.Parallel(int(r.Parallel)))
		}
		_, err = s.Refresh(ctx, opts...)
		return err
	})
}

// Destroy deletes every resource of the stack. It runs the program, so that its delete hooks
// run. Unless opts say otherwise, protected resources make it refuse, naming all of them,
// before anything is deleted; the engine itself would delete what it meets before the first.
func (r *Run) Destroy(ctx context.Context, opts DestroyOptions) (*Result, error) {
	gone, err := r.destroy(ctx, opts, true)
	if err != nil {
		return gone, err
	}
	l, err := r.layout()
	if err != nil {
		return gone, setup(err)
	}
	left, err := l.readState()
	if err != nil || len(left.Resources) == 0 {
		return gone, err
	}
	// After a destroy that had failed half way, the engine takes components and providers that
	// depend on what is gone for resources that the program never made, and leaves them. They
	// have no delete hooks.
	rest, err := r.destroy(ctx, opts, false)
	if rest == nil {
		return gone, err
	}
	for _, old := range gone.Resources {
		if _, again := rest.Find(old.URN); !again {
			rest.Resources = append(rest.Resources, old)
		}
	}
	rest.finish()
	return rest, err
}

func (r *Run) destroy(ctx context.Context, opts DestroyOptions, program bool) (*Result, error) {
	var flags []string
	if opts.IgnoreProtect {
		flags = append(flags, "--ignore-protect")
	}
	return r.operate(ctx, OpDestroy, flags, func(ctx context.Context, s auto.Stack, ch chan<- events.EngineEvent) error {
		options := []optdestroy.Option{
			optdestroy.EventStreams(ch), optdestroy.SuppressProgress(), optdestroy.SuppressOutputs(), optdestroy.RunProgram(program),
		}
		if r.Parallel > 0 {
			options = append(options, optdestroy.Parallel(int(r.Parallel)))
		}
		if r.ContinueOnError {
			options = append(options, optdestroy.ContinueOnError())
		}
		_, err := s.Destroy(ctx, options...)
		return err
	})
}

// packs puts the recorder last, so that PackConfigs keep the order of Packs.
func (r *Run) packs(op Operation) []string {
	packs := append([]string(nil), r.Packs...)
	if op == OpPreview && r.Recorder != "" {
		packs = append(packs, r.Recorder)
	}
	return packs
}

// packConfigs are the configuration files of packs, one for each if there are any:
// the CLI takes all or none. noConfig stands for a pack without.
func (r *Run) packConfigs(op Operation) []string {
	if len(r.PackConfigs) == 0 {
		return nil
	}
	configs := append([]string(nil), r.PackConfigs...)
	for range len(r.packs(op)) - len(configs) {
		configs = append(configs, filepath.Join(r.Home, noConfig))
	}
	return configs
}

// noConfig is the configuration of a pack that has none, in Home.
const noConfig = "no-policy-config.json"

// operate is what the four operations share.
func (r *Run) operate(ctx context.Context, op Operation, flags []string, call func(context.Context, auto.Stack, chan<- events.EngineEvent) error) (*Result, error) {
	if r.CLI.Path == "" || r.Program == nil {
		return nil, errors.New("engine: Run.CLI (from Find) and Run.Program are required")
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	l, err := r.layout()
	if err != nil {
		return nil, setup(err)
	}
	if !r.held {
		release, err := r.Hold(ctx, op)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	if err := r.prepare(l); err != nil {
		return nil, setup(err)
	}
	show := newDisplay(r.Progress, op)
	if op != OpPreview {
		if err := l.cancelStale(ctx, show.say); err != nil {
			return nil, err
		}
		if err := r.recover(l, show); err != nil {
			return nil, err
		}
	}
	before, err := l.readState()
	if err != nil {
		return nil, err
	}
	if op == OpDestroy && len(flags) == 0 {
		if protected := before.protected(); len(protected) > 0 {
			return nil, &Failure{Operation: op, Stack: r.Stack, Kind: KindProtected, Protected: protected}
		}
	}
	if err := os.WriteFile(filepath.Join(r.Home, noConfig), []byte("{}\n"), 0o644); err != nil {
		return nil, err
	}
	record := l.record()
	if err := errors.Join(os.RemoveAll(record), os.MkdirAll(record, 0o755)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(record)
	attach, stopProviders, err := serveProviders(r.Providers)
	if err != nil {
		return nil, err
	}
	defer stopProviders()

	stop := catchInterrupts(ctx, show.interrupted)
	defer stop.close()
	cmd := &command{cli: r.CLI, flags: flags, stop: stop}
	program := &program{run: r.Program}
	env := r.environment(l, op, attach)
	env[EnvRecord] = record
	// From here on the end of ctx reaches the CLI as an interruption, and nothing else: what
	// serves the CLI must outlive it.
	detached := context.WithoutCancel(ctx)
	stack, err := r.open(detached, l, cmd, env, program.call)
	if err != nil {
		return nil, err
	}
	events := newCollector(op, show, r.OnEvent)
	ch, wait := events.follow()
	opErr := call(detached, stack, ch)
	wait()

	res := events.result()
	res.Operation, res.Project, res.Stack = op, l.project, l.stack
	var failure *Failure
	if opErr != nil {
		failure = r.explain(op, opErr, events, cmd, program)
		if failure.Kind == KindInterrupted {
			failure.Cause = cmp.Or(context.Cause(ctx), context.Canceled)
		}
	}
	// A policy refuses a preview only after the whole program has been seen.
	seenAll := failure == nil || (op == OpPreview && failure.Kind == KindPolicy)
	if err := r.complete(l, res, before, record, seenAll); err != nil {
		return nil, err
	}
	show.end(res)
	if failure != nil {
		return res, failure
	}
	return res, nil
}

// complete adds to res what events do not carry and brings it into its final form.
func (r *Run) complete(l layout, res *Result, before state, record string, ok bool) error {
	after := before
	if res.Operation == OpPreview {
		byURN, recorded, err := readRecord(record)
		if err != nil {
			return fmt.Errorf("what the recorder wrote: %w", err)
		}
		res.addDependencies(byURN)
		res.Complete = ok && recorded
	} else {
		var err error
		if after, err = l.readState(); err != nil {
			return err
		}
		res.Complete = ok
	}
	live, old := after.live(), before.live()
	if res.Operation == OpDestroy {
		// The program runs for its hooks and registers also what does not exist.
		res.Resources = slices.DeleteFunc(res.Resources, func(r Resource) bool { _, existed := old[r.URN]; return !existed })
	}
	for i := range res.Resources {
		now := &res.Resources[i]
		st, known := live[now.URN]
		if now.Op == "delete" || (!known && res.Operation != OpPreview) {
			st, known = old[now.URN]
		}
		if !known || (res.Operation == OpPreview && now.Op != "delete") {
			continue
		}
		now.Dependencies, now.PropertyDependencies = st.Dependencies, st.PropertyDependencies
		if res.Operation == OpUp || res.Operation == OpRefresh {
			now.Outputs = plainMap(st.Outputs)
			if now.Type == "pulumi:pulumi:Stack" {
				res.Outputs = now.Outputs
			}
		}
	}
	res.finish()
	return nil
}

// recover settles what a killed engine left pending.
func (r *Run) recover(l layout, show *display) error {
	st, err := l.readState()
	if err != nil {
		return err
	}
	pending := st.pending()
	if len(pending) == 0 {
		return nil
	}
	landed := map[string]string{}
	for _, p := range pending {
		if p.Kind != "creating" || r.Landed == nil {
			continue
		}
		id, err := r.Landed(p)
		if err != nil {
			return fmt.Errorf("an earlier run was killed while creating %s, and what came of it cannot be found out: %w", p.URN, err)
		}
		if id != "" {
			landed[p.URN] = id
		}
	}
	if err := l.settlePending(landed); err != nil {
		return err
	}
	for _, p := range pending {
		if id := landed[p.URN]; id != "" {
			show.say("An earlier run was killed while creating %s; it exists as %s, and the next update writes it once more.", ShortName(p.URN), id)
			continue
		}
		show.say("An earlier run was killed while %s %s; cleared from the state, this run takes it up again.", p.Kind, ShortName(p.URN))
	}
	return nil
}

// StateFile is the path of the stack's state below Home, for messages and for tests.
func (r *Run) StateFile() (string, error) {
	l, err := r.layout()
	if err != nil {
		return "", err
	}
	return filepath.Clean(l.checkpoint()), nil
}

// Package embedded runs the project against the simulated Azure: the real
// Pulumi engine, this program inline, and the simulator as every provider.
// Nothing outside the machine is read or touched.
package embedded

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
	"onedoor/sim"
	"onedoor/stacks"
)

// Session is one stack of the project over a simulated cloud.
type Session struct {
	Dir       string    // project directory, holds Pulumi.yaml
	StackFile string    // the stack's configuration
	Stack     string    // the stack's name
	Home      string    // where state and caches of the project live, usually Dir/.onedoor
	Cloud     string    // file of the simulated cloud; "" gives the stack one of its own. Stacks that share one must not run at the same time.
	Progress  io.Writer // a person's view; nil means silence

	// Simulate changes how the cloud behaves; Prepare sees it before each operation.
	// Both may be nil.
	Simulate []sim.Option
	Prepare  func(*sim.Cloud)
	// Inspect sees the simulated cloud after each operation; may be nil.
	Inspect func(*sim.Cloud)
	// Kubernetes answers for the cluster in place of the simulator; may be nil.
	Kubernetes pulumirpc.ResourceProviderServer

	// PolicyDir holds the configurations of the policy packs, <pack>.json; "" means
	// Dir/policies/stacks/<stack>. A pack without one has its standard levels.
	PolicyDir string
	// Waivers is the file of waivers; "" means Dir/policies/waivers.yaml. BaseWaivers is
	// that file where the change starts: what the change adds does not count yet, or it
	// would excuse itself. Without it every waiver counts at once.
	Waivers, BaseWaivers string
	// Today is the day on which waivers are judged; zero means today.
	Today time.Time
	// WithoutPolicies leaves the policy packs out, for tests of other things.
	WithoutPolicies bool
	// Rules are packs that judge in place of this program's own; nil means those.
	Rules *Rules
	// SkipCheckpoints writes the state once, at the end of an update. One that is killed
	// then leaves nothing: for tests, and for stacks that are made to be compared with.
	SkipCheckpoints bool
	// UpAlone lets Up neither read back nor preview, ContinueOnError lets Up and Destroy go
	// on with what does not depend on a failure, and Parallel bounds how many resources are
	// worked on at once, 0 not at all: for tests that fail on purpose.
	UpAlone, ContinueOnError bool
	Parallel                 int32
	// Policy is what the packs judged in the last preview or update, nil if they did
	// not see the whole stack.
	Policy *results.Document
}

// Preview plans an update and changes nothing.
func (s *Session) Preview(ctx context.Context) (*engine.Result, error) {
	return s.do(ctx, engine.OpPreview, func(ctx context.Context, run *engine.Run, j judging) (*engine.Result, error) {
		return s.preview(ctx, run, j)
	})
}

// Up reads what exists back, as Pulumi.yaml asks of the official CLI, previews,
// stops if the preview is refused, and then makes what the program declares.
func (s *Session) Up(ctx context.Context) (*engine.Result, error) {
	return s.do(ctx, engine.OpUp, func(ctx context.Context, run *engine.Run, j judging) (*engine.Result, error) {
		run.NoRefresh = true // of what Refresh has just read
		if s.UpAlone {
			return run.Up(ctx)
		}
		known, err := run.ResourceIDs()
		if err != nil {
			return nil, err
		}
		if len(known) > 0 {
			if result, err := run.Refresh(ctx); err != nil {
				return result, err
			}
		}
		if result, err := s.preview(ctx, run, j); err != nil {
			return result, err
		}
		return run.Up(ctx)
	})
}

// Refresh reads every resource back from the simulated cloud into the state.
func (s *Session) Refresh(ctx context.Context) (*engine.Result, error) {
	return s.do(ctx, engine.OpRefresh, func(ctx context.Context, run *engine.Run, _ judging) (*engine.Result, error) {
		return run.Refresh(ctx)
	})
}

// Destroy deletes every resource of the stack. Protected ones make it refuse
// unless ignoreProtect is set.
func (s *Session) Destroy(ctx context.Context, ignoreProtect bool) (*engine.Result, error) {
	return s.do(ctx, engine.OpDestroy, func(ctx context.Context, run *engine.Run, _ judging) (*engine.Result, error) {
		return run.Destroy(ctx, engine.DestroyOptions{IgnoreProtect: ignoreProtect})
	})
}

// Pulumi runs another command of the Pulumi CLI over the stack, such as `import`, against
// the simulated cloud, and returns what it printed.
func (s *Session) Pulumi(ctx context.Context, args ...string) (printed string, err error) {
	_, err = s.do(ctx, engine.Operation(args[0]), func(ctx context.Context, run *engine.Run, _ judging) (*engine.Result, error) {
		printed, err = run.Pulumi(ctx, args...)
		return nil, err
	})
	return printed, err
}

// do reads the stack's configuration, takes the stack, opens the cloud, attaches
// it to an engine and runs one operation. What is wrong with the configuration is
// reported before anything is written, as a *stacks.ConfigError.
func (s *Session) do(ctx context.Context, op engine.Operation, operation func(context.Context, *engine.Run, judging) (*engine.Result, error)) (result *engine.Result, err error) {
	cfg, err := stacks.ParseFile(s.Stack, s.StackFile)
	if err != nil {
		return nil, err
	}
	cli, err := engine.Find(ctx, engine.Options{Progress: s.Progress})
	if err != nil {
		return nil, err
	}
	recorder, err := engine.LinkRecorder(s.Home)
	if err != nil {
		return nil, err
	}
	run := &engine.Run{
		CLI: cli, Dir: s.Dir, StackFile: s.StackFile, Stack: s.Stack, Home: s.Home,
		Recorder: recorder, Progress: s.Progress,
		SkipCheckpoints: s.SkipCheckpoints, ContinueOnError: s.ContinueOnError, Parallel: s.Parallel,
	}
	release, err := run.Hold(ctx, op) // the cloud's file is the stack's too
	if err != nil {
		return nil, err
	}
	defer release()
	cloud, err := sim.Open(s.cloudFile(), s.Simulate...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cloud.Close()) }()
	run.Program = stacks.Program(cloud.Sleep)
	if s.Prepare != nil {
		s.Prepare(cloud)
	}
	run.Landed = func(p engine.PendingOperation) (string, error) {
		return cloud.Landed(p.Type, p.Inputs, cfg.Base.SubscriptionID)
	}
	patches, stop, err := servePatches(cloud)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	run.Providers = append(run.Providers, patches)
	judged, err := s.policies(run)
	if err != nil {
		return nil, err
	}
	servers := cloud.Providers()
	if s.Kubernetes != nil {
		servers[sim.Kubernetes] = s.Kubernetes
	}
	for pkg, server := range servers {
		run.Providers = append(run.Providers, engine.Provider{Package: pkg, Server: server})
	}
	result, err = operation(ctx, run, judged)
	if s.Inspect != nil {
		s.Inspect(cloud)
	}
	s.Policy, err = s.judge(judged, result, err)
	return result, err
}

// cloudFile is where the simulated cloud is kept.
func (s *Session) cloudFile() string {
	if s.Cloud != "" {
		return s.Cloud
	}
	return filepath.Join(s.Home, "azure", s.Stack+".json")
}

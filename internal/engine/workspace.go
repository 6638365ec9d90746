package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// layout is where things lie below Home for one stack.
type layout struct {
	home    string // absolute
	project string
	stack   string
}

func (l layout) work() string   { return filepath.Join(l.home, "work", l.stack) }
func (l layout) state() string  { return filepath.Join(l.home, "state") }
func (l layout) pulumi() string { return filepath.Join(l.home, "pulumi") }
func (l layout) record() string { return filepath.Join(l.home, "record", l.stack) }

// checkpoint is the file backend's file for this stack.
func (l layout) checkpoint() string {
	return filepath.Join(l.state(), ".pulumi", "stacks", l.project, l.stack+".json")
}

// engineLocks is the directory in which the CLI leaves one file per update that runs.
func (l layout) engineLocks() string {
	return filepath.Join(l.state(), ".pulumi", "locks", "organization", l.project, l.stack)
}

// ownLock is the lock of this package: held while an operation runs on the stack.
func (l layout) ownLock() string {
	return filepath.Join(l.home, "locks", l.project+"."+l.stack)
}

// layout checks the stack's name, reads the project's and says where things lie.
func (r *Run) layout() (layout, error) {
	if !stackName.MatchString(r.Stack) {
		return layout{}, fmt.Errorf("stack name %q: wanted letters, digits, '-', '_' and '.', at most 100", r.Stack)
	}
	project, _, err := projectCopy(r.projectFile())
	if errors.Is(err, fs.ErrNotExist) {
		return layout{}, fmt.Errorf("%w; %s is not the directory of a Pulumi project", err, r.Dir)
	}
	if err != nil {
		return layout{}, err
	}
	home, err := filepath.Abs(r.Home)
	if err != nil {
		return layout{}, err
	}
	l := layout{home: home, project: project, stack: r.Stack}
	for _, dir := range []string{l.work(), l.pulumi(), filepath.Dir(l.checkpoint()), filepath.Dir(l.ownLock())} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return layout{}, fmt.Errorf("cannot create %s: %w; give a directory that can be written", dir, err)
		}
	}
	return l, nil
}

func (r *Run) projectFile() string { return filepath.Join(r.Dir, "Pulumi.yaml") }

// prepare writes everything the CLI needs below Home, so that no `stack init` or `stack
// select` has to run: each would cost a process, and init also rewrites the stack file.
func (r *Run) prepare(l layout) error {
	_, projectFile, err := projectCopy(r.projectFile())
	if err != nil {
		return err
	}
	stackFile, err := stackCopy(r.StackFile)
	if err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(l.work(), "Pulumi.yaml"), projectFile),
		writeFile(filepath.Join(l.work(), "Pulumi."+r.Stack+".yaml"), stackFile),
		// Everything below Home is generated.
		writeNew(filepath.Join(l.home, ".gitignore"), []byte("*\n")),
		writeNew(filepath.Join(l.state(), ".pulumi", "meta.yaml"), []byte("version: 1\n")),
		writeNew(l.checkpoint(), emptyCheckpoint(l.project, r.Stack)),
	)
}

// emptyCheckpoint is what `pulumi stack init` leaves for a stack without resources.
func emptyCheckpoint(project, stack string) []byte {
	data, err := json.Marshal(map[string]any{
		"version":    3,
		"checkpoint": map[string]any{"stack": "organization/" + project + "/" + stack},
	})
	if err != nil {
		panic(err) // strings always marshal
	}
	return data
}

// writeFile replaces path in one step, and only if it differs.
func writeFile(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// writeNew writes path unless it exists.
func writeNew(path string, data []byte) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return writeFile(path, data)
}

// backendURL names the file backend. Without side files for metadata, which nothing reads, a
// checkpoint costs a quarter less.
func backendURL(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir), RawQuery: "metadata=skip"}).String()
}

// environment is what the CLI, and through it the packs, see on top of the caller's
// environment, of which nothing that begins with PULUMI_ is passed on.
func (r *Run) environment(l layout, op Operation, providers string) map[string]string {
	env := map[string]string{
		"PULUMI_BACKEND_URL":                            backendURL(l.state()),
		"PULUMI_HOME":                                   l.pulumi(),
		"PULUMI_CONFIG_PASSPHRASE":                      passphrase,
		"PULUMI_DEBUG_PROVIDERS":                        providers,
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION":   "true",
		"PULUMI_SKIP_UPDATE_CHECK":                      "true",
		"PULUMI_DIY_BACKEND_NO_LEGACY_WARNING":          "true",
		"PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
		"PULUMI_SUPPRESS_NEO_LINK":                      "true",
	}
	if op == OpPreview || r.SkipCheckpoints {
		// The engine's snapshots cost quadratic time; a preview keeps none anyway.
		env["PULUMI_SKIP_CHECKPOINTS"] = "true"
	}
	maps.Copy(env, r.Env)
	return env
}

// withoutPulumi drops the variables by which the engine could be sent elsewhere: backends,
// tokens, options, plugin overrides.
func withoutPulumi(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		if !strings.HasPrefix(strings.ToUpper(e), "PULUMI_") {
			out = append(out, e)
		}
	}
	return out
}

// workspace is a LocalWorkspace that spares processes: the stack is known to exist, and its
// outputs are read from the state file.
type workspace struct {
	auto.Workspace
}

// SelectStack does nothing, because every command is given its stack by name.
func (workspace) SelectStack(context.Context, string) error { return nil }

// StackOutputs answers the Automation API's call after an update; Result.Outputs has them.
func (workspace) StackOutputs(context.Context, string) (auto.OutputMap, error) { return nil, nil }

// open returns the Automation API's handle of the stack, without running the CLI.
func (r *Run) open(ctx context.Context, l layout, cmd auto.PulumiCommand, env map[string]string, program programFunc) (auto.Stack, error) {
	ws, err := auto.NewLocalWorkspace(ctx, auto.WorkDir(l.work()), auto.PulumiHome(l.pulumi()),
		auto.Pulumi(cmd), auto.Program(program), auto.EnvVars(env))
	if err != nil {
		return auto.Stack{}, err
	}
	return auto.SelectStack(ctx, r.Stack, workspace{ws})
}

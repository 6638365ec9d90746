package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
)

// simulated heads and ends every screen of the embedded mode.
const simulated = "SIMULATED: no Azure is contacted, nothing in Azure is touched."

// flags are what every operation takes.
type flags struct {
	stack string
	out   string
	home  string
	json  bool
}

// homeOf is where the state of a stack is kept.
func (at screen) homeOf(f *flags, s stack) string {
	if f.home == "" {
		return filepath.Join(s.dir, ".onedoor")
	}
	return at.path(f.home)
}

// screen is where a command runs and what it writes to.
type screen struct {
	dir            string         // where the command was called
	stdout, stderr io.Writer      // results, and everything else
	build          embedded.Build // of the program of another state of the project
}

func newRoot(dir string, stdout, stderr io.Writer) *cobra.Command {
	return screen{dir, stdout, stderr, embedded.GoBuild}.root()
}

// root is the command line.
func (at screen) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "onedoor",
		Short:         "Preview and exercise the platform against a simulated Azure",
		Long:          "onedoor runs this project with the real Pulumi engine against a simulated Azure.\nIt needs no account, no login, no network and no installed Pulumi.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q, see onedoor --help", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(at.stdout)
	root.SetErr(at.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		at.preview(),
		at.up(),
		at.operation("refresh", "Read every resource back into the state", nil, (*embedded.Session).Refresh),
		at.destroy(),
		at.planGPU(),
		at.reach(),
		at.graph(),
		at.reports(),
		at.comment(),
		at.version(),
		at.demo(),
		at.enqueue(),
		at.preflight(),
		at.verify(),
		at.docs(),
		at.completion(),
	)
	at.completeStacks(root)
	return root
}

func (at screen) up() *cobra.Command {
	asBase := false
	return at.operation("up", "Preview, then make what the program declares",
		func(c *cobra.Command) {
			c.Flags().BoolVar(&asBase, "as-base", false, "bring it up to be compared with: without policies, and nothing is kept of a run that is killed")
		},
		func(s *embedded.Session, ctx context.Context) (*engine.Result, error) {
			s.WithoutPolicies, s.SkipCheckpoints = asBase, asBase
			return s.Up(ctx)
		})
}

func (at screen) destroy() *cobra.Command {
	ignoreProtect := false
	return at.operation("destroy", "Delete every resource of the stack",
		func(c *cobra.Command) {
			c.Flags().BoolVar(&ignoreProtect, "ignore-protect", false, "delete protected resources too")
		},
		func(s *embedded.Session, ctx context.Context) (*engine.Result, error) {
			return s.Destroy(ctx, ignoreProtect)
		})
}

// operation is one command that runs the engine. more adds flags of its own.
func (at screen) operation(name, short string, more func(*cobra.Command), do func(*embedded.Session, context.Context) (*engine.Result, error)) *cobra.Command {
	return at.operationWith(&flags{}, name, short, more, do)
}

// operationWith is operation for a caller that reads the flags too.
func (at screen) operationWith(f *flags, name, short string, more func(*cobra.Command), do func(*embedded.Session, context.Context) (*engine.Result, error)) *cobra.Command {
	c := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: fmt.Sprintf("  onedoor %s\n  onedoor %s --stack prod\n  onedoor %s --stack path/to/stack.yaml --json", name, name, name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("onedoor %s takes no arguments, got %q; name the stack with --stack", name, args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := findStack(at.dir, f.stack)
			if err != nil {
				return err
			}
			out := f.out
			if out == "" {
				out = filepath.Join(s.dir, "out")
			}
			fmt.Fprintf(at.stderr, "OneDoor %s of %s. %s\n", name, s.name, simulated)
			session := &embedded.Session{Dir: s.dir, StackFile: s.file, Stack: s.name, Home: at.homeOf(f, s), Progress: at.stderr}
			result, err := do(session, c.Context())
			if err == nil && engine.Operation(name) == engine.OpPreview {
				err = proven(result)
			}
			doc := documentOf(engine.Operation(name), s.name, result, err)
			if session.Policy != nil {
				file, writeErr := embedded.WritePolicy(session.Policy, filepath.Join(out, s.name))
				if writeErr != nil {
					return &engine.SetupError{Err: fmt.Errorf("%w; name another directory with --out", writeErr)}
				}
				doc.Policy = &judged{Profile: session.Policy.Profile, Summary: session.Policy.Summary, Waivers: excusedIn(session.Policy), File: relative(at.dir, file)}
			}
			if err == nil || session.Policy != nil { // a plan that only policies refuse is whole
				file, writeErr := embedded.Write(result, filepath.Join(out, s.name))
				if writeErr != nil {
					return &engine.SetupError{Err: fmt.Errorf("%w; name another directory with --out", writeErr)}
				}
				doc.File = relative(at.dir, file)
			}
			if f.json {
				return errors.Join(err, embedded.Encode(at.stdout, doc))
			}
			if err == nil {
				doc.print(at.stdout)
			}
			return err
		},
	}
	c.Flags().StringVarP(&f.stack, "stack", "s", "dev", "name of a stack, or path of a stack file; state is kept by the name")
	c.Flags().StringVar(&f.out, "out", "", "directory for the files (default: out in the project)")
	c.Flags().StringVar(&f.home, "home", "", "directory for state and caches (default: .onedoor in the project)")
	c.Flags().BoolVar(&f.json, "json", false, "print a summary for machines")
	if more != nil {
		more(c)
	}
	return c
}

// relative is path as seen from dir, or path itself where that is shorter to
// read.
func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

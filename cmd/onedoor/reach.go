package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/internal/reach"
)

// reachFlags are what reach takes.
type reachFlags struct {
	flags
	plan string // file of a recorded preview
	html string // file to write
}

// reach shows who reaches what, and proves that no way leads to a model but
// through its door.
func (at screen) reach() *cobra.Command {
	var f reachFlags
	c := &cobra.Command{
		Use:   "reach",
		Short: "Show who can open a connection to what, and prove the doors",
		Long: "reach computes from the planned resources who can open a connection to what, and which\n" +
			"rule decides. It previews the stack first, or reads the record of a preview.\n" +
			"It ends with 1 when a flow that the platform needs does not connect, or when a model\n" +
			"can be reached by a way that is no door.",
		Example: "  onedoor reach\n  onedoor reach --stack prod --html reach.html\n  onedoor reach --plan out/prod/preview.json --json",
		Args:    noArguments("name the stack with --stack, or a record with --plan"),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.plan != "" && c.Flags().Changed("stack") {
				return errTwoPlans
			}
			report, err := at.judgeReach(c.Context(), &f)
			if err != nil {
				return err
			}
			return at.showReach(f, report)
		},
	}
	c.Flags().StringVarP(&f.stack, "stack", "s", "dev", "name of a stack, or path of a stack file")
	c.Flags().StringVar(&f.plan, "plan", "", "record of a preview, to read instead of a new one")
	c.Flags().StringVar(&f.out, "out", "", "directory for the files (default: out in the project; with --plan none)")
	c.Flags().StringVar(&f.html, "html", "", "file for the matrix as one page")
	c.Flags().BoolVar(&f.json, "json", false, "print the report for machines")
	return c
}

// judgeReach reports on a new preview, or on a record of one.
func (at screen) judgeReach(ctx context.Context, f *reachFlags) (reach.Report, error) {
	name, resources, err := at.planOf(ctx, "reach", &f.flags, f.plan)
	if err != nil {
		return reach.Report{}, err
	}
	return reach.Judge(name, resources), nil
}

// planOf is the plan that command is about: of a record, else of a new preview, for
// which it fills in where files go. It returns the stack's name, too.
func (at screen) planOf(ctx context.Context, command string, f *flags, record string) (string, []reach.Resource, error) {
	if record != "" {
		stack, resources, err := readPlan(at.path(record))
		return stack, planned(resources), err
	}
	s, err := findStack(at.dir, f.stack)
	if err != nil {
		return "", nil, err
	}
	if f.out == "" {
		f.out = filepath.Join(s.dir, "out")
	}
	fmt.Fprintf(at.stderr, "OneDoor %s of %s. %s\n", command, s.name, simulated)
	resources, err := at.declared(ctx, s)
	return s.name, planned(resources), err
}

// declared are the resources of a new preview. A plan that only policies refuse is whole.
func (at screen) declared(ctx context.Context, s stack) ([]engine.Resource, error) {
	session := &embedded.Session{Dir: s.dir, StackFile: s.file, Stack: s.name, Home: filepath.Join(s.dir, ".onedoor"), Progress: at.stderr}
	result, err := session.Preview(ctx)
	if err != nil && (result == nil || !result.Complete) {
		return nil, err
	}
	return result.Resources, nil
}

// planned are the resources as reach reads them.
func planned(resources []engine.Resource) []reach.Resource {
	out := make([]reach.Resource, len(resources))
	for i, r := range resources {
		out[i] = reach.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs}
	}
	return out
}

// proven refuses the plan of a whole preview in which a flow is missing, or a way
// leads to a model that is no door.
func proven(result *engine.Result) error {
	report := reach.Judge(result.Stack, planned(result.Resources))
	if report.OK {
		return nil
	}
	var wrong []error
	for _, finding := range report.Findings {
		if finding.Fails() {
			wrong = append(wrong, errors.New(finding.Text))
		}
	}
	return usageError{fmt.Errorf("%s: the plan is not what it must be (onedoor reach shows all of it):\n%w", result.Stack, errors.Join(wrong...))}
}

// errTwoPlans refuses two answers to the question which plan a command is about.
var errTwoPlans = usageError{errors.New("--plan and --stack: got both, want one; a record says which stack it is of")}

// readPlan reads the stack's name and the resources from the record of a preview.
func readPlan(path string) (string, []engine.Resource, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", nil, usageError{fmt.Errorf("--plan: %w; onedoor preview writes one", err)}
	}
	var record struct {
		Stack     string            `json:"stack"`
		Resources []engine.Resource `json:"resources"`
	}
	if err := json.Unmarshal(raw, &record); err != nil || len(record.Resources) == 0 {
		return "", nil, usageError{fmt.Errorf("--plan: %s is no record of a preview with resources; onedoor preview writes one", path)}
	}
	return record.Stack, record.Resources, nil
}

// showReach writes the report wherever it is wanted. What it finds wrong is a
// refusal.
func (at screen) showReach(f reachFlags, report reach.Report) error {
	var page, record bytes.Buffer
	if err := report.HTML(&page); err != nil {
		return err
	}
	if err := embedded.Encode(&record, report); err != nil {
		return err
	}
	files := map[string][]byte{}
	if f.html != "" {
		files[at.path(f.html)] = page.Bytes()
	}
	if f.out != "" {
		files[filepath.Join(at.path(f.out), report.Stack, "reach.json")] = record.Bytes()
	}
	for file, content := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return &engine.SetupError{Err: fmt.Errorf("%w; name another place with --out or --html", err)}
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return &engine.SetupError{Err: fmt.Errorf("%w; name another place with --out or --html", err)}
		}
	}
	if f.json {
		fmt.Fprint(at.stdout, record.String())
	} else {
		report.Print(at.stdout)
		fmt.Fprintf(at.stdout, "\n%s\n", simulated)
	}
	if !report.OK {
		return usageError{fmt.Errorf("%s: the plan is not what it must be; the findings above say which flow or way, and what decides", report.Stack)}
	}
	return nil
}

// path is a path as given where the command was called.
func (at screen) path(given string) string {
	if filepath.IsAbs(given) {
		return given
	}
	return filepath.Join(at.dir, given)
}

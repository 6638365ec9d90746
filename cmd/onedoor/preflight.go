package main

import (
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/azread"
	"onedoor/internal/engine"
	"onedoor/internal/finding"
	"onedoor/internal/preflight"
)

// incomplete is an error that leaves things unchecked: a plan that cannot be made,
// answers that did not come. Of a mistake it is one all the same.
type incomplete struct{ error }

// Unwrap returns the cause.
func (e incomplete) Unwrap() error { return e.error }

// asked is where preflight and verify ask: Azure, or what stands in for it in tests.
type asked struct {
	azure    func(subscription string) (*azread.Azure, error)
	audience string // of tokens for Azure Resource Manager
}

// realAzure is the public cloud, with the credentials that Azure's SDKs find.
func realAzure() asked {
	return asked{
		azure: func(subscription string) (*azread.Azure, error) {
			credential, err := azidentity.NewDefaultAzureCredential(nil)
			if err != nil {
				return nil, err
			}
			return azread.New(azread.Options{Subscription: subscription, Credential: credential, Cloud: cloud.AzurePublic})
		},
		audience: cloud.AzurePublic.Services[cloud.ResourceManager].Audience,
	}
}

// planFlags say which plan it is about.
type planFlags struct {
	stack, plan string
	json        bool
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.stack, "stack", "s", "dev", "name of a stack, or path of a stack file")
	c.Flags().StringVar(&f.plan, "plan", "", "record of a preview, to read instead of a new one")
	c.Flags().BoolVar(&f.json, "json", false, "print the report for machines")
	// What is wrong with the words is about the real Azure, too.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return incomplete{usageError{err}} })
	none := noArguments("name the stack with --stack, or a record with --plan")
	c.Args = func(c *cobra.Command, args []string) error {
		if err := none(c, args); err != nil {
			return incomplete{err}
		}
		return nil
	}
}

// livePlan is a plan to compare Azure with.
type livePlan struct {
	stack     string
	resources []engine.Resource
	dir       string // of the project, "" for a plan that was read
	file      string // the stack's configuration, "" for a plan that was read
}

// livePlanOf previews the stack offline, or reads the record of a preview.
func (at screen) livePlanOf(c *cobra.Command, f planFlags) (livePlan, error) {
	if f.plan != "" && c.Flags().Changed("stack") {
		return livePlan{}, errTwoPlans
	}
	if f.plan != "" {
		stack, resources, err := readPlan(at.path(f.plan))
		return livePlan{stack: stack, resources: resources}, err
	}
	s, err := findStack(at.dir, f.stack)
	if err != nil {
		return livePlan{}, err
	}
	fmt.Fprintf(at.stderr, "OneDoor %s of %s: previews the stack without Azure first, to know what to ask.\n", c.Name(), s.name)
	resources, err := at.declared(c.Context(), s)
	return livePlan{s.name, resources, s.dir, s.file}, err
}

// ended is what a command that reports ends with.
func ended(r finding.Report) error {
	switch r.ExitCode() {
	case finding.ExitProblems:
		return realError{errors.New(r.Verdict())}
	case finding.ExitIncomplete:
		return incomplete{errors.New(r.Verdict())}
	default:
		return nil
	}
}

// preflight asks Azure what a preview cannot know.
func (at screen) preflight() *cobra.Command { return at.preflightAsking(realAzure()) }

func (at screen) preflightAsking(a asked) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "preflight",
		Short: "Ask Azure, before an update, what a preview cannot know",
		Long: "preflight asks real Azure for quota, names that are reserved, sizes and zones, overlapping\n" +
			"addresses and the rights of whoever deploys. What to ask follows from a preview of the\n" +
			"stack, which it makes first, or from the record of one. It reads and changes nothing.\n\n" +
			"Exit code: 0 when all is well, 1 when something is wrong, 2 when not everything could be\n" +
			"checked, as without a login. docs/preflight has a page for each code.",
		Example: "  onedoor preflight --stack prod\n  onedoor preflight --plan out/prod/preview.json --json",
		RunE: func(c *cobra.Command, _ []string) error {
			report, err := at.runPreflight(c, f, a)
			if err != nil {
				return incomplete{err}
			}
			if f.json {
				return errors.Join(ended(report), embedded.Encode(at.stdout, report))
			}
			report.Print(at.stdout)
			return ended(report)
		},
	}
	f.add(c)
	return c
}

func (at screen) runPreflight(c *cobra.Command, f planFlags, a asked) (finding.Report, error) {
	plan, err := at.livePlanOf(c, f)
	if err != nil {
		return finding.Report{}, err
	}
	planned := make([]preflight.Resource, len(plan.resources))
	for i, r := range plan.resources {
		planned[i] = preflight.Resource{URN: r.URN, Type: r.Type, Inputs: r.Inputs}
	}
	needs, err := preflight.NeedsOf(plan.stack, planned)
	if err != nil {
		return finding.Report{}, err
	}
	azure, err := a.azure(needs.Subscription)
	if err != nil {
		return finding.Report{}, err
	}
	fmt.Fprintf(at.stderr, "Reading Azure subscription %s. Nothing is changed there.\n", needs.Subscription)
	return preflight.Run(c.Context(), needs, preflight.Options{Azure: azure, Audience: a.audience, Progress: at.stderr}), nil
}

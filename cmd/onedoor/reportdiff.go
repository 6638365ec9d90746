package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	reporting "onedoor/internal/report"
)

// reportDiff tells what changed between two runs.
func (at screen) reportDiff() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what changed between two runs of one stack",
		Long: "diff compares two files policy.json: new, fixed and still open failures, new and expired\n" +
			"waivers, coverage that was lost, rules that stop less. It ends with 1 when something is worse:\n" +
			"a new failure, an expired waiver, lost coverage, a loosened rule.",
		Example: "  onedoor report diff main/policy.json out/prod/policy.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{fmt.Errorf("onedoor report diff: got %d files, want the old policy.json and the new one", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := at.readPolicy(args[0])
			if err != nil {
				return err
			}
			after, err := at.readPolicy(args[1])
			if err != nil {
				return err
			}
			difference, err := reporting.Compare(before, after)
			if err != nil {
				return usageError{err}
			}
			if !asJSON {
				difference.Print(at.stdout)
			} else if err := embedded.Encode(at.stdout, difference); err != nil {
				return err
			}
			if difference.Worse {
				return usageError{fmt.Errorf("%s is worse than %s; the changes above say where", args[1], args[0])}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the difference for machines")
	return c
}

package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
)

// reportCollect makes a policy.json of what packs wrote in a run of the official
// command line.
func (at screen) reportCollect() *cobra.Command {
	var f struct {
		stack, out string
		json       bool
	}
	c := &cobra.Command{
		Use:   "collect DIR",
		Short: "Make a policy.json of what packs wrote in a run of Pulumi itself",
		Long: "collect reads the directory that ONEDOOR_RESULTS named while pulumi ran with the policy packs,\n" +
			"applies the project's waivers, and writes policy.json, of live Azure. The hash of a plan is\n" +
			"not known there and stays empty.",
		Example: "  ONEDOOR_RESULTS=judged pulumi up --stack prod --policy-pack policies/batchdoor --policy-pack-config policies/stacks/prod/batchdoor.json --policy-pack policies/platform --policy-pack-config policies/stacks/prod/platform.json\n  onedoor report collect judged --stack prod",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return realError{fmt.Errorf("onedoor report collect: got %d directories, want the one that ONEDOOR_RESULTS named", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := findStack(at.dir, f.stack)
			if err != nil {
				return err
			}
			session := &embedded.Session{Dir: s.dir, StackFile: s.file, Stack: s.name, Progress: at.stderr}
			document, err := session.Collect(at.path(args[0]))
			if err != nil {
				return realError{fmt.Errorf("%s: %w", args[0], err)}
			}
			out := filepath.Join(s.dir, "out")
			if f.out != "" {
				out = at.path(f.out)
			}
			file, err := embedded.WritePolicy(document, filepath.Join(out, s.name))
			if err != nil {
				return &engine.SetupError{Err: fmt.Errorf("%w; name another directory with --out", err)}
			}
			found := &judged{Profile: document.Profile, Summary: document.Summary, File: relative(at.dir, file)}
			if f.json {
				return embedded.Encode(at.stdout, found)
			}
			fmt.Fprintln(at.stdout, found)
			return nil
		},
	}
	c.Flags().StringVarP(&f.stack, "stack", "s", "dev", "name of the stack that was judged, or path of its file")
	c.Flags().StringVar(&f.out, "out", "", "directory for the file (default: out in the project)")
	c.Flags().BoolVar(&f.json, "json", false, "print the summary for machines")
	return c
}

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/services/demo"
)

// follow is the real time between two steps of a demonstration that a person watches: with
// it a run takes three seconds.
const follow = 50 * time.Millisecond

// demo groups the demonstrations.
func (at screen) demo() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the platform at work on this machine",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown demonstration %q, want batch", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(at.demoBatch())
	return c
}

// demoBatch runs batch jobs through the real control plane.
func (at screen) demoBatch() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "batch",
		Short: "Sort 50 tickets of two tenants by batch jobs",
		Long: "demo batch runs the real control plane with local stores before a simulated account, in\n" +
			"virtual time: two tenants upload tickets with OpenAI's own client, wait for their jobs, and\n" +
			"get results, refusals and costs. It also tries to go round the door. Nothing leaves the machine.",
		Example: "  onedoor demo batch\n  onedoor demo batch --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("onedoor demo batch takes no arguments, got %q", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprintf(at.stderr, "OneDoor demo of batch jobs. %s\n", simulated)
			options := demo.Options{Progress: at.stderr, Pause: follow}
			if asJSON {
				options = demo.Options{Progress: io.Discard}
			}
			began := time.Now()
			report, err := demo.Batch(c.Context(), options)
			if err != nil {
				return err
			}
			if asJSON {
				return embedded.Encode(at.stdout, report)
			}
			fmt.Fprintf(at.stderr, "%.1f s of real time\n\n", time.Since(began).Seconds())
			report.Print(at.stdout)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the report for machines, without progress")
	return c
}

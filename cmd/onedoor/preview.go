package main

import (
	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
)

// previewFlags are what preview takes more than other operations.
type previewFlags struct {
	base       string // a commit or a directory
	acceptLoss bool
}

// preview shows what an update of nothing would do, or, with a base, what a change
// does to a stack that the base has made.
func (at screen) preview() *cobra.Command {
	var f flags
	var p previewFlags
	c := at.operationWith(&f, "preview", "Show what an update would do", nil, (*embedded.Session).Preview)
	c.Long = "preview shows what an update would do.\n\n" +
		"With --base it shows what a change does: it brings the stack up as the base declares it,\n" +
		"in a simulated cloud of its own, and plans the working tree over that. It ends with 1 when\n" +
		"something stands against the change: something is lost for good, a mandatory rule fails,\n" +
		"policy results are worse, a way round a door opens."
	c.Example = "  onedoor preview\n  onedoor preview --stack prod\n  onedoor preview --stack path/to/stack.yaml --json\n  onedoor preview --base main\n  onedoor preview --base ../as-it-was --stack prod --accept-loss"
	c.Flags().StringVar(&p.base, "base", "", "commit, or directory of a project, to compare with")
	c.Flags().BoolVar(&p.acceptLoss, "accept-loss", false, "with --base: let a change pass that loses something for good")
	plain := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if p.base == "" {
			return plain(c, args)
		}
		return at.compare(c.Context(), &f, p)
	}
	return c
}

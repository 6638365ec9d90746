package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"onedoor/internal/graph"
)

// graphFlags are what graph takes.
type graphFlags struct {
	stack string
	plan  string // file of a recorded preview
	out   string
}

// graph draws the platform of a stack.
func (at screen) graph() *cobra.Command {
	var f graphFlags
	c := &cobra.Command{
		Use:   "graph",
		Short: "Draw the platform of a stack",
		Long: "graph draws the platform that a stack plans: who calls, the doors, the walls, the models and\n" +
			"the flows between them, each as reach judges it. It previews the stack first, or reads the\n" +
			"record of a preview. It writes graph.svg, graph-narrow.svg for small screens, and graph.html,\n" +
			"which shows either, and says it in words. None of them fetches anything.",
		Example: "  onedoor graph\n  onedoor graph --stack prod --out pictures\n  onedoor graph --plan out/prod/preview.json",
		Args:    noArguments("name the stack with --stack, or a record with --plan"),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.plan != "" && c.Flags().Changed("stack") {
				return errTwoPlans
			}
			of := flags{stack: f.stack, out: f.out}
			stack, resources, err := at.planOf(c.Context(), "graph", &of, f.plan)
			if err != nil {
				return err
			}
			if of.out == "" {
				of.out = "out"
			}
			g, files := graph.Of(stack, resources), map[string][]byte{}
			for name, draw := range map[string]func(io.Writer) error{"graph.svg": g.SVG, "graph-narrow.svg": g.NarrowSVG, "graph.html": g.HTML} {
				var b bytes.Buffer
				if err := draw(&b); err != nil {
					return err
				}
				files[filepath.Join(at.path(of.out), stack, name)] = b.Bytes()
			}
			if err := writeFiles(files); err != nil {
				return err
			}
			page := relative(at.dir, filepath.Join(at.path(of.out), stack, "graph.html"))
			fmt.Fprintf(at.stdout, "%s\nThe picture: %s\nThe same for documents: graph.svg and graph-narrow.svg beside it\n%s\n", g.Summary(), page, simulated)
			if !g.OK {
				return usageError{fmt.Errorf("%s: the plan is not what it must be, and the picture says so; onedoor reach names what decides", stack)}
			}
			return nil
		},
	}
	c.Flags().StringVarP(&f.stack, "stack", "s", "dev", "name of a stack, or path of a stack file")
	c.Flags().StringVar(&f.plan, "plan", "", "record of a preview, to read instead of a new one")
	c.Flags().StringVar(&f.out, "out", "", "directory for the files (default: out in the project; with --plan, out where it is called)")
	return c
}

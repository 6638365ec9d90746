package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells are those that completions are written for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

// completion writes the completions of a shell.
func (at screen) completion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write completions for bash, zsh, fish or powershell",
		Long: "completion writes what a shell reads to complete commands, flags and the names of stacks.\n" +
			"Completions are for a command called onedoor, which go build -o makes: go run has none.",
		Example:   "  source <(onedoor completion bash)\n  onedoor completion zsh > \"${fpath[1]}/_onedoor\"\n  onedoor completion fish > ~/.config/fish/completions/onedoor.fish",
		ValidArgs: shells,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError{fmt.Errorf("onedoor completion: got %q, want one of %s", args, strings.Join(shells, ", "))}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(at.stdout, true)
			case "zsh":
				return root.GenZshCompletion(at.stdout)
			case "fish":
				return root.GenFishCompletion(at.stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(at.stdout)
			}
		},
	}
}

// completeStacks lets every flag --stack below c complete the names of the project's
// stacks. Files stay possible: a stack may be named by its path.
func (at screen) completeStacks(c *cobra.Command) {
	if c.Flags().Lookup("stack") != nil {
		names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			project, err := findProject(at.dir)
			if err != nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return stacksOf(project), cobra.ShellCompDirectiveDefault
		}
		if err := c.RegisterFlagCompletionFunc("stack", names); err != nil { // only a missing flag can do this
			panic(err)
		}
	}
	for _, sub := range c.Commands() {
		at.completeStacks(sub)
	}
}

// noArguments refuses words that are no flags; instead says what was probably meant.
func noArguments(instead string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageError{fmt.Errorf("%s takes no arguments, got %q; %s", c.CommandPath(), args, instead)}
		}
		return nil
	}
}

package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
)

// built says what an executable was built from. What is not known is "unknown": go
// run stamps no commit.
type built struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Dirty   bool   `json:"dirty"` // files differed from the commit
	Go      string `json:"go"`
	Pulumi  string `json:"pulumi"` // version of the engine's module
	Azure   string `json:"azure"`  // version of the azure-native module
}

// version says what this executable was built from.
func (at screen) version() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:     "version",
		Short:   "Show what this program was built from",
		Example: "  onedoor version\n  onedoor version --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("onedoor version takes no arguments, got %q", args)}
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			b := builtFrom(info)
			if asJSON {
				return embedded.Encode(at.stdout, b)
			}
			dirty := ""
			if b.Dirty {
				dirty = ", with changes"
			}
			fmt.Fprintf(at.stdout, "onedoor %s (commit %s%s)\n%s, Pulumi %s, azure-native %s\n", b.Version, b.Commit, dirty, b.Go, b.Pulumi, b.Azure)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it for machines")
	return c
}

// builtFrom reads what the toolchain stamped.
func builtFrom(info *debug.BuildInfo) built {
	const unknown = "unknown"
	b := built{unknown, unknown, false, runtime.Version(), unknown, unknown}
	if info == nil {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, unknown)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	for _, dep := range info.Deps {
		switch dep.Path {
		case "github.com/pulumi/pulumi/sdk/v3":
			b.Pulumi = dep.Version
		case "github.com/pulumi/pulumi-azure-native-sdk/v2":
			b.Azure = dep.Version
		}
	}
	return b
}

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/policypack"
	"onedoor/internal/waiver"
)

// waiverFlags are what report waivers takes.
type waiverFlags struct {
	file, base string
	today      string
	configs    map[string]string // pack -> configuration file
	out        string
	json       bool
}

// reportWaivers tells what each waiver is worth for a run, and compiles those
// that count for the official CLI.
func (at screen) reportWaivers() *cobra.Command {
	var f waiverFlags
	c := &cobra.Command{
		Use:   "waivers FILE",
		Short: "Judge the waivers for a run, and compile them for the Pulumi CLI",
		Long: "waivers reads the waivers and the policy.json of a run. It ends with 1 when a waiver is expired,\n" +
			"unapproved, approved by its owner, or excuses what does not fail.\n" +
			"With --config it writes the configuration of a policy pack with the engine's exceptions.",
		Example: "  onedoor report waivers out/prod/policy.json --base base/waivers.yaml\n" +
			"  onedoor report waivers out/prod/policy.json --config platform=policies/platform/profiles/strict.json --out out/prod\n" +
			"  pulumi preview -s prod --policy-pack policies/platform --policy-pack-config out/prod/platform.json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("onedoor report waivers: got %d files, want one policy.json", len(args))}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return at.judgeWaivers(f, args[0]) },
	}
	c.Flags().StringVar(&f.file, "waivers", filepath.Join("policies", "waivers.yaml"), "file of the waivers")
	c.Flags().StringVar(&f.base, "base", "", "file of the waivers where the change starts; without it, new ones count at once")
	c.Flags().StringVar(&f.today, "today", "", "the day, as 2026-11-29 (default: today in UTC)")
	c.Flags().StringToStringVar(&f.configs, "config", nil, "PACK=FILE, its configuration without exceptions")
	c.Flags().StringVar(&f.out, "out", "", "directory for PACK.json of each --config")
	c.Flags().BoolVar(&f.json, "json", false, "print the verdicts for machines")
	return c
}

// verdict is what is said of one waiver.
type verdict struct {
	ID      string           `json:"id"`
	Status  waiver.Status    `json:"status"`
	Counts  bool             `json:"counts"`
	Expires string           `json:"expires"`
	Text    string           `json:"text,omitempty"`
	Covers  []waiver.Failure `json:"covers"`
}

func (at screen) judgeWaivers(f waiverFlags, path string) error {
	if (len(f.configs) > 0) != (f.out != "") {
		return usageError{fmt.Errorf("--config and --out: got one, want both or none; --out is where the compiled configurations go")}
	}
	d, err := at.readPolicy(path)
	if err != nil {
		return err
	}
	run := waiver.Run{Project: d.Subject.Project, Stack: d.Subject.Stack, Failures: waiver.FailuresOf(d), Today: time.Now()}
	if f.today != "" {
		if run.Today, err = time.Parse(time.DateOnly, f.today); err != nil {
			return usageError{fmt.Errorf("--today: got %q, want a day as 2026-11-29", f.today)}
		}
	}
	rules := map[string][]string{} // by pack
	var all []string
	for _, pack := range embedded.Packs() {
		for _, rule := range pack.Rules {
			rules[pack.Name] = append(rules[pack.Name], rule.ID)
		}
		all = append(all, rules[pack.Name]...)
	}
	file, err := at.readWaivers(f.file, all)
	if err != nil {
		return err
	}
	if f.base != "" {
		base, err := at.readWaivers(f.base, nil)
		if err != nil {
			return err
		}
		run.Base = &base
	}
	review := file.Review(run)
	if err := at.compileWaivers(f, review, rules); err != nil {
		return err
	}
	if err := at.showWaivers(f.json, review); err != nil {
		return err
	}
	if err := review.Err(); err != nil {
		return usageError{err}
	}
	return nil
}

func (at screen) readWaivers(path string, rules []string) (waiver.File, error) {
	raw, err := os.ReadFile(at.path(path))
	if err != nil {
		return waiver.File{}, usageError{fmt.Errorf("%w; want a file of waivers", err)}
	}
	file, err := waiver.Parse(raw, rules)
	if err != nil {
		return waiver.File{}, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return file, nil
}

// compileWaivers writes the configuration of each pack, with the exceptions.
func (at screen) compileWaivers(f waiverFlags, review waiver.Review, rules map[string][]string) error {
	files := map[string][]byte{}
	for _, pack := range slices.Sorted(maps.Keys(f.configs)) {
		if len(rules[pack]) == 0 {
			return usageError{fmt.Errorf("--config: got pack %q, want %s", pack, strings.Join(packNames(embedded.Packs()), " or "))}
		}
		raw, err := os.ReadFile(at.path(f.configs[pack]))
		if err != nil {
			return usageError{fmt.Errorf("--config: %w; a profile of the pack is one", err)}
		}
		compiled, err := review.Compile(raw, rules[pack])
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", f.configs[pack], err)}
		}
		files[filepath.Join(at.path(f.out), pack+".json")] = compiled
	}
	return writeFiles(files)
}

func packNames(packs []policypack.Pack) []string {
	var out []string
	for _, pack := range packs {
		out = append(out, pack.Name)
	}
	return out
}

func (at screen) showWaivers(asJSON bool, review waiver.Review) error {
	verdicts := []verdict{}
	for _, v := range review {
		verdicts = append(verdicts, verdict{v.ID, v.Status, v.Counts(), v.Expires.Format(time.DateOnly), v.Text, append([]waiver.Failure{}, v.Covers...)})
	}
	if asJSON {
		return embedded.Encode(at.stdout, struct {
			Waivers []verdict `json:"waivers"`
		}{verdicts})
	}
	for _, v := range verdicts {
		fmt.Fprintf(at.stdout, "%s: %s until %s, covers %d", v.ID, v.Status, v.Expires, len(v.Covers))
		if v.Text != "" {
			fmt.Fprintf(at.stdout, "; %s", v.Text)
		}
		fmt.Fprintln(at.stdout)
	}
	if len(verdicts) == 0 {
		fmt.Fprintln(at.stdout, "No waivers.")
	}
	return nil
}

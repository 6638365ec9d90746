package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	reporting "onedoor/internal/report"
)

// reportFlags are what report takes.
type reportFlags struct {
	out  string // directory; "" for beside each file
	at   string // RFC 3339
	json bool
}

// reports makes the reports of results that policy packs gave.
func (at screen) reports() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report FILE...",
		Short: "Write what policy packs judged as SARIF, JUnit, Markdown, HTML and OSCAL",
		Long: "report reads policy.json of one or more runs and writes report.sarif, report.junit.xml,\n" +
			"report.md, report.html and report.oscal.json. It judges nothing: it ends with 0 also when\n" +
			"rules fail, since a failed run is what needs a report.",
		Example: "  onedoor report out/prod/policy.json\n  onedoor report out/*/policy.json --out reports --at 2026-11-29T12:00:00Z",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("onedoor report: got no file, want one policy.json or more")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return at.writeReports(f, args) },
	}
	c.Flags().StringVar(&f.out, "out", "", "directory; each stack has one in it (default: beside each file)")
	c.Flags().StringVar(&f.at, "at", "", "when the packs judged, as 2026-11-29T12:00:00Z (default: now); OSCAL demands it")
	c.Flags().BoolVar(&f.json, "json", false, "print what was written for machines")
	c.AddCommand(at.reportCollect(), at.reportDiff(), at.reportWaivers())
	return c
}

// written is what report says of one run.
type written struct {
	Subject results.Subject `json:"subject"`
	Summary results.Summary `json:"summary"`
	Files   []string        `json:"files"`
}

// writeReports reads everything before it writes anything.
func (at screen) writeReports(f reportFlags, paths []string) error {
	collected := time.Now()
	if f.at != "" {
		var err error
		if collected, err = time.Parse(time.RFC3339, f.at); err != nil {
			return usageError{fmt.Errorf("--at: got %q, want a time as 2026-11-29T12:00:00Z", f.at)}
		}
	}
	catalog, err := catalogue()
	if err != nil {
		return err
	}
	var all []written
	files := map[string][]byte{}
	for _, path := range paths {
		d, err := at.readPolicy(path)
		if err != nil {
			return err
		}
		dir := filepath.Dir(at.path(path))
		if f.out != "" {
			dir = filepath.Join(at.path(f.out), d.Subject.Stack)
		}
		w := written{Subject: d.Subject, Summary: d.Summary}
		made, err := reportsOf(d, catalog, collected)
		if err != nil {
			return err
		}
		for _, one := range made {
			file := filepath.Join(dir, one.name)
			if _, twice := files[file]; twice {
				return usageError{fmt.Errorf("%s: a second run of stack %q, whose reports would replace those of the first; report one at a time", path, d.Subject.Stack)}
			}
			files[file] = one.content
			w.Files = append(w.Files, relative(at.dir, file))
		}
		all = append(all, w)
	}
	if err := writeFiles(files); err != nil {
		return err
	}
	if f.json {
		return embedded.Encode(at.stdout, struct {
			Reports []written `json:"reports"`
		}{all})
	}
	for _, w := range all {
		fmt.Fprintf(at.stdout, "%s/%s: %d fail (%d of mandatory rules), %d waived, %d not checked, %d pass\n", w.Subject.Project, w.Subject.Stack,
			w.Summary.Fail, w.Summary.Blocking, w.Summary.Waived, w.Summary.NotChecked, w.Summary.Pass)
		fmt.Fprintf(at.stdout, "  %s\n", strings.Join(w.Files, "\n  "))
	}
	return nil
}

// reportFile is one report.
type reportFile struct {
	name    string
	content []byte
}

// reportsOf are all reports of a document.
func reportsOf(d results.Document, c reporting.Catalog, at time.Time) ([]reportFile, error) {
	out := []reportFile{{"report.md", reporting.Markdown(d, c)}}
	for _, format := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"report.sarif", func() ([]byte, error) { return reporting.SARIF(d, c) }},
		{"report.junit.xml", func() ([]byte, error) { return reporting.JUnit(d, c) }},
		{"report.html", func() ([]byte, error) { return reporting.HTML(d, c) }},
		{"report.oscal.json", func() ([]byte, error) { return reporting.OSCAL(d, c, at) }},
	} {
		content, err := format.make()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", format.name, err)
		}
		out = append(out, reportFile{format.name, content})
	}
	return out, nil
}

// catalogue is that of the packs in this executable.
func catalogue() (reporting.Catalog, error) {
	raw, err := policypack.Catalog(embedded.Packs()...)
	if err != nil {
		return nil, err
	}
	return reporting.ParseCatalog(raw)
}

// readPolicy reads a policy.json. One without results is of no run.
func (at screen) readPolicy(path string) (results.Document, error) {
	raw, err := os.ReadFile(at.path(path))
	if err != nil {
		return results.Document{}, usageError{fmt.Errorf("%w; want a policy.json", err)}
	}
	var d results.Document
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return results.Document{}, usageError{fmt.Errorf("%s: got %w, want a policy.json", path, err)}
	}
	if len(d.Packs) == 0 || len(d.Results) == 0 || d.Subject.Stack == "" {
		return results.Document{}, usageError{fmt.Errorf("%s: got %d packs and %d results of stack %q, want those of a run: silence is not a pass", path, len(d.Packs), len(d.Results), d.Subject.Stack)}
	}
	return d, nil
}

// writeFiles writes files, and the directories that they need.
func writeFiles(files map[string][]byte) error {
	for file, content := range files {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, content, 0o644)
		}
		if err != nil {
			return &engine.SetupError{Err: fmt.Errorf("%w; name another directory with --out", err)}
		}
	}
	return nil
}

package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Run is what one pack judged in its last run.
type Run struct {
	Pack       Pack
	Profile    string
	Rules      []Rule
	Judgements []Judgement // sorted
	Complete   bool        // the pack saw the whole stack and every line arrived
}

// maxLine bounds a line; a judgement's evidence is far below.
const maxLine = 1 << 20

// Read reads the last run of every pack that wrote to dir, sorted by pack. That
// nothing was written, that a pack had no rules or did not come to its end are
// errors: silence is not a pass.
func Read(dir string) ([]Run, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no results of policy packs in %s: no pack ran, or %s was not handed to it", dir, EnvDir)
	}
	slices.Sort(files)
	var runs []Run
	var wrong []error
	for _, file := range files {
		run, err := readFile(file)
		if err == nil {
			err = run.check()
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", filepath.Base(file), err))
			continue
		}
		runs = append(runs, run)
	}
	return runs, errors.Join(wrong...)
}

func readFile(file string) (run Run, err error) {
	f, err := os.Open(file)
	if err != nil {
		return run, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	started := false
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return run, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case l.Kind == kindPack && l.Pack != nil:
			run, started = Run{Pack: *l.Pack, Profile: l.Profile, Rules: l.Rules}, true
		case !started:
			return run, fmt.Errorf("line %d: want the line of the pack first", n)
		case l.Kind == kindJudgement && l.Judgement != nil:
			run.Judgements = append(run.Judgements, *l.Judgement)
		case l.Kind == kindEnd:
			if l.Judged != len(run.Judgements) {
				return run, fmt.Errorf("line %d: the pack wrote %d judgements, %d are here", n, l.Judged, len(run.Judgements))
			}
			run.Complete = true
		default:
			return run, fmt.Errorf("line %d: unknown kind %q", n, l.Kind)
		}
	}
	slices.SortFunc(run.Judgements, compareJudgements)
	return run, lines.Err()
}

func compareJudgements(a, b Judgement) int {
	for _, c := range []int{
		strings.Compare(a.Rule, b.Rule), strings.Compare(a.URN, b.URN), strings.Compare(string(a.State), string(b.State)),
		strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// check finds what makes the run worthless.
func (r Run) check() error {
	switch {
	case len(r.Rules) == 0:
		return errors.New("the pack had no rules")
	case !r.Complete:
		return errors.New("the pack did not come to its end: the summary is missing")
	}
	judged := map[string]bool{}
	for _, j := range r.Judgements {
		judged[j.Rule] = true
	}
	for _, rule := range r.Rules {
		if !judged[rule.ID] {
			return fmt.Errorf("rule %s said nothing, not even that it does not apply", rule.ID)
		}
	}
	return nil
}

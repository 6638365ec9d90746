package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"onedoor/cmd/embedded"
	"onedoor/internal/bill"
	"onedoor/internal/change"
	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
	"onedoor/internal/reach"
	reporting "onedoor/internal/report"
	"onedoor/sim"
)

// compare reports on a change: the base is brought up in a simulated cloud, and the
// working tree planned over it; both are judged by their own packs, and the working
// tree by those of the base too.
func (at screen) compare(ctx context.Context, f *flags, p previewFlags) error {
	s, err := findStack(at.dir, f.stack)
	if err != nil {
		return err
	}
	out := filepath.Join(cmp.Or(f.out, filepath.Join(s.dir, "out")), s.name)
	fmt.Fprintf(at.stderr, "OneDoor preview of a change to %s. %s\n", s.name, simulated)
	name := p.base
	if info, err := os.Stat(at.path(name)); err == nil && info.IsDir() {
		name = at.path(name)
	}
	home := filepath.Join(at.homeOf(f, s), "base")
	base, err := embedded.OpenBase(ctx, s.dir, name, home, at.build, at.stderr)
	if err != nil {
		return err
	}
	defer base.Close()
	was, err := at.bringUp(ctx, base, s, filepath.Join(home, s.name))
	if err != nil {
		return err
	}
	report, policy, err := at.judgeChange(ctx, s, base, was)
	if err != nil {
		return err
	}
	if _, err := embedded.WritePolicy(policy, out); err != nil {
		return &engine.SetupError{Err: fmt.Errorf("%w; name another directory with --out", err)}
	}
	report.Base.Name = p.base
	report.Judge(p.acceptLoss)
	file, err := writeChange(report, out, at.dir)
	if err != nil {
		return err
	}
	if f.json {
		if err := embedded.Encode(at.stdout, report); err != nil {
			return err
		}
	} else {
		report.Print(at.stdout)
		fmt.Fprintf(at.stdout, "\nAll of it: %s\n%s\n", file, simulated)
	}
	if !report.OK {
		return usageError{fmt.Errorf("%s: %d things stand against the change", s.name, len(report.Refusals))}
	}
	return nil
}

// standing is a stack that the base has brought up.
type standing struct {
	state string // home of what stands
	plan  string // home without anything, for plans that are compared with one another

	resources []engine.Resource // as the base plans them from nothing
	policy    results.Document
	configs   map[string]string // of the base's packs
}

// bringUp judges the stack of the base and makes it, in home, which it clears. A base
// that lacks the stack has made nothing.
//
// Policies are compared on plans from nothing: an update knows more of what it
// leaves alone than of what it changes, and the difference would look like one of
// the rules.
func (at screen) bringUp(ctx context.Context, base *embedded.Base, s stack, home string) (standing, error) {
	was := standing{state: filepath.Join(home, "state"), plan: filepath.Join(home, "plan"), configs: map[string]string{}}
	if err := os.RemoveAll(home); err != nil {
		return was, err
	}
	file := s.file
	if rel, err := filepath.Rel(s.dir, s.file); err == nil && filepath.IsLocal(rel) {
		file = filepath.Join(base.Dir, rel)
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(at.stderr, "%s has no stack %s: all of it is new.\n", base.Name, s.name)
		return was, nil
	}
	word := file // a path outside the base's directory names a stack by its file
	if filepath.Dir(file) == base.Dir {
		word = s.name
	}
	out := filepath.Join(home, "out")
	fmt.Fprintf(at.stderr, "Judging %s as %s has it, by its own rules.\n", s.name, base.Name)
	refused := base.Run(ctx, at.stderr, "preview", "--stack", word, "--home", was.plan, "--out", out)
	var err error
	if was.resources, err = readRecord(filepath.Join(out, s.name, "preview.json")); err != nil { // a base that its packs refuse has a record too
		return was, errors.Join(refused, err)
	}
	if was.policy, err = at.readPolicy(filepath.Join(out, s.name, "policy.json")); err != nil {
		return was, errors.Join(refused, err)
	}
	if err := was.keepConfigs(base, s); err != nil {
		return was, err
	}
	fmt.Fprintf(at.stderr, "Bringing it up.\n")
	return was, base.Run(ctx, at.stderr, "up", "--stack", word, "--home", was.state, "--out", out, "--as-base")
}

// keepConfigs finds the configurations that the base's packs had, and puts those
// that they made themselves where the next preview does not remove them.
func (w *standing) keepConfigs(base *embedded.Base, s stack) error {
	for _, pack := range w.policy.Packs {
		own := filepath.Join(base.Dir, "policies", "stacks", s.name, pack.Name+".json")
		raw, err := os.ReadFile(own)
		if errors.Is(err, fs.ErrNotExist) {
			raw, err = os.ReadFile(filepath.Join(w.plan, "judged", s.name, pack.Name+".config.json"))
		}
		if err != nil {
			return fmt.Errorf("configuration of the base's pack %s: %w", pack.Name, err)
		}
		kept := filepath.Join(filepath.Dir(w.plan), "rules", pack.Name+".json")
		if err := writeFiles(map[string][]byte{kept: raw}); err != nil {
			return err
		}
		w.configs[pack.Name] = kept
	}
	return nil
}

// judgeChange plans the working tree over what stands, and compares. It returns what
// the working tree's own packs judged, too.
func (at screen) judgeChange(ctx context.Context, s stack, base *embedded.Base, was standing) (*change.Report, *results.Document, error) {
	session := func(home string) *embedded.Session {
		return &embedded.Session{Dir: s.dir, StackFile: s.file, Stack: s.name, Home: home, Progress: at.stderr,
			BaseWaivers: filepath.Join(base.Dir, "policies", "waivers.yaml"), // a change does not excuse itself
		}
	}
	judge := func(rules *embedded.Rules) (*engine.Result, *results.Document, error) {
		judging := session(was.plan)
		judging.Rules = rules
		result, err := judging.Preview(ctx)
		if judging.Policy == nil { // a plan that only policies refuse is whole, and judged
			return nil, nil, err
		}
		return result, judging.Policy, nil
	}
	fmt.Fprintln(at.stderr, "Judging the change by its own rules.")
	after, policy, err := judge(nil)
	if err != nil {
		return nil, nil, err
	}
	onlyBase := []results.Result{}
	if len(was.configs) > 0 {
		fmt.Fprintln(at.stderr, "Judging the change by the rules of the base.")
		_, judged, err := judge(base.Rules(was.configs))
		if err != nil {
			return nil, nil, err
		}
		onlyBase = change.OnlyBase(was.policy, *judged, *policy)
	}
	fmt.Fprintln(at.stderr, "Planning the change over what stands.")
	planning := session(was.state)
	planning.WithoutPolicies = true
	update, err := planning.Preview(ctx)
	if err != nil {
		return nil, nil, err
	}
	was.policy.Subject.Project, was.policy.Subject.Stack, was.policy.Subject.Simulated = update.Project, s.name, true
	was.policy.Subject.Commit, was.policy.Subject.Dirty = base.Commit, base.Dirty
	difference, err := reporting.Compare(was.policy, *policy)
	if err != nil {
		return nil, nil, err
	}
	table, err := prices.Load()
	if err != nil {
		return nil, nil, err
	}
	reachBefore, reachAfter := reach.Judge(s.name, planned(was.resources)), reach.Judge(s.name, planned(after.Resources))
	head := change.Revision{Name: "the working tree"}
	head.Commit, head.Dirty = embedded.Commit(s.dir)
	return &change.Report{
		Project: update.Project, Stack: s.name, Simulated: true,
		Base: change.Revision{Name: base.Name, Commit: base.Commit, Dirty: base.Dirty}, Head: head,
		Changes: change.Of(update.Resources),
		Policy:  difference, Blocking: policy.Summary.Blocking, OnlyBase: onlyBase,
		Reach: reach.Compare(reachBefore.Matrix, reachAfter.Matrix), Findings: reachAfter.Findings,
		Capacity: change.Capacity(was.resources, after.Resources),
		Bill:     change.Bills{Before: billOf(was.resources, table), After: billOf(after.Resources, table)},
		Duration: change.Critical(update.Resources, took),
	}, policy, nil
}

// took is how long Azure takes for one operation.
func took(r engine.Resource) time.Duration {
	return sim.Took(r.Type, r.Inputs, r.Op != "update")
}

func billOf(resources []engine.Resource, table *prices.Table) bill.Bill {
	var priced []bill.Resource
	for _, r := range resources {
		priced = append(priced, bill.Resource{URN: r.URN, Kind: r.Kind(), Inputs: propvalue.OfRecord(r.Inputs)})
	}
	return bill.Of(priced, table)
}

// readRecord reads the resources of a preview's record.
func readRecord(path string) ([]engine.Resource, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var record struct {
		Resources []engine.Resource `json:"resources"`
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return record.Resources, nil
}

// writeChange writes the report for machines and as a comment, and returns where the
// former is, as seen from dir.
func writeChange(r *change.Report, out, dir string) (string, error) {
	file := filepath.Join(out, "change.json")
	var record bytes.Buffer
	if err := embedded.Encode(&record, r); err != nil {
		return "", err
	}
	shown := relative(dir, file)
	return shown, writeFiles(map[string][]byte{file: record.Bytes(), filepath.Join(out, "change.md"): []byte(r.Markdown(filepath.ToSlash(shown)))})
}

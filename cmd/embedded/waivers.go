package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	"onedoor/internal/waiver"
)

// waivers are the waivers of a session, as its files say.
type waivers struct {
	file waiver.File
	base *waiver.File // nil lets every waiver count at once
}

// readWaivers reads the files of waivers, so that what is wrong in them is said
// before anything runs. A project without a file has no waivers.
func (s *Session) readWaivers() (waivers, error) {
	rules := []string{}
	if s.Rules == nil { // packs of another build say their rules when they ran
		for _, pack := range Packs() {
			for _, rule := range pack.Rules {
				rules = append(rules, rule.ID)
			}
		}
	}
	var w waivers
	var err error
	if w.file, err = parseWaivers(cmp.Or(s.Waivers, filepath.Join(s.Dir, "policies", "waivers.yaml")), rules); err != nil {
		return w, err
	}
	if s.BaseWaivers != "" {
		base, err := parseWaivers(s.BaseWaivers, nil)
		if err != nil {
			return w, err
		}
		w.base = &base
	}
	return w, nil
}

func parseWaivers(path string, rules []string) (waiver.File, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return waiver.File{}, nil
	}
	if err != nil {
		return waiver.File{}, &engine.SetupError{Err: err}
	}
	file, err := waiver.Parse(raw, rules)
	if err != nil {
		return waiver.File{}, &engine.SetupError{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return file, nil
}

// review tells what each waiver is worth for what the packs judged.
func (s *Session) review(w waivers, project string, runs []results.Run) waiver.Review {
	today := s.Today
	if today.IsZero() {
		today = time.Now()
	}
	return w.file.Review(waiver.Run{Project: project, Stack: s.Stack, Failures: waiver.FailuresIn(runs), Today: today, Base: w.base})
}

// preview plans an update. The engine excuses resources by their exact names alone,
// so what waivers excuse is known only when the packs have judged the plan: one that
// they refuse is planned again without what is excused.
func (s *Session) preview(ctx context.Context, run *engine.Run, j judging) (*engine.Result, error) {
	result, err := run.Preview(ctx)
	if j.dir == "" || !refused(err) {
		return result, err
	}
	runs, readErr := results.Read(j.dir)
	if readErr != nil {
		return result, errors.Join(err, readErr)
	}
	review := s.review(j.waivers, result.Project, runs)
	if !review.Excuses() {
		return result, err
	}
	if s.Progress != nil {
		fmt.Fprintln(s.Progress, "Some of what is refused is waived: planning again without it.")
	}
	for _, pack := range runs {
		i := slices.Index(j.packs, pack.Pack.Name)
		if run.PackConfigs[i], err = excused(j.dir, run.PackConfigs[i], pack, review); err != nil {
			return result, err
		}
	}
	return run.Preview(ctx)
}

// excused writes the configuration of a pack with what waivers excuse.
func excused(dir, config string, pack results.Run, review waiver.Review) (string, error) {
	raw, err := os.ReadFile(config)
	if err != nil {
		return "", err
	}
	var rules []string
	for _, rule := range pack.Rules {
		rules = append(rules, rule.ID)
	}
	compiled, err := review.Compile(raw, rules)
	if err != nil {
		return "", &engine.SetupError{Err: fmt.Errorf("%s: %w", config, err)}
	}
	path := filepath.Join(dir, pack.Pack.Name+".excused.json")
	return path, os.WriteFile(path, compiled, 0o644)
}

// tell says which waivers of the stack do not count, or not for long.
func (s *Session) tell(review waiver.Review) {
	for _, v := range review {
		if s.Progress != nil && v.Text != "" && (len(v.Covers) > 0 || v.Status == waiver.Orphan) {
			fmt.Fprintf(s.Progress, "waiver %s is %s: %s\n", v.ID, v.Status, v.Text)
		}
	}
}

// Packs are the policy packs that judge every preview and update, with their default
// settings.
func Packs() []policypack.Pack {
	out := make([]policypack.Pack, len(packs))
	for i, make := range packs {
		out[i] = make()
	}
	return out
}

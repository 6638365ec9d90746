package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"

	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	batchdoor "onedoor/policies/batchdoor/rules"
	platform "onedoor/policies/platform/rules"
)

// packs are the policy packs that judge every preview and update.
var packs = []func() policypack.Pack{batchdoor.New, platform.New}

// Dispatch makes this process what the engine started it as, if the engine did: a
// policy pack or the recorder. A main function whose process runs a Session calls
// it first, before it parses flags or traps signals.
func Dispatch() {
	if engine.IsRecorder(os.Args[0]) {
		engine.RecorderMain()
	}
	policypack.Main(packs...)
}

// judging is what a run is judged by, and where that is written.
type judging struct {
	dir     string   // "" without packs
	packs   []string // by name, in the order of the run
	waivers waivers
}

// policies attaches the packs to run.
// The configuration of a pack for this stack is a file in policies/stacks/<stack>;
// without one the pack's standard levels hold.
func (s *Session) policies(run *engine.Run) (j judging, err error) {
	if s.WithoutPolicies {
		return j, nil
	}
	if j.waivers, err = s.readWaivers(); err != nil {
		return j, err
	}
	dir := filepath.Join(s.Home, "judged", s.Stack)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return j, err
	}
	j.dir, run.Env = dir, map[string]string{results.EnvDir: dir}
	if s.Rules != nil {
		for _, name := range slices.Sorted(maps.Keys(s.Rules.Configs)) {
			path, err := engine.LinkTo(s.Rules.Executable, s.Home, policypack.Pack{Name: name}.Executable())
			if err != nil {
				return j, err
			}
			j.attach(run, name, path, s.Rules.Configs[name])
		}
		return j, nil
	}
	for _, pack := range Packs() {
		path, err := engine.Link(s.Home, pack.Executable())
		if err != nil {
			return j, err
		}
		config := filepath.Join(s.policyDir(), pack.Name+".json")
		if _, err := os.Stat(config); errors.Is(err, fs.ErrNotExist) {
			if config, err = standardConfig(dir, pack); err != nil {
				return j, err
			}
		}
		j.attach(run, pack.Name, path, config)
	}
	return j, nil
}

// attach attaches a pack to run.
func (j *judging) attach(run *engine.Run, name, executable, config string) {
	j.packs = append(j.packs, name)
	run.Packs, run.PackConfigs = append(run.Packs, executable), append(run.PackConfigs, config)
}

// Rules are the packs of another build of this program.
type Rules struct {
	Executable string            // the other build
	Configs    map[string]string // the configuration of each of its packs, a file, by the pack's name
}

// policyDir holds the configurations of the packs for this stack.
func (s *Session) policyDir() string {
	if s.PolicyDir != "" {
		return s.PolicyDir
	}
	return filepath.Join(s.Dir, "policies", "stacks", s.Stack)
}

// standardConfig writes the standard levels of a pack, since the engine takes
// configurations by their place in a list.
func standardConfig(dir string, pack policypack.Pack) (string, error) {
	text, err := pack.ConfigFile(policypack.Standard)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, pack.Name+".config.json")
	return path, os.WriteFile(path, text, 0o644)
}

// judge reads what the packs wrote about the result of an operation that ended
// with opErr, and names its subject. Only a preview or an update that saw the whole
// stack was judged; that it was not is an error then, because silence is no pass.
func (s *Session) judge(j judging, result *engine.Result, opErr error) (*results.Document, error) {
	judges := result != nil && (result.Operation == engine.OpPreview || result.Operation == engine.OpUp)
	if j.dir == "" || !judges || opErr != nil && !refused(opErr) {
		return nil, opErr
	}
	document, err := s.document(j, result)
	return document, errors.Join(opErr, err)
}

// refused tells whether policies, and nothing else, stopped an operation.
func refused(err error) bool {
	var failure *engine.Failure
	return errors.As(err, &failure) && failure.Kind == engine.KindPolicy
}

func (s *Session) document(j judging, result *engine.Result) (*results.Document, error) {
	runs, err := results.Read(j.dir)
	if err != nil {
		return nil, err
	}
	if err := agree(runs, result); err != nil {
		return nil, err
	}
	subject := results.Subject{Project: result.Project, Stack: result.Stack, Simulated: true}
	if subject.PlanSHA256, err = planHash(result); err != nil {
		return nil, err
	}
	return s.describe(subject, runs, j.waivers)
}

// describe makes the document of what packs judged of a subject.
func (s *Session) describe(subject results.Subject, runs []results.Run, w waivers) (*results.Document, error) {
	review := s.review(w, subject.Project, runs)
	s.tell(review)
	config, err := os.ReadFile(s.StackFile)
	if err != nil {
		return nil, err
	}
	subject.ConfigSHA256 = hash(config)
	subject.Commit, subject.Dirty = Commit(s.Dir)
	document, err := results.Make(subject, runs, review.Results())
	if err != nil {
		return nil, err
	}
	return &document, nil
}

// agree fails unless the engine says of every pack that it judged the whole stack, and
// of every failure that a pack wrote down that it heard of it: what the engine did not
// hear it did not enforce.
func agree(runs []results.Run, result *engine.Result) error {
	var wrong []error
	for _, run := range runs {
		if !slices.ContainsFunc(result.PolicySummaries, func(s engine.PolicySummary) bool { return s.Pack == run.Pack.Name && s.URN == "" }) {
			wrong = append(wrong, fmt.Errorf("policy pack %q: the engine has no summary of its rules over the stack, so nothing was enforced", run.Pack.Name))
			continue
		}
		for _, judged := range run.Judgements {
			if judged.State == results.Fail && !slices.ContainsFunc(result.PolicyViolations, func(v engine.PolicyViolation) bool {
				return v.Pack == run.Pack.Name && v.Policy == judged.Rule && v.URN == judged.URN
			}) {
				wrong = append(wrong, fmt.Errorf("policy pack %q: the engine did not hear that %s fails for %s", run.Pack.Name, judged.Rule, judged.URN))
			}
		}
	}
	return errors.Join(wrong...)
}

// Collect makes the document of what packs wrote to dir in a run of Pulumi itself,
// over live Azure.
func (s *Session) Collect(dir string) (*results.Document, error) {
	project, err := workspace.LoadProject(filepath.Join(s.Dir, "Pulumi.yaml"))
	if err != nil {
		return nil, err
	}
	w, err := s.readWaivers()
	if err != nil {
		return nil, err
	}
	runs, err := results.Read(dir)
	if err != nil {
		return nil, err
	}
	return s.describe(results.Subject{Project: project.Name.String(), Stack: s.Stack}, runs, w)
}

// planHash names what was planned: the same program and configuration over the
// same state plan the same.
func planHash(result *engine.Result) (string, error) {
	plan := *result
	plan.PolicySummaries, plan.PolicyViolations = nil, nil
	text, err := plan.JSON()
	return hash(text), err
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Commit is the commit that dir is at, and whether files differ from it; "" where
// there is no repository or no git.
func Commit(dir string) (id string, dirty bool) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	id, err := git("rev-parse", "HEAD")
	if err != nil {
		return "", false
	}
	changed, err := git("status", "--porcelain")
	return id, err != nil || changed != ""
}

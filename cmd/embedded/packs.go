package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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

// policies attaches the packs to run, and returns the directory that they write to,
// "" without packs.
// The configuration of a pack for this stack is a file in policies/stacks/<stack>;
// without one the pack's standard levels hold.
func (s *Session) policies(run *engine.Run) (string, error) {
	if s.WithoutPolicies {
		return "", nil
	}
	dir := filepath.Join(s.Home, "judged", s.Stack)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	for _, make := range packs {
		pack := make()
		path, err := engine.Link(s.Home, pack.Executable())
		if err != nil {
			return "", err
		}
		config := filepath.Join(s.policyDir(), pack.Name+".json")
		if _, err := os.Stat(config); errors.Is(err, fs.ErrNotExist) {
			if config, err = standardConfig(dir, pack); err != nil {
				return "", err
			}
		}
		run.Packs, run.PackConfigs = append(run.Packs, path), append(run.PackConfigs, config)
	}
	run.Env = map[string]string{results.EnvDir: dir}
	return dir, nil
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
func (s *Session) judge(dir string, result *engine.Result, opErr error) (*results.Document, error) {
	var refused *engine.Failure
	stopped := errors.As(opErr, &refused) && refused.Kind == engine.KindPolicy
	judges := result != nil && (result.Operation == engine.OpPreview || result.Operation == engine.OpUp)
	if dir == "" || !judges || opErr != nil && !stopped {
		return nil, opErr
	}
	document, err := s.document(dir, result)
	return document, errors.Join(opErr, err)
}

func (s *Session) document(dir string, result *engine.Result) (*results.Document, error) {
	runs, err := results.Read(dir)
	if err != nil {
		return nil, err
	}
	subject := results.Subject{Project: result.Project, Stack: result.Stack, Simulated: true}
	if subject.PlanSHA256, err = planHash(result); err != nil {
		return nil, err
	}
	config, err := os.ReadFile(s.StackFile)
	if err != nil {
		return nil, err
	}
	subject.ConfigSHA256 = hash(config)
	subject.Commit, subject.Dirty = commit(s.Dir)
	document, err := results.Make(subject, runs, nil)
	if err != nil {
		return nil, err
	}
	return &document, nil
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

// commit is the commit that dir is at, and whether files differ from it; "" where
// there is no repository or no git.
func commit(dir string) (id string, dirty bool) {
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

// Package bad_test breaks the recorded prod stack, for every rule of the policy
// packs in one way, and asks the packs under the real engine which rules fail. The
// behaviour of Azure is switched off meanwhile: one refused resource would hide
// every later one from the packs.
package bad_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	batchdoor "onedoor/policies/batchdoor/rules"
	platform "onedoor/policies/platform/rules"
	"onedoor/tests/bad/replay"
)

var update = flag.Bool("update", false, "rewrite expected.json of every rule")

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

var packs = []policypack.Pack{batchdoor.New(), platform.New()}

// record is the golden of the preview of prod.
const record = "../testdata/prod.preview.json"

func prod(t testing.TB) replay.Stack {
	t.Helper()
	s, err := replay.Load(record)
	require.NoError(t, err)
	return s
}

// failure is one rule that fails for one resource.
type failure struct {
	Rule     string `json:"rule"`
	Resource string `json:"resource"` // logical name
}

// failures are the rules that stop the preview: on prod every rule does, if it fails.
func failures(t testing.TB, result *engine.Result) []failure {
	t.Helper()
	out := []failure{}
	for _, v := range result.PolicyViolations {
		assert.Equal(t, string(results.Mandatory), v.Enforcement, v.Policy)
		out = append(out, failure{v.Policy, v.URN[strings.LastIndex(v.URN, "::")+2:]})
	}
	slices.SortFunc(out, func(a, b failure) int {
		return slices.Compare([]string{a.Rule, a.Resource}, []string{b.Rule, b.Resource})
	})
	return slices.Compact(out)
}

// A replay that differs from the record would judge another stack.
func TestAReplayIsWhatWasRecorded(t *testing.T) {
	t.Parallel()
	want := prod(t)
	got := replay.Project{Dir: "../..", Recording: true}.Preview(t, want, replay.Mutation{})
	require.Len(t, got.Resources, len(want.Resources))
	for i, r := range got.Resources {
		assert.Equal(t, want.Resources[i], r)
	}
}

// allEnv makes the test below run every bad stack, as .ci/nightly does; otherwise it runs
// those of the doors and a sample of the others, since each is a run of the engine.
const allEnv = "ONEDOOR_BAD_STACKS"

func TestEveryRuleHasABadStack(t *testing.T) {
	t.Parallel()
	for _, pack := range packs {
		for i, rule := range pack.Rules {
			t.Run(rule.ID, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join("testdata", rule.ID)
				mutation, err := replay.ReadMutation(filepath.Join(dir, "mutation.yaml"))
				require.NoError(t, err, "every rule needs a stack that breaks it")
				if os.Getenv(allEnv) != "all" && !*update && pack.Name != "batchdoor" && i%5 != 0 {
					t.Skip("not in the sample: set " + allEnv + "=all to run every bad stack")
				}
				got := failures(t, replay.Project{Dir: "../..", Packs: packs}.Preview(t, prod(t), mutation))
				assert.True(t, slices.ContainsFunc(got, func(f failure) bool { return f.Rule == rule.ID }), "%s must fail, these do: %v", rule.ID, got)
				expected(t, filepath.Join(dir, "expected.json"), got)
			})
		}
	}
}

// expected compares with a file, or rewrites it.
func expected(t *testing.T, file string, got []failure) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	text = append(text, '\n')
	if *update {
		require.NoError(t, os.WriteFile(file, text, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run: go test ./tests/bad -update, and read what it writes")
	assert.Equal(t, string(want), string(text), "run: go test ./tests/bad -update, and read what changed")
}

func TestEveryBadStackIsOfARule(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, entry := range entries {
		known := slices.ContainsFunc(packs, func(p policypack.Pack) bool {
			return slices.ContainsFunc(p.Rules, func(r policypack.Rule) bool { return r.ID == entry.Name() })
		})
		assert.True(t, known, "%s is the bad stack of no rule", entry.Name())
	}
}

// idle are the rules that judge nothing on prod, with the reason. A rule that finds
// nothing to judge protects nothing.
var idle = map[string]string{
	"BAT-06": "the path of no operation of the gateway may be a batch",
	"BAT-14": "nothing is declared by a template, a script or another provider",
	"CAP-03": "metrics come from the add-on of AKS, which is no release and no API service",
	"GW-03":  "the identity's client id is not known before the first update, so neither is the fragment that uses it",
	"GW-08":  "the gateway has no named values: its keys stand in the vault",
	"SB-03":  "the bus has no authorisation rules",
}

func TestProdKeepsEveryRule(t *testing.T) {
	t.Parallel()
	judgements := t.TempDir()
	result := replay.Project{Dir: "../..", Packs: packs, Results: judgements}.Preview(t, prod(t), replay.Mutation{})
	assert.Empty(t, failures(t, result))
	runs, err := results.Read(judgements)
	require.NoError(t, err)
	require.Len(t, runs, len(packs))

	judged := map[string]bool{}
	for _, run := range runs {
		severity := map[string]string{}
		for _, rule := range run.Rules {
			severity[rule.ID] = rule.Severity
		}
		for _, j := range run.Judgements {
			switch j.State {
			case results.Pass, results.Fail:
				judged[j.Rule] = true
			case results.NotChecked:
				assert.NotEqual(t, string(policypack.Critical), severity[j.Rule], "%s of %s must be decided in a first preview: %s", j.Rule, j.URN, j.Reason)
			}
		}
		for _, rule := range run.Rules {
			assert.Equal(t, idle[rule.ID] == "", judged[rule.ID], "%s judges a resource of prod, or idle says why not", rule.ID)
		}
	}

	clusters := 0
	for _, r := range result.Resources {
		if r.Type == "pulumi:providers:kubernetes" {
			clusters++
			assert.Equal(t, engine.Unknown, r.Inputs["kubeconfig"], "nobody knows the kubeconfig of a cluster that does not exist")
		}
	}
	assert.Equal(t, 1, clusters)
}

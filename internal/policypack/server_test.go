package policypack

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/policypack/results"
)

// pack is a small pack with every way to judge.
func pack() Pack {
	base := Rule{Title: "it holds", Rationale: "r.", Remedy: "m.", Controls: []string{"MCSB NS-1"}, Types: []string{"a:b:C"}}
	with := func(id string, s Severity, change func(*Rule)) Rule {
		r := base
		r.ID, r.Severity = id, s
		change(&r)
		return r
	}
	limit := 5.0
	return Pack{Name: "small", Version: "1.2.3", Rules: []Rule{
		with("RES-01", High, func(r *Rule) {
			r.Resource = func(c *Case) { c.Must(c.At("on"), true) }
		}),
		with("STK-01", Medium, func(r *Rule) {
			r.Stack = func(_ *Stack, c *Case) {
				c.MustNumber(c.At("size"), "small", func(n float64) bool { return n <= limit })
			}
			r.Schema = map[string]any{"limit": map[string]any{"type": "number"}}
			r.Configure = func(raw []byte) error {
				if string(raw) == `{"limit":100}` {
					limit = 100
				}
				return nil
			}
		}),
		with("BUG-01", Low, func(r *Rule) {
			r.Types = []string{"a:b:Panics"}
			r.Resource = func(*Case) { panic("a mistake") }
		}),
		with("SET-09", High, func(r *Rule) { r.Types, r.Resource = []string{"pulumi:pulumi:Stack"}, AllRulesOn }),
	}}
}

func started(t *testing.T, dir string) pulumirpc.AnalyzerServer {
	t.Helper()
	s, err := NewServer(pack(), dir)
	require.NoError(t, err)
	return s
}

func properties(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func analyze(t *testing.T, s pulumirpc.AnalyzerServer, urn, typ string, inputs map[string]any) *pulumirpc.AnalyzeResponse {
	t.Helper()
	a, err := s.Analyze(t.Context(), &pulumirpc.AnalyzeRequest{Urn: urn, Type: typ, Properties: properties(t, inputs)})
	require.NoError(t, err)
	return a
}

func TestInfoTellsTheEngineEverything(t *testing.T) {
	t.Parallel()
	s := started(t, "")
	info, err := s.GetAnalyzerInfo(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	assert.Equal(t, "small", info.GetName())
	assert.Equal(t, "1.2.3", info.GetVersion())
	assert.True(t, info.GetSupportsConfig())
	require.Len(t, info.GetPolicies(), 4)
	first := info.GetPolicies()[0]
	assert.Equal(t, "RES-01", first.GetName())
	assert.Equal(t, pulumirpc.PolicySeverity_POLICY_SEVERITY_HIGH, first.GetSeverity())
	assert.Equal(t, pulumirpc.PolicyType_POLICY_TYPE_RESOURCE, first.GetPolicyType())
	assert.Equal(t, pulumirpc.EnforcementLevel_MANDATORY, first.GetEnforcementLevel())
	assert.Equal(t, "m.", first.GetRemediationSteps())
	assert.Equal(t, "MCSB", first.GetFramework().GetName())
	assert.Equal(t, "NS-1", first.GetFramework().GetSpecification())
	second := info.GetPolicies()[1]
	assert.Equal(t, pulumirpc.PolicyType_POLICY_TYPE_STACK, second.GetPolicyType())
	assert.Equal(t, pulumirpc.EnforcementLevel_ADVISORY, second.GetEnforcementLevel())
	assert.Contains(t, second.GetConfigSchema().GetProperties().GetFields(), "limit")
	plugin, err := s.GetPluginInfo(t.Context(), &emptypb.Empty{})
	require.NoError(t, err)
	assert.Equal(t, "1.2.3", plugin.GetVersion())
	changed, err := s.Remediate(t.Context(), &pulumirpc.AnalyzeRequest{})
	require.NoError(t, err)
	assert.Empty(t, changed.GetRemediations())
}

func TestDiagnosticsCarryPackVersionAndLevel(t *testing.T) {
	t.Parallel()
	a := analyze(t, started(t, ""), "urn:x", "a:b/v20240101:C", map[string]any{"on": false})
	require.Len(t, a.GetDiagnostics(), 1)
	d := a.GetDiagnostics()[0]
	assert.Equal(t, "small", d.GetPolicyPackName())
	assert.Equal(t, "1.2.3", d.GetPolicyPackVersion())
	assert.Equal(t, "urn:x", d.GetUrn())
	assert.Equal(t, pulumirpc.EnforcementLevel_MANDATORY, d.GetEnforcementLevel())
	assert.Equal(t, pulumirpc.PolicySeverity_POLICY_SEVERITY_HIGH, d.GetSeverity())
	assert.Equal(t, "it holds: on is false, want true.\nfix: m.\nwhy: r. See docs/rules/RES-01.md", d.GetMessage())
}

// The engine counts every rule as passed that is neither failed nor not applicable.
func TestWhatIsNotAPassIsNeverCountedAsOne(t *testing.T) {
	t.Parallel()
	s := started(t, "")
	names := func(a *pulumirpc.AnalyzeResponse) map[string]string {
		out := map[string]string{}
		for _, n := range a.GetNotApplicable() {
			out[n.GetPolicyName()] = n.GetReason()
		}
		return out
	}
	unknown := names(analyze(t, s, "urn:x", "a:b:C", map[string]any{"on": sig.UnknownBoolValue}))
	assert.Equal(t, "not-checked: on is [unknown]", unknown["RES-01"])
	assert.NotContains(t, unknown, "STK-01", "stack rules are for AnalyzeStack")
	assert.Contains(t, names(analyze(t, s, "urn:y", "other:type:X", nil)), "RES-01")
	right := names(analyze(t, s, "urn:z", "a:b:C", map[string]any{"on": true}))
	assert.NotContains(t, right, "RES-01")

	whole, err := s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{})
	require.NoError(t, err)
	assert.Contains(t, names(whole), "STK-01", "nothing to judge is no pass")
}

// In a first preview the engine has no outputs.
func TestStackRulesReadInputsFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inputs, outputs map[string]any
		fails, checked  bool
	}{
		"inputs":                           {map[string]any{"size": 9}, nil, true, true},
		"inputs before outputs":            {map[string]any{"size": 9}, map[string]any{"size": 1}, true, true},
		"outputs where inputs lack":        {map[string]any{}, map[string]any{"size": 9}, true, true},
		"outputs where inputs are unknown": {map[string]any{"size": sig.UnknownNumberValue}, map[string]any{"size": 1}, false, true},
		"neither":                          {map[string]any{"size": sig.UnknownNumberValue}, map[string]any{}, false, false},
	} {
		s := started(t, "")
		analyze(t, s, "urn:x", "a:b:C", c.inputs)
		a, err := s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{Resources: []*pulumirpc.AnalyzerResource{{Urn: "urn:x", Type: "a:b:C", Properties: properties(t, c.outputs)}}})
		require.NoError(t, err)
		assert.Equal(t, c.fails, len(a.GetDiagnostics()) == 1, name)
		assert.Equal(t, c.checked, len(a.GetNotApplicable()) == 0, name)
	}
}

func TestOneUndecidedCaseWithholdsThePassOfAStackRule(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]any{"first": {sig.UnknownNumberValue, 1}, "last": {1, sig.UnknownNumberValue}} {
		s := started(t, "")
		whole := &pulumirpc.AnalyzeStackRequest{}
		for i, size := range sizes {
			urn := string(rune('a' + i))
			analyze(t, s, urn, "a:b:C", map[string]any{"size": size})
			whole.Resources = append(whole.Resources, &pulumirpc.AnalyzerResource{Urn: urn, Type: "a:b:C"})
		}
		a, err := s.AnalyzeStack(t.Context(), whole)
		require.NoError(t, err)
		require.Len(t, a.GetNotApplicable(), 1, name)
		assert.Contains(t, a.GetNotApplicable()[0].GetReason(), "not-checked", name)
	}
}

func configure(t *testing.T, s pulumirpc.AnalyzerServer, levels map[string]*pulumirpc.PolicyConfig) error {
	t.Helper()
	_, err := s.Configure(t.Context(), &pulumirpc.ConfigureAnalyzerRequest{PolicyConfig: levels})
	return err
}

func TestConfigurationSetsLevelsAndSettings(t *testing.T) {
	t.Parallel()
	s := started(t, "")
	require.NoError(t, configure(t, s, map[string]*pulumirpc.PolicyConfig{
		"all":    {EnforcementLevel: pulumirpc.EnforcementLevel_ADVISORY},
		"RES-01": {EnforcementLevel: pulumirpc.EnforcementLevel_ADVISORY},
		"STK-01": {EnforcementLevel: pulumirpc.EnforcementLevel_REMEDIATE, Properties: properties(t, map[string]any{"limit": 100})},
	}))
	a := analyze(t, s, "urn:x", "a:b:C", map[string]any{"on": false, "size": 9})
	require.Len(t, a.GetDiagnostics(), 1)
	assert.Equal(t, pulumirpc.EnforcementLevel_ADVISORY, a.GetDiagnostics()[0].GetEnforcementLevel())
	whole, err := s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{Resources: []*pulumirpc.AnalyzerResource{{Urn: "urn:x", Type: "a:b:C"}}})
	require.NoError(t, err)
	assert.Empty(t, whole.GetDiagnostics(), "9 is below the limit that was set")
}

func TestConfigurationMistakesAreReportedAllAtOnce(t *testing.T) {
	t.Parallel()
	err := configure(t, started(t, ""), map[string]*pulumirpc.PolicyConfig{
		"RES-02": {}, "XYZ-01": {}, "RES-01": {Properties: properties(t, map[string]any{"x": 1})},
	})
	require.ErrorContains(t, err, "wrong in 3 places")
	require.ErrorContains(t, err, "RES-02: no such rule in this pack; it has RES-01")
	require.ErrorContains(t, err, "XYZ-01: no such rule in this pack; it has RES-*, STK-*, BUG-*, SET-*")
	require.ErrorContains(t, err, "RES-01.x: the rule has no settings")
}

func TestADisabledRuleIsSilentAndReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := started(t, dir)
	require.NoError(t, configure(t, s, map[string]*pulumirpc.PolicyConfig{"RES-01": {EnforcementLevel: pulumirpc.EnforcementLevel_DISABLED}}))
	assert.Empty(t, analyze(t, s, "urn:x", "a:b:C", map[string]any{"on": false}).GetDiagnostics())
	stack := analyze(t, s, "urn:s", "pulumi:pulumi:Stack", nil)
	require.Len(t, stack.GetDiagnostics(), 1)
	assert.Contains(t, stack.GetDiagnostics()[0].GetMessage(), "disabled for RES-01")
	_, err := s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{})
	require.NoError(t, err)
	runs, err := results.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, "custom", runs[0].Profile)
	for _, j := range runs[0].Judgements {
		if j.Rule == "RES-01" {
			assert.Equal(t, results.NotChecked, j.State)
		}
	}
}

// A mistake in a rule must neither pass nor stop the others.
func TestARuleThatPanicsFails(t *testing.T) {
	t.Parallel()
	a := analyze(t, started(t, ""), "urn:x", "a:b:Panics", nil)
	require.Len(t, a.GetDiagnostics(), 1)
	assert.Equal(t, "BUG-01", a.GetDiagnostics()[0].GetPolicyName())
	assert.Contains(t, a.GetDiagnostics()[0].GetMessage(), "panicked: a mistake")
}

func TestJudgementsAreWrittenWithoutSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := started(t, dir)
	analyze(t, s, "urn:x", "a:b:C", map[string]any{"on": map[string]any{sig.Key: sig.Secret, "value": "hunter2"}})
	_, err := s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{Resources: []*pulumirpc.AnalyzerResource{{Urn: "urn:x", Type: "a:b:C"}}})
	require.NoError(t, err)
	runs, err := results.Read(dir)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	assert.Equal(t, "standard", runs[0].Profile)
	assert.Regexp(t, "^[0-9a-f]{64}$", runs[0].Pack.SHA256)
	assert.Equal(t, results.Rule{ID: "RES-01", Severity: "high", Level: results.Mandatory, Controls: []string{"MCSB NS-1"}}, runs[0].Rules[0])
	states := map[string]results.Judgement{}
	for _, j := range runs[0].Judgements {
		states[j.Rule] = j
	}
	assert.Equal(t, results.Judgement{Rule: "RES-01", URN: "urn:x", State: results.Fail, Reason: "on is [secret], want true", Evidence: results.Evidence{Path: "on", Value: "[secret]", Expected: "true"}}, states["RES-01"])
	assert.Equal(t, results.Fail, states["STK-01"].State, "absent is not small")
	assert.Equal(t, results.NotApplicable, states["BUG-01"].State)
}

func TestTokensLoseTheirVersions(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"azure-native:storage/v20240101:StorageAccount":         "azure-native:storage:StorageAccount",
		"azure-native:storage/v20220501preview:StorageAccount":  "azure-native:storage:StorageAccount",
		"azure-native:storage:StorageAccount":                   "azure-native:storage:StorageAccount",
		"azure-native_storage_v20240101:storage:StorageAccount": "azure-native:storage:StorageAccount",
		"kubernetes:apps/v1:Deployment":                         "kubernetes:apps:Deployment",
		"kubernetes:keda.sh/v1alpha1:ScaledObject":              "kubernetes:keda.sh:ScaledObject",
		"armpatch:index:Patch":                                  "armpatch:index:Patch",
		"aws:s3/bucket:Bucket":                                  "aws:s3/bucket:Bucket",
	} {
		assert.Equal(t, want, TypeOf(token))
	}
}

func TestAPackMustBeSound(t *testing.T) {
	t.Parallel()
	require.NoError(t, pack().Check())
	for problem, change := range map[string]func(*Pack){
		"no rules":       func(p *Pack) { p.Rules = nil },
		"used twice":     func(p *Pack) { p.Rules[1].ID = "RES-01" },
		"must look like": func(p *Pack) { p.Rules[0].ID = "res1" },
		"required":       func(p *Pack) { p.Rules[0].Remedy = "" },
		"framework":      func(p *Pack) { p.Rules[0].Controls = []string{"NS-1"} },
		"severity":       func(p *Pack) { p.Rules[0].Severity = "bad" },
		"either":         func(p *Pack) { p.Rules[0].Resource = nil },
		"schema":         func(p *Pack) { p.Rules[1].Configure = nil },
	} {
		p := pack()
		change(&p)
		require.ErrorContains(t, p.Check(), problem)
		_, err := NewServer(p, "")
		require.Error(t, err, problem)
	}
}

func TestProfilesDecideLevels(t *testing.T) {
	t.Parallel()
	for profile, mandatory := range map[Profile][]Severity{
		Audit: nil, Standard: {Critical, High}, Strict: {Critical, High, Medium, Low},
	} {
		for severity := range severities {
			want := results.Advisory
			for _, m := range mandatory {
				if m == severity {
					want = results.Mandatory
				}
			}
			assert.Equal(t, want, profile.Level(severity), "%s %s", profile, severity)
		}
	}
	raw, err := pack().ConfigFile(Strict)
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":2,"policies":{"BUG-01":"mandatory","RES-01":"mandatory","SET-09":"mandatory","STK-01":"mandatory"}}`, string(raw))
}

func TestFollows(t *testing.T) {
	t.Parallel()
	a, b, c := &Resource{URN: "a"}, &Resource{URN: "b", Dependencies: []string{"a"}}, &Resource{URN: "c", Dependencies: []string{"b", "c"}}
	s := NewStack([]*Resource{a, b, c})
	assert.True(t, s.Follows(c, a), "over another")
	assert.False(t, s.Follows(a, c))
	assert.False(t, s.Follows(b, c), "a circle ends")
}

func TestTypesMayHoldAWildcard(t *testing.T) {
	t.Parallel()
	for typ, wants := range map[string]map[string]bool{
		"kubernetes:*Patch":   {"kubernetes:apps:DeploymentPatch": true, "kubernetes:apps:Deployment": false, "kubernetesPatch": false, "kubernetes:Patch": true},
		"kubernetes:*":        {"kubernetes:core:Pod": true, "kubernetes": false},
		"azure-native:web:Ab": {"azure-native:web:Ab": true, "azure-native:web:Abc": false},
	} {
		rule := Rule{Types: []string{typ}}
		for of, want := range wants {
			assert.Equal(t, want, rule.Judges(of), "%s: %s", typ, of)
		}
	}
}

// TestStackRulesSeeTheConfigurationWithoutItsSecrets: what a rule reads it may show.
func TestStackRulesSeeTheConfigurationWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	var seen map[string]string
	p := pack()
	p.Rules = []Rule{{
		ID: "STK-02", Severity: High, Title: "it holds", Rationale: "r.", Remedy: "m.", Controls: []string{"MCSB NS-1"}, Types: []string{"a:b:C"},
		Stack: func(st *Stack, _ *Case) { seen = st.Config },
	}}
	s, err := NewServer(p, "")
	require.NoError(t, err)
	sent := &pulumirpc.AnalyzerStackConfigureRequest{Config: map[string]string{"p:limit": "5", "p:key": "hidden"}, ConfigSecretKeys: []string{"p:key"}}
	_, err = s.ConfigureStack(t.Context(), sent)
	require.NoError(t, err)
	_, err = s.AnalyzeStack(t.Context(), &pulumirpc.AnalyzeStackRequest{Resources: []*pulumirpc.AnalyzerResource{{Type: "a:b:C", Urn: "urn:pulumi:s::p::a:b:C::one"}}})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"p:limit": "5"}, seen)
	assert.Len(t, sent.GetConfig(), 2, "what was sent stays as it is")
}

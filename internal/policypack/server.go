package policypack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
)

// server is a pack as the engine sees it, for one operation.
type server struct {
	pulumirpc.UnimplementedAnalyzerServer
	pack   Pack
	dir    string // for results; "" writes none
	sha256 string // of this executable, where results are written

	mu          sync.Mutex
	config      config
	stackConfig map[string]string          // of the stack that is judged, by full key
	inputs      map[string]propvalue.Value // by URN: what AnalyzeStack does not give
	out         *results.Writer
	byType      map[string]*family
}

// family is what the pack does with resources of one type.
type family struct {
	rules         []*Rule
	notApplicable []*pulumirpc.PolicyNotApplicable // the other rules that judge single resources
}

// NewServer serves the pack. Results go to dir, unless it is "".
func NewServer(pack Pack, dir string) (pulumirpc.AnalyzerServer, error) {
	if err := pack.Check(); err != nil {
		return nil, err
	}
	s := &server{pack: pack, dir: dir, config: standard(pack), inputs: map[string]propvalue.Value{}, byType: map[string]*family{}}
	if dir != "" {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		if s.sha256, err = fileSHA256(exe); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *server) Handshake(context.Context, *pulumirpc.AnalyzerHandshakeRequest) (*pulumirpc.AnalyzerHandshakeResponse, error) {
	return &pulumirpc.AnalyzerHandshakeResponse{}, nil
}

func (s *server) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: s.pack.Version}, nil
}

func (s *server) ConfigureStack(_ context.Context, req *pulumirpc.AnalyzerStackConfigureRequest) (*pulumirpc.AnalyzerStackConfigureResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stackConfig = maps.Clone(req.GetConfig())
	for _, secret := range req.GetConfigSecretKeys() {
		delete(s.stackConfig, secret)
	}
	return &pulumirpc.AnalyzerStackConfigureResponse{}, nil
}

// Remediate changes nothing: a rule says what is wrong, people decide.
func (s *server) Remediate(context.Context, *pulumirpc.AnalyzeRequest) (*pulumirpc.RemediateResponse, error) {
	return &pulumirpc.RemediateResponse{}, nil
}

func (s *server) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (s *server) GetAnalyzerInfo(context.Context, *emptypb.Empty) (*pulumirpc.AnalyzerInfo, error) {
	info := &pulumirpc.AnalyzerInfo{
		Name: s.pack.Name, DisplayName: s.pack.Name, Version: s.pack.Version, Description: s.pack.Description, SupportsConfig: true,
	}
	levels := standard(s.pack).levels
	for i := range s.pack.Rules {
		policy, err := s.pack.Rules[i].info(levels[s.pack.Rules[i].ID])
		if err != nil {
			return nil, err
		}
		info.Policies = append(info.Policies, policy)
	}
	return info, nil
}

func (r *Rule) info(level results.Level) (*pulumirpc.PolicyInfo, error) {
	at := strings.LastIndex(r.Controls[0], " ") // "MCSB NS-2": framework and control
	info := &pulumirpc.PolicyInfo{
		Name: r.ID, DisplayName: r.Title, Description: r.Title, Message: r.Rationale, EnforcementLevel: enforcement(level),
		PolicyType: pulumirpc.PolicyType_POLICY_TYPE_RESOURCE, Severity: severities[r.Severity],
		Framework: &pulumirpc.PolicyComplianceFramework{Name: r.Controls[0][:at], Reference: r.Page(), Specification: r.Controls[0][at+1:]},
		Tags:      r.Controls, RemediationSteps: r.Remedy, Url: r.Page(),
	}
	if r.Stack != nil {
		info.PolicyType = pulumirpc.PolicyType_POLICY_TYPE_STACK
	}
	if r.Schema != nil {
		properties, err := structpb.NewStruct(r.Schema)
		if err != nil {
			return nil, fmt.Errorf("%s: schema of the settings: %w", r.ID, err)
		}
		info.ConfigSchema = &pulumirpc.PolicyConfigSchema{Properties: properties}
	}
	return info, nil
}

func enforcement(level results.Level) pulumirpc.EnforcementLevel {
	if level == results.Mandatory {
		return pulumirpc.EnforcementLevel_MANDATORY
	}
	return pulumirpc.EnforcementLevel_ADVISORY
}

func (s *server) Configure(_ context.Context, req *pulumirpc.ConfigureAnalyzerRequest) (*emptypb.Empty, error) {
	c, err := s.pack.configure(req.GetPolicyConfig())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = c
	return &emptypb.Empty{}, nil
}

// open starts the record with the first resource, when the configuration is
// final.
func (s *server) open() (err error) {
	if s.out != nil || s.dir == "" {
		return nil
	}
	var rules []results.Rule
	for _, r := range s.pack.Rules {
		rules = append(rules, results.Rule{ID: r.ID, Severity: string(r.Severity), Level: s.config.levels[r.ID], Controls: r.Controls})
	}
	s.out, err = results.Open(s.dir, results.Pack{Name: s.pack.Name, Version: s.pack.Version, SHA256: s.sha256}, string(s.config.profile(s.pack)), rules)
	return err
}

// of is what the pack does with resources of the type, Resource rules only.
func (s *server) of(typ string) *family {
	if f, ok := s.byType[typ]; ok {
		return f
	}
	f := &family{}
	for i := range s.pack.Rules {
		switch r := &s.pack.Rules[i]; {
		case r.Resource == nil || s.config.levels[r.ID] == results.Disabled:
		case r.Judges(typ):
			f.rules = append(f.rules, r)
		default:
			f.notApplicable = append(f.notApplicable, &pulumirpc.PolicyNotApplicable{PolicyName: r.ID, Reason: "it judges other types"})
		}
	}
	s.byType[typ] = f
	return f
}

func (s *server) Analyze(_ context.Context, req *pulumirpc.AnalyzeRequest) (*pulumirpc.AnalyzeResponse, error) {
	resource := analysed(req)
	s.mu.Lock()
	err := s.open()
	s.inputs[resource.URN] = resource.Inputs
	f := s.of(resource.Type)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := &pulumirpc.AnalyzeResponse{NotApplicable: slices.Clone(f.notApplicable)}
	for _, rule := range f.rules {
		c := &Case{Resource: resource, disabled: s.config.disabled}
		judge(rule, c, func() { rule.Resource(c) })
		s.record(rule, c)
		s.answer(answer, rule, c)
	}
	return answer, s.out.Flush()
}

func (s *server) AnalyzeStack(_ context.Context, req *pulumirpc.AnalyzeStackRequest) (*pulumirpc.AnalyzeResponse, error) {
	resources := make([]*Resource, 0, len(req.GetResources()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(); err != nil {
		return nil, err
	}
	for _, listedResource := range req.GetResources() {
		r := listed(listedResource)
		r.Inputs = s.inputs[r.URN]
		resources = append(resources, r)
	}
	stack := NewStack(resources)
	stack.Config = s.stackConfig
	answer := &pulumirpc.AnalyzeResponse{}
	for i := range s.pack.Rules {
		rule := &s.pack.Rules[i]
		if s.config.levels[rule.ID] == results.Disabled {
			s.out.Write(results.Judgement{Rule: rule.ID, State: results.NotChecked, Reason: "the configuration of the pack disables the rule"})
			continue
		}
		s.stackRule(stack, rule, answer)
	}
	return answer, s.out.End()
}

// stackRule judges every resource of the rule's types, and says so if there is
// none.
func (s *server) stackRule(stack *Stack, rule *Rule, answer *pulumirpc.AnalyzeResponse) {
	subjects := stack.judgedBy(rule)
	if len(subjects) == 0 {
		const why = "no resource of its types in the stack"
		s.out.Write(results.Judgement{Rule: rule.ID, State: results.NotApplicable, Reason: why})
		if rule.Stack != nil {
			answer.NotApplicable = append(answer.NotApplicable, &pulumirpc.PolicyNotApplicable{PolicyName: rule.ID, Reason: why})
		}
		return
	}
	if rule.Stack == nil {
		return
	}
	passed := false
	var undecided, notApplicable *pulumirpc.PolicyNotApplicable // the first of each
	for _, resource := range subjects {
		c := &Case{Resource: resource, disabled: s.config.disabled}
		judge(rule, c, func() { rule.Stack(stack, c) })
		s.record(rule, c)
		one := &pulumirpc.AnalyzeResponse{}
		s.answer(one, rule, c)
		answer.Diagnostics = append(answer.Diagnostics, one.GetDiagnostics()...)
		switch c.State() {
		case results.Pass:
			passed = true
		case results.NotChecked:
			undecided = cmp.Or(undecided, one.GetNotApplicable()[0])
		case results.NotApplicable:
			notApplicable = cmp.Or(notApplicable, one.GetNotApplicable()[0])
		}
	}
	// The engine knows one word for a rule in the whole stack, and takes silence
	// for a pass: one case that cannot be decided is enough to withhold it.
	switch {
	case undecided != nil:
		answer.NotApplicable = append(answer.NotApplicable, undecided)
	case !passed && notApplicable != nil:
		answer.NotApplicable = append(answer.NotApplicable, notApplicable)
	}
}

// judge runs a rule. A rule that panics is a fault of the pack; it must neither
// pass nor take the deployment down without a word.
func judge(rule *Rule, c *Case, run func()) {
	defer func() {
		if fault := recover(); fault != nil {
			c.Failf("", "not judged", fmt.Sprintf("rule %s to end; it panicked: %v", rule.ID, fault))
		}
	}()
	run()
}

func (s *server) record(rule *Rule, c *Case) {
	for _, f := range c.Findings() {
		s.out.Write(results.Judgement{Rule: rule.ID, URN: c.URN, State: f.State, Reason: f.Reason, Evidence: f.Evidence})
	}
}

// answer tells the engine: a failure as a diagnostic, everything that is not a
// pass as not applicable, since the engine knows no "not checked".
func (s *server) answer(to *pulumirpc.AnalyzeResponse, rule *Rule, c *Case) {
	for _, f := range c.Findings() {
		switch f.State {
		case results.Fail:
			to.Diagnostics = append(to.Diagnostics, &pulumirpc.AnalyzeDiagnostic{
				PolicyName: rule.ID, PolicyPackName: s.pack.Name, PolicyPackVersion: s.pack.Version,
				Description: rule.Title, Message: fmt.Sprintf("%s: %s.\nfix: %s\nwhy: %s See %s", rule.Title, f.Reason, rule.Remedy, rule.Rationale, rule.Page()),
				EnforcementLevel: enforcement(s.config.levels[rule.ID]), Urn: c.URN, Severity: severities[rule.Severity],
			})
		case results.NotChecked:
			to.NotApplicable = append(to.NotApplicable, &pulumirpc.PolicyNotApplicable{PolicyName: rule.ID, Reason: "not-checked: " + f.Reason})
		case results.NotApplicable:
			to.NotApplicable = append(to.NotApplicable, &pulumirpc.PolicyNotApplicable{PolicyName: rule.ID, Reason: f.Reason})
		}
	}
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/armtypes"
	"onedoor/sim/core"
)

// NoSubscription is the subscription of a provider that was configured without
// one.
const NoSubscription = "00000000-0000-0000-0000-000000000000"

// azureNative speaks for azure-native. Where the real one has a manner, this
// one has it too; the file is github.com/pulumi/pulumi-azure-native
// provider/pkg/provider/provider.go, branch v2.
type azureNative struct {
	base
	cloud *Cloud

	mu           sync.Mutex
	subscription string
	location     string
}

func newAzureNative(c *Cloud) *azureNative {
	return &azureNative{base: base{name: AzureNative, version: AzureNativeVersion}, cloud: c, subscription: NoSubscription}
}

// Configure takes subscriptionId and the default location.
func (p *azureNative) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	defer p.cloud.enter()()
	args, err := unmarshal(req.GetArgs(), "azure-native.configure")
	if err != nil {
		return nil, err
	}
	config := plain(args)
	p.mu.Lock()
	if id, ok := config["subscriptionId"].(string); ok && id != "" {
		p.subscription = id
	}
	p.location, _ = config["location"].(string)
	p.mu.Unlock()
	p.cloud.configured(req.GetUrn())
	return p.base.Configure(ctx, req)
}

func (p *azureNative) config() (subscription, location string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.subscription, p.location
}

// typeOf returns the type that a URN names.
func (p *azureNative) typeOf(urn string) (*armtypes.Resource, error) {
	types, err := armtypes.Load()
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	token := string(resource.URN(urn).Type())
	r, ok := types.ByToken(token)
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "resource type: got %q, want one the simulator knows, nearest is %s; fix: import that version of the package, or add the type to internal/armtypes", token, strings.Join(types.Nearest(token), ", "))
	}
	return r, nil
}

// Check validates inputs and fills in the location. Names are not made up: a
// program of ours says what its resources are called (A070).
func (p *azureNative) Check(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	defer p.cloud.enter()()
	r, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "azure-native.check")
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetOlds(), "azure-native.check")
	if err != nil {
		return nil, err
	}
	if _, has := news["location"]; !has && r.HasInput("location") {
		if location := p.defaultLocation(olds, news); location != nil {
			news["location"] = *location
		}
	}
	inputs := plain(news)
	var failures []*pulumirpc.CheckFailure
	if name := r.NameInput(); name != "" && inputs[name] == nil {
		failures = append(failures, &pulumirpc.CheckFailure{Property: name, Reason: name + ": got nothing, want a name, because names are explicit here; fix: set it"})
	}
	for _, problem := range r.CheckInputs(inputs) {
		if problem.Got != "" && secretAt(resource.NewProperty(news), steps(problem.Path)) {
			problem.Got = "[secret]"
		}
		failures = append(failures, &pulumirpc.CheckFailure{Property: problem.Path, Reason: problem.String()})
	}
	checked, err := marshal(news, "azure-native.check")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: checked, Failures: failures}, nil
}

// defaultLocation is what it was, or the provider's, or the resource group's.
func (p *azureNative) defaultLocation(olds, news resource.PropertyMap) *resource.PropertyValue {
	subscription, location := p.config()
	if v, ok := olds["location"]; ok {
		return &v
	}
	if location == "" {
		group, ok := news["resourceGroupName"]
		if !ok {
			return nil
		}
		name, known := plainValue(group).(string)
		if !known {
			v := resource.MakeComputed(resource.NewProperty(""))
			return &v
		}
		location = p.cloud.groupLocation("/subscriptions/" + subscription + "/resourceGroups/" + name)
	}
	if location == "" {
		return nil
	}
	v := resource.NewProperty(location)
	return &v
}

// Diff compares inputs with inputs, as azure-native does.
func (p *azureNative) Diff(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	defer p.cloud.enter()()
	r, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetOldInputs(), "azure-native.diff")
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "azure-native.diff")
	if err != nil {
		return nil, err
	}
	detailed := diffInputs(r, plain(olds), plain(news), req.GetIgnoreChanges())
	if len(detailed) == 0 {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true}, nil
	}
	var diffs, replaces []string
	for path, d := range detailed {
		diffs = append(diffs, top(path))
		switch d.Kind {
		case pulumirpc.PropertyDiff_ADD_REPLACE, pulumirpc.PropertyDiff_DELETE_REPLACE, pulumirpc.PropertyDiff_UPDATE_REPLACE:
			replaces = append(replaces, top(path))
		}
	}
	slices.Sort(diffs)
	slices.Sort(replaces)
	diffs, replaces = slices.Compact(diffs), slices.Compact(replaces)
	if len(replaces) > 0 {
		p.cloud.leaving(req.GetId())
	}
	return &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_SOME, Diffs: diffs, Replaces: replaces, DetailedDiff: detailed, HasDetailedDiff: true,
		// azure-native deletes first whenever it did not make up the name (A071).
		DeleteBeforeReplace: len(replaces) > 0,
	}, nil
}

// request is one write as the engine asked for it.
type request struct {
	r      *armtypes.Resource
	urn    string
	inputs resource.PropertyMap
	plain  map[string]any
	id     string // empty if a part of it is unknown
	body   map[string]any
}

func (p *azureNative) request(urn string, properties *structpb.Struct) (*request, error) {
	r, err := p.typeOf(urn)
	if err != nil {
		return nil, err
	}
	inputs, err := unmarshal(properties, "azure-native.write")
	if err != nil {
		return nil, err
	}
	q := &request{r: r, urn: urn, inputs: inputs, plain: plain(inputs)}
	subscription, _ := p.config()
	var problems []armtypes.Problem
	if q.id, problems = r.ID(q.plain, subscription); len(problems) > 0 {
		return nil, status.Errorf(codes.InvalidArgument, "id of %s: %s", urn, problems[0])
	}
	if q.body, problems = r.Body(q.plain); len(problems) > 0 {
		return nil, status.Errorf(codes.InvalidArgument, "body of %s: %s", urn, problems[0])
	}
	return q, nil
}

func (q *request) op() core.Op {
	return core.Op{Method: core.Put, ID: q.id, APIVersion: q.r.APIVersion, Body: q.body}
}

// Create puts a resource that is not there yet. In a preview it plays the
// creation through and answers no id.
func (p *azureNative) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(req.GetUrn(), req.GetProperties())
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		var answer core.Answer
		if q.id != "" {
			if answer, err = p.cloud.tryCreate(q.urn, q.op()); err == nil && answer.Error != nil {
				err = answer.Error
			}
			if err != nil {
				return nil, err
			}
		}
		outputs, err := q.preview(answer.Body)
		return &pulumirpc.CreateResponse{Properties: outputs}, err
	}
	if _, exists := p.cloud.State().Find(q.id); exists && !singleton(q.r) { // A005
		return nil, fmt.Errorf("cannot create already existing resource '%s'", q.id)
	}
	id, outputs, err := p.write(ctx, q)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CreateResponse{Id: id, Properties: outputs}, nil
}

// Update puts the whole resource again.
func (p *azureNative) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(req.GetUrn(), req.GetNews())
	if err != nil {
		return nil, err
	}
	if q.id == "" || !strings.EqualFold(q.id, req.GetId()) {
		q.id = req.GetId()
	}
	if req.GetPreview() {
		answer := p.cloud.tryUpdate(q.op())
		if answer.Error != nil {
			return nil, answer.Error
		}
		outputs, err := q.preview(answer.Body)
		return &pulumirpc.UpdateResponse{Properties: outputs}, err
	}
	_, outputs, err := p.write(ctx, q)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.UpdateResponse{Properties: outputs}, nil
}

// write applies a Put, waits for its end and reads the resource once more.
func (p *azureNative) write(ctx context.Context, q *request) (string, *structpb.Struct, error) {
	op := q.op()
	failure, err := p.run(ctx, op, q.r.Token, q.urn)
	if err != nil {
		return "", nil, err
	}
	state := p.cloud.State()
	r, ok := state.Find(op.ID)
	if !ok {
		return "", nil, fmt.Errorf("resource %s was deleted while it was being written", op.ID)
	}
	outputs, err := q.outputs(state.Show(r))
	if err != nil {
		return "", nil, err
	}
	if failure != nil {
		inputs, err := marshal(q.inputs, "azure-native.write")
		if err != nil {
			return "", nil, err
		}
		// The engine keeps a resource that was half made, with this as its state.
		return "", nil, rpcerror.WithDetails(rpcerror.New(codes.Unknown, failure.Error()), &pulumirpc.ErrorResourceInitFailed{
			Id: r.ID, Properties: outputs, Reasons: []string{failure.Error()}, Inputs: inputs,
		})
	}
	return r.ID, outputs, nil
}

// retried are the codes after which the Azure client inside azure-native tries
// again (A016, A403).
var retried = []core.Code{core.AnotherOperationInProgress, core.TooManyRequests}

// run sends a write, again and again while something else is in its way, as the
// Azure client inside azure-native does (A016), and waits for its end. failure
// is set when it was accepted and failed later.
func (p *azureNative) run(ctx context.Context, op core.Op, token, urn string) (failure *core.Error, err error) {
	if fault := p.cloud.strike(op, token, urn, BeforeStart); fault != nil {
		return nil, fault
	}
	op.Fail = p.cloud.strike(op, token, urn, AfterApply)
	for {
		answer, err := p.cloud.do(op)
		if err != nil {
			return nil, err
		}
		if answer.Error != nil && slices.Contains(retried, answer.Error.Code) && answer.RetryAt > 0 {
			if err := p.cloud.wait(ctx, answer.RetryAt); err != nil {
				return nil, err
			}
			continue
		}
		if answer.Error != nil {
			return nil, answer.Error
		}
		if answer.Operation != nil {
			if err := p.cloud.wait(ctx, answer.Operation.End); err != nil {
				return nil, err
			}
			failure = answer.Operation.Fail
		}
		return failure, p.cloud.lose(op, token, urn)
	}
}

// outputs turns an answer of Azure into the outputs of the resource.
func (q *request) outputs(body map[string]any) (*structpb.Struct, error) {
	out := properties(q.r.Outputs(body))
	keepSecret(q.inputs, out)
	return marshal(out, "azure-native.outputs")
}

// preview returns the outputs of a write that has not happened: the inputs, and
// as unknown whatever Azure will set. body is the rehearsed answer, if any; it
// only tells which parts of an object are Azure's.
func (q *request) preview(body map[string]any) (*structpb.Struct, error) {
	var unknown armtypes.Unknown
	all := q.r.Outputs(map[string]any{"properties": unknown, "id": unknown, "type": unknown, "etag": unknown, "systemData": unknown})
	out := q.r.Outputs(q.body)
	answer := q.r.Outputs(body)
	for name, v := range out {
		out[name] = fillUnknown(v, answer[name])
	}
	for name := range all {
		if !q.r.HasInput(name) {
			out[name] = unknown
		}
	}
	delete(out, "id")
	if identity, ok := out["identity"].(map[string]any); ok {
		identity["principalId"], identity["tenantId"] = unknown, unknown
	}
	if name, ok := q.plain[q.r.NameInput()]; ok {
		out["name"] = name
	}
	props := properties(out)
	keepSecret(q.inputs, props)
	return marshal(props, "azure-native.preview")
}

// fillUnknown adds to the objects of v, as unknown, what only the answer has.
func fillUnknown(v, answer any) any {
	m, ok1 := v.(map[string]any)
	a, ok2 := answer.(map[string]any)
	if !ok1 || !ok2 {
		return v
	}
	for key, item := range a {
		if have, ok := m[key]; ok {
			m[key] = fillUnknown(have, item)
		} else {
			m[key] = armtypes.Unknown{}
		}
	}
	return m
}

// Read returns the resource as it is now, and the inputs changed as far as Azure
// changed (A072). Without inputs it is an import.
func (p *azureNative) Read(_ context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	defer p.cloud.enter()()
	r, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	state := p.cloud.State()
	_, answer := core.Apply(state, core.Op{Method: core.Get, ID: req.GetId(), APIVersion: r.APIVersion})
	if answer.Error != nil {
		if answer.Status == 404 {
			return &pulumirpc.ReadResponse{}, nil
		}
		return nil, answer.Error
	}
	outputs := r.Outputs(answer.Body)
	inputs, err := unmarshal(req.GetInputs(), "azure-native.read")
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetProperties(), "azure-native.read")
	if err != nil {
		return nil, err
	}
	var next map[string]any
	if req.GetInputs() == nil || len(olds) == 0 {
		next = asInputs(r, outputs)
		path, ok := r.ParseID(req.GetId())
		if !ok {
			return nil, status.Errorf(codes.InvalidArgument, "id: got %q, want one like %s; fix: import by the full ARM id", req.GetId(), r.IDTemplate)
		}
		for name, v := range path {
			next[name] = v
		}
	} else {
		was, now := asInputs(r, plain(olds)), asInputs(r, outputs)
		for _, name := range children[kindOf(r.Token)] {
			if _, set := inputs[resource.PropertyKey(name)]; !set {
				delete(was, name)
				delete(now, name)
			}
		}
		next = applyDiff(plain(inputs), was, now)
	}
	nextInputs, outs := properties(next), properties(outputs)
	keepSecret(inputs, nextInputs)
	keepSecret(inputs, outs)
	in, err := marshal(nextInputs, "azure-native.read")
	if err != nil {
		return nil, err
	}
	out, err := marshal(outs, "azure-native.read")
	if err != nil {
		return nil, err
	}
	id, _ := answer.Body["id"].(string)
	return &pulumirpc.ReadResponse{Id: id, Inputs: in, Properties: out}, nil
}

// Delete removes a resource; one that is gone already is fine (A017).
func (p *azureNative) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	defer p.cloud.enter()()
	r, err := p.typeOf(req.GetUrn())
	if err != nil {
		return nil, err
	}
	op := core.Op{Method: core.Delete, ID: req.GetId(), APIVersion: r.APIVersion}
	if singleton(r) {
		op = reset(r, op)
	}
	failure, err := p.run(ctx, op, r.Token, req.GetUrn())
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, errors.New(failure.Error())
	}
	return &emptypb.Empty{}, nil
}

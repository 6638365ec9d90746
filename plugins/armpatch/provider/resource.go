package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// The names of the outputs that are no inputs.
const (
	outPrevious    = "previous"
	outAbsent      = "previouslyAbsent"
	outResourceUID = "resourceUid"
	outPatchedUID  = "patchedUid"
	outAlreadyHeld = "alreadyHeld"
)

// Check validates the inputs of a Patch, reporting all problems at once, and adds defaults.
func (p *Provider) Check(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	if err := checkType(req.GetUrn()); err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "armpatch.check")
	if err != nil {
		return nil, err
	}
	news = withDefaults(news)
	_, problems := parse(news)
	var failures []*pulumirpc.CheckFailure
	for _, found := range problems {
		failures = append(failures, failure(found))
	}
	checked, err := marshal(news, "armpatch.check")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: checked, Failures: failures}, nil
}

func checkType(urn string) error {
	if token := string(resource.URN(urn).Type()); token != Token {
		return status.Errorf(codes.InvalidArgument, "resource type: got %q, want %s, the only one of this package", token, Token)
	}
	return nil
}

// Diff compares inputs with inputs. A new resourceId replaces; anything else updates.
func (p *Provider) Diff(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := unmarshal(req.GetOldInputs(), "armpatch.diff")
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "armpatch.diff")
	if err != nil {
		return nil, err
	}
	state, err := unmarshal(req.GetOlds(), "armpatch.diff")
	if err != nil {
		return nil, err
	}
	resp := &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true, DetailedDiff: map[string]*pulumirpc.PropertyDiff{}}
	for path, d := range plugin.NewDetailedDiffFromObjectDiff(reveal(olds).Diff(reveal(news)), true) {
		kind := map[plugin.DiffKind]pulumirpc.PropertyDiff_Kind{
			plugin.DiffAdd: pulumirpc.PropertyDiff_ADD, plugin.DiffDelete: pulumirpc.PropertyDiff_DELETE, plugin.DiffUpdate: pulumirpc.PropertyDiff_UPDATE,
		}[d.Kind]
		if path == inResourceID && !sameID(olds, news) {
			kind = pulumirpc.PropertyDiff_UPDATE_REPLACE
			resp.Replaces = []string{inResourceID}
		}
		resp.DetailedDiff[path] = &pulumirpc.PropertyDiff{Kind: kind, InputDiff: true}
	}
	if recreated(state) {
		resp.DetailedDiff[outResourceUID] = &pulumirpc.PropertyDiff{Kind: pulumirpc.PropertyDiff_UPDATE}
	}
	for path := range resp.DetailedDiff {
		top := path
		if i := strings.IndexAny(path, ".["); i > 0 {
			top = path[:i]
		}
		if !slices.Contains(resp.Diffs, top) {
			resp.Diffs = append(resp.Diffs, top)
		}
	}
	slices.Sort(resp.Diffs)
	if len(resp.Diffs) > 0 {
		resp.Changes = pulumirpc.DiffResponse_DIFF_SOME
	}
	return resp, nil
}

// sameID compares as ARM does: without regard to case. An id that is not known yet is another,
// since it belongs to a resource that is being replaced.
func sameID(olds, news resource.PropertyMap) bool {
	before, ok1 := plain(olds[inResourceID]).(string)
	after, ok2 := plain(news[inResourceID]).(string)
	return ok1 && ok2 && strings.EqualFold(before, after)
}

// recreated says whether Read found another resource under the id than the patched one.
func recreated(state resource.PropertyMap) bool {
	live, _ := plain(state[outResourceUID]).(string)
	patched, _ := plain(state[outPatchedUID]).(string)
	return live != "" && patched != "" && live != patched
}

// Create patches for the first time.
func (p *Provider) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	news, err := unmarshal(req.GetProperties(), "armpatch.create")
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		out := news.Copy()
		for _, name := range []resource.PropertyKey{outPrevious, outAbsent, outResourceUID, outPatchedUID, outAlreadyHeld} {
			out[name] = resource.MakeComputed(resource.NewProperty(""))
		}
		properties, err := marshal(out, "armpatch.create")
		return &pulumirpc.CreateResponse{Properties: properties}, err
	}
	id, properties, err := p.write(ctx, req.GetUrn(), news, nil, nil, req.GetTimeout())
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CreateResponse{Id: id, Properties: properties}, nil
}

// Update patches again. It also writes when only a trigger changed, if the resource no longer
// holds the patch.
func (p *Provider) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	news, err := unmarshal(req.GetNews(), "armpatch.update")
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetOldInputs(), "armpatch.update")
	if err != nil {
		return nil, err
	}
	state, err := unmarshal(req.GetOlds(), "armpatch.update")
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		properties, err := marshal(planned(state, olds, news), "armpatch.update")
		return &pulumirpc.UpdateResponse{Properties: properties}, err
	}
	_, properties, err := p.write(ctx, req.GetUrn(), news, olds, state, req.GetTimeout())
	if err != nil {
		return nil, err
	}
	return &pulumirpc.UpdateResponse{Properties: properties}, nil
}

// planned is what an update will probably give. Patching the same leaves of the same resource
// again changes none of the outputs, so they stay known, and what depends on them shows no
// change; otherwise they are open.
func planned(state, olds, news resource.PropertyMap) resource.PropertyMap {
	out := news.Copy()
	same := !recreated(state) && reveal(resource.PropertyMap{inUIDPointer: olds[inUIDPointer]}).DeepEquals(reveal(resource.PropertyMap{inUIDPointer: news[inUIDPointer]}))
	// The state's properties are those of the last patch; the inputs may be those of a drift.
	samePatch := same && reveal(resource.PropertyMap{"": state[inProperties]}).DeepEquals(reveal(resource.PropertyMap{"": news[inProperties]}))
	for name, keep := range map[resource.PropertyKey]bool{
		outPrevious: samePatch, outAbsent: samePatch, outAlreadyHeld: same, outResourceUID: same, outPatchedUID: same,
	} {
		if v, ok := state[name]; ok && keep {
			out[name] = v
		} else {
			out[name] = resource.MakeComputed(resource.NewProperty(""))
		}
	}
	return out
}

// write is Create (state is nil) and Update.
func (p *Provider) write(ctx context.Context, urn string, news, olds, state resource.PropertyMap, timeout float64) (id string, properties *structpb.Struct, err error) {
	in, problems := parse(news)
	if len(problems) > 0 {
		return "", nil, status.Error(codes.InvalidArgument, joined(problems))
	}
	if state != nil && !sameID(olds, news) {
		return "", nil, status.Errorf(codes.InvalidArgument, "%s: got another id in an update, want a replacement; please report this", inResourceID)
	}
	ctx, done := p.begin(ctx)
	defer done()
	release, err := p.alone(ctx, in.resourceID)
	if err != nil {
		return "", nil, err
	}
	defer release()
	before := recorded(state)
	j, err := p.job(ctx, urn, in, timeout)
	if err != nil {
		return "", nil, err
	}
	j.patch, j.preconditions = in.properties, in.preconditions
	leaves := leavesOf(in.properties)
	now, uid, held := before, "", state != nil && boolean(state[outAlreadyHeld])
	patchedUID, _ := plain(state[outPatchedUID]).(string)
	j.onSettled = func(s *snapshot, found string) {
		uid = found
		first := state == nil || found != "" && patchedUID != "" && found != patchedUID
		j.restore = nil
		if first {
			now = record(s.body, leaves)
			held = len(unmet(s.body, leaves, strictly)) == 0
			return
		}
		now = before.carry(s.body, leaves)
		if in.onDelete == Restore {
			j.restore = before.dropped(leaves)
			j.patched, _ = plain(state[inProperties]).(map[string]any)
		}
	}
	result, err := j.run(ctx)
	if isNotFound(err) {
		err = fmt.Errorf("%w; a Patch changes what something else has made, so depend on that, or run pulumi refresh if it was there", err)
	}
	if err != nil && !result.written {
		return "", nil, fmt.Errorf("patch of %s: %w", in.resourceID, err)
	}
	p.warnKept(ctx, urn, result.kept)
	if result.final != nil {
		if last, err := j.uidOf(result.final.body); err == nil {
			uid = last
		}
	}
	secret := in.secret || state[outPrevious].ContainsSecrets()
	out := news.Copy()
	out[outPrevious] = secretIf(secret, property(now.values))
	out[outAbsent] = property(texts(now.absent))
	out[outResourceUID] = resource.NewProperty(uid)
	out[outPatchedUID] = resource.NewProperty(uid)
	out[outAlreadyHeld] = resource.NewProperty(held)
	properties, merr := marshal(out, "armpatch.write")
	if merr != nil {
		return "", nil, merr
	}
	if err != nil {
		// The resource may be changed already, so the state must know what was before. The engine
		// keeps it, marks the Patch as failed and updates it in the next run.
		return "", nil, partial(in.resourceID, properties, fmt.Errorf("patch of %s: %w", in.resourceID, err))
	}
	return in.resourceID, properties, nil
}

// partial is the error of a change that may have happened in part.
func partial(id string, properties *structpb.Struct, err error) error {
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, err.Error()), &pulumirpc.ErrorResourceInitFailed{Id: id, Properties: properties, Reasons: []string{err.Error()}})
}

func joined(problems []problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func boolean(v resource.PropertyValue) bool {
	b, _ := plain(v).(bool)
	return b
}

// recorded reads a recording out of the state.
func recorded(state resource.PropertyMap) recording {
	r := recording{values: map[string]any{}, absent: []string{}}
	if values, ok := plain(state[outPrevious]).(map[string]any); ok {
		r.values = values
	}
	list, _ := plain(state[outAbsent]).([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			r.absent = append(r.absent, s)
		}
	}
	return r
}

// job is what writing and restoring have in common. A timeout of the resource option
// customTimeouts (in seconds) goes before timeoutSeconds.
func (p *Provider) job(ctx context.Context, urn string, in inputs, timeout float64) (*job, error) {
	c, err := p.connect()
	if err != nil {
		return nil, err
	}
	total := in.timeout
	if timeout > 0 {
		total = time.Duration(timeout * float64(time.Second))
	}
	return &job{
		client: c, sleep: p.options.Sleep, say: func(text string) { p.tell(ctx, pulumirpc.LogSeverity_INFO, urn, text) },
		id: in.resourceID, version: in.apiVersion, drop: in.drop, uid: in.uid,
		poll: in.poll, left: total, total: total, secret: in.secret,
	}, nil
}

func (p *Provider) warnKept(ctx context.Context, urn string, kept []leaf) {
	for _, l := range kept {
		p.tell(ctx, pulumirpc.LogSeverity_WARNING, urn, fmt.Sprintf("%s was not set before the patch, and the service keeps its value when a PUT leaves it out; it stays as it is", l.at))
	}
}

// Read looks at the live resource. It never waits for one that is being changed.
func (p *Provider) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	state, err := unmarshal(req.GetProperties(), "armpatch.read")
	if err != nil {
		return nil, err
	}
	olds, err := unmarshal(req.GetInputs(), "armpatch.read")
	if err != nil {
		return nil, err
	}
	if len(olds) == 0 || len(state) == 0 {
		return nil, status.Errorf(codes.Unimplemented, "a Patch cannot be imported or read by id (%q): what was there before it is not known; fix: declare it, then run pulumi up, which changes nothing where the resource is as wanted", req.GetId())
	}
	in, problems := parse(withDefaults(olds))
	if in.resourceID == "" || in.apiVersion == "" {
		return nil, status.Error(codes.InvalidArgument, joined(problems))
	}
	ctx, done := p.begin(ctx)
	defer done()
	j, err := p.job(ctx, req.GetUrn(), in, 0)
	if err != nil {
		return nil, err
	}
	s, err := j.look(ctx)
	if isNotFound(err) {
		return &pulumirpc.ReadResponse{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("patch of %s: %w", in.resourceID, err)
	}
	// The leaves are those of the last patch: inputs of an earlier Read may miss some.
	patch, ok := plain(state[inProperties]).(map[string]any)
	if !ok {
		patch = in.properties
	}
	live := olds.Copy()
	live[inProperties] = secretIf(state[inProperties].ContainsSecrets() || in.secret, property(observed(s.body, patch)))
	out := state.Copy()
	if in.uid != nil {
		uid, _ := lookup(s.body, in.uid)
		text, _ := uid.(string)
		out[outResourceUID] = resource.NewProperty(text)
	}
	inputs, err := marshal(live, "armpatch.read")
	if err != nil {
		return nil, err
	}
	properties, err := marshal(out, "armpatch.read")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ReadResponse{Id: req.GetId(), Inputs: inputs, Properties: properties}, nil
}

// Delete forgets the patch, or takes it back.
func (p *Provider) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	state, err := unmarshal(req.GetProperties(), "armpatch.delete")
	if err != nil {
		return nil, err
	}
	in, problems := parse(onlyInputs(state))
	if in.onDelete != Restore {
		return &emptypb.Empty{}, nil
	}
	if len(problems) > 0 {
		return nil, status.Error(codes.InvalidArgument, joined(problems))
	}
	ctx, done := p.begin(ctx)
	defer done()
	release, err := p.alone(ctx, in.resourceID)
	if err != nil {
		return nil, err
	}
	defer release()
	j, err := p.job(ctx, req.GetUrn(), in, req.GetTimeout())
	if err != nil {
		return nil, err
	}
	j.restore, j.patched = recorded(state).undo(), in.properties
	patchedUID, _ := plain(state[outPatchedUID]).(string)
	// A recreated resource does not carry the patch, and what was recorded is not its own.
	j.skip = func(uid string) bool { return uid != "" && patchedUID != "" && uid != patchedUID }
	result, err := j.run(ctx)
	if isNotFound(err) {
		return &emptypb.Empty{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("restoring %s: %w", in.resourceID, err)
	}
	p.warnKept(ctx, req.GetUrn(), result.kept)
	return &emptypb.Empty{}, nil
}

// onlyInputs takes the inputs out of a state, which holds them as they were applied.
func onlyInputs(state resource.PropertyMap) resource.PropertyMap {
	out := resource.PropertyMap{}
	for _, name := range inputNames {
		if v, ok := state[resource.PropertyKey(name)]; ok {
			out[resource.PropertyKey(name)] = v
		}
	}
	return withDefaults(out)
}

// Package provider serves the Pulumi package armpatch. Its one resource,
// armpatch:index:Patch, changes a part of an Azure resource that something else made, where
// that something cannot say it: because it must come later (KEDA after workload identity on
// AKS; closing the public door of API Management after its private endpoint exists), or
// because the typed resource does not know the property.
//
// # How it writes
//
// GET until nothing is running on the resource; check the preconditions; if everything is as
// wanted already, stop; merge (RFC 7386), strip what only the service may write, PUT with
// If-Match; on 409, 412 and 429 wait and start again from the GET; follow the operation to its
// end; GET again and verify every patched leaf. Two Patches of one resource in one process take
// turns.
//
// # What it remembers
//
// previous and previouslyAbsent say how the patched leaves were before the first patch. A leaf
// that is taken out of properties later is put back in the same PUT if onDelete is restore, and
// left alone if it is keep. The preconditions guard patches, not restorations.
//
// # Drift
//
// Read puts the live values of the patched leaves into the inputs, so a difference shows as a
// diff of properties. If uidPointer is given, Read also notices that the resource was recreated
// under the same id: the live value becomes resourceUid, the value of the resource that
// carries the patch stays patchedUid, and Diff answers "update" while the two differ, even if
// the new resource happens to hold the patch. The update that follows records previous anew.
//
// # What it leaves out
//
// Import, and reading a resource that is not patched: the state would not know what was
// before. The values restore needs are in the state, as secrets if the patch has any.
//
// A Patch that is replaced over the same resource is created before the old one is deleted, so
// with onDelete restore the old one would undo the new one. Only a new resourceId replaces by
// itself; with DeletedWith the old one is not deleted on its own. Keep is the default.
package provider

import (
	"context"
	_ "embed" // schema.json
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// Name is the Pulumi package.
	Name = "armpatch"
	// Version is the package's version; schema.json and the SDK state the same.
	Version = "0.1.0"
	// Token is the type of the one resource.
	Token = "armpatch:index:Patch"
)

// The names of the outputs that are no inputs.
const (
	outPrevious    = "previous"
	outAbsent      = "previouslyAbsent"
	outResourceUID = "resourceUid"
	outPatchedUID  = "patchedUid"
	outAlreadyHeld = "alreadyHeld"
)

// configEnvironment is the one key of the provider's configuration.
const configEnvironment = "environment"

// environments are the clouds by the names that azure-native gives them.
var environments = map[string]cloud.Configuration{
	"public":       cloud.AzurePublic,
	"usgovernment": cloud.AzureGovernment,
	"china":        cloud.AzureChina,
}

const environmentNames = "public, usgovernment or china"

//go:embed schema.json
var schema string

// Options are what a process decides about a Provider. The zero value is for real life.
type Options struct {
	// Endpoint is the address of Azure Resource Manager; "" means that of the configured
	// environment. Plain HTTP is for loopback addresses only.
	Endpoint string
	// Credential signs requests; nil means azidentity.DefaultAzureCredential, made at the first
	// request, so that previews need no login.
	Credential azcore.TokenCredential
	// HTTPClient sends requests; nil means azcore's default.
	HTTPClient *http.Client
	// Sleep waits between requests; nil means real time. It returns early with an error when
	// the context ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Provider is the package armpatch. It may serve any number of engines, one after another.
type Provider struct {
	pulumirpc.UnimplementedResourceProviderServer
	options Options

	mu          sync.Mutex
	environment string
	made        *client          // by connect
	engine      *grpc.ClientConn // nil until Handshake or Attach
	running     map[*context.CancelCauseFunc]struct{}
	busy        map[string]chan struct{} // by lower-case resource id; one token each
}

var _ pulumirpc.ResourceProviderServer = (*Provider)(nil)

// New returns a provider that has not been configured yet.
func New(options Options) *Provider {
	if options.Sleep == nil {
		options.Sleep = sleep
	}
	return &Provider{
		options: options, environment: "public",
		running: map[*context.CancelCauseFunc]struct{}{}, busy: map[string]chan struct{}{},
	}
}

// Server is the provider as gRPC serves it.
func (p *Provider) Server() pulumirpc.ResourceProviderServer { return p }

// Handshake learns where the engine listens, for progress and warnings.
func (p *Provider) Handshake(_ context.Context, req *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	if err := p.attach(req.GetEngineAddress()); err != nil {
		return nil, err
	}
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true}, nil
}

// Attach does for old engines what Handshake does.
func (p *Provider) Attach(_ context.Context, req *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, p.attach(req.GetAddress())
}

func (p *Provider) attach(address string) error {
	if address == "" {
		return nil
	}
	engine, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), rpcutil.GrpcChannelOptions())
	if err != nil {
		return fmt.Errorf("engine at %s: %w", address, err)
	}
	p.mu.Lock()
	old := p.engine
	p.engine = engine
	p.mu.Unlock()
	if old != nil {
		_ = old.Close() // that engine has gone
	}
	return nil
}

// tell shows a person a warning, or what is being waited for, beside a resource. A line that
// does not get through is no reason to fail.
func (p *Provider) tell(ctx context.Context, severity pulumirpc.LogSeverity, urn, text string) {
	p.mu.Lock()
	engine := p.engine
	p.mu.Unlock()
	if engine == nil {
		return
	}
	_, _ = pulumirpc.NewEngineClient(engine).Log(ctx, &pulumirpc.LogRequest{
		Severity: severity, Message: text, Urn: urn, Ephemeral: severity == pulumirpc.LogSeverity_INFO,
	})
}

// GetPluginInfo answers the version.
func (p *Provider) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: Version}, nil
}

// GetSchema answers schema.json.
func (p *Provider) GetSchema(_ context.Context, req *pulumirpc.GetSchemaRequest) (*pulumirpc.GetSchemaResponse, error) {
	if v := req.GetVersion(); v != 0 {
		return nil, status.Errorf(codes.Unimplemented, "schema version: got %d, want 0", v)
	}
	return &pulumirpc.GetSchemaResponse{Schema: schema}, nil
}

// CheckConfig accepts the key environment and what engines add of their own.
func (p *Provider) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	config, err := unmarshal(req.GetNews(), "armpatch.checkConfig")
	if err != nil {
		return nil, err
	}
	var failures []*pulumirpc.CheckFailure
	for _, key := range config.StableKeys() {
		name := string(key)
		switch {
		case name == configEnvironment:
			v := plain(config[key])
			_, open := v.(unknown)
			text, _ := v.(string)
			if _, ok := environments[text]; !ok && !open {
				failures = append(failures, failure(problem{property: name, got: show(printable(v), v != nil), want: environmentNames}))
			}
		case name == "version" || name == "pluginDownloadURL" || strings.HasPrefix(name, "__"):
		default:
			failures = append(failures, failure(problem{
				property: name, got: "a key that the provider does not have", want: configEnvironment,
				fix: "pulumi config rm " + Name + ":" + name,
			}))
		}
	}
	return &pulumirpc.CheckResponse{Inputs: req.GetNews(), Failures: failures}, nil
}

func failure(p problem) *pulumirpc.CheckFailure {
	return &pulumirpc.CheckFailure{Property: p.property, Reason: p.String()}
}

// DiffConfig replaces the provider with the cloud, since no resource is in two of them.
func (p *Provider) DiffConfig(_ context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	olds, err := unmarshal(req.GetOldInputs(), "armpatch.diffConfig")
	if err != nil {
		return nil, err
	}
	news, err := unmarshal(req.GetNews(), "armpatch.diffConfig")
	if err != nil {
		return nil, err
	}
	before, after := plain(olds[configEnvironment]), plain(news[configEnvironment])
	if before == nil {
		before = "public"
	}
	if after == nil {
		after = "public"
	}
	if before == after {
		return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE, HasDetailedDiff: true}, nil
	}
	return &pulumirpc.DiffResponse{
		Changes: pulumirpc.DiffResponse_DIFF_SOME, Diffs: []string{configEnvironment}, Replaces: []string{configEnvironment}, HasDetailedDiff: true,
		DetailedDiff: map[string]*pulumirpc.PropertyDiff{configEnvironment: {Kind: pulumirpc.PropertyDiff_UPDATE_REPLACE, InputDiff: true}},
	}, nil
}

// Configure takes the cloud. AZURE_ENVIRONMENT, which other tools read, may not contradict it
// silently: one that names another cloud is an error, unless the configuration says which is meant.
func (p *Provider) Configure(_ context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	config, err := unmarshal(req.GetArgs(), "armpatch.configure")
	if err != nil {
		return nil, err
	}
	name, _ := plain(config[configEnvironment]).(string)
	if name == "" {
		name = "public"
		ambient := os.Getenv("AZURE_ENVIRONMENT")
		if p.options.Endpoint == "" && ambient != "" && !strings.EqualFold(ambient, "public") && !strings.EqualFold(ambient, "AzurePublicCloud") && !strings.EqualFold(ambient, "AzureCloud") {
			return nil, status.Errorf(codes.InvalidArgument, "AZURE_ENVIRONMENT: got %q, want public, because another cloud is chosen in the configuration; fix: pulumi config set %s:%s usgovernment (or china)", ambient, Name, configEnvironment)
		}
	}
	if _, ok := environments[name]; !ok {
		return nil, status.Errorf(codes.InvalidArgument, "%s:%s: got %q, want %s", Name, configEnvironment, name, environmentNames)
	}
	p.mu.Lock()
	if p.environment != name {
		p.environment, p.made = name, nil
	}
	p.mu.Unlock()
	return &pulumirpc.ConfigureResponse{SupportsPreview: true, AcceptSecrets: true}, nil
}

// connect makes the client at the first request.
func (p *Provider) connect() (*client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made != nil {
		return p.made, nil
	}
	config := environments[p.environment]
	if p.options.Endpoint != "" {
		config = cloud.Configuration{
			ActiveDirectoryAuthorityHost: config.ActiveDirectoryAuthorityHost,
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Endpoint: p.options.Endpoint, Audience: config.Services[cloud.ResourceManager].Audience},
			},
		}
	}
	var transport policy.Transporter
	if p.options.HTTPClient != nil {
		transport = p.options.HTTPClient
	}
	credential := p.options.Credential
	if credential == nil {
		var err error
		credential, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: policy.ClientOptions{Cloud: config, Transport: transport},
		})
		if err != nil {
			return nil, fmt.Errorf("no Azure credential: %w; fix: az login, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and a secret or federated token", err)
		}
	}
	made, err := newClient(config, credential, transport)
	if err != nil {
		return nil, err
	}
	p.made = made
	return made, nil
}

// begin makes a context that Cancel ends, and that lasts until done is called.
func (p *Provider) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := &cancel
	p.mu.Lock()
	p.running[key] = struct{}{}
	p.mu.Unlock()
	return ctx, func() {
		p.mu.Lock()
		delete(p.running, key)
		p.mu.Unlock()
		cancel(nil)
	}
}

// errCancelled is the cause of what Cancel ends.
var errCancelled = errors.New("cancelled; an operation that Azure had accepted goes on there")

// Cancel ends what is running, and nothing that begins later: engines also cancel when they are
// done, and the same provider may serve the next one.
func (p *Provider) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for cancel := range p.running {
		(*cancel)(errCancelled)
	}
	return &emptypb.Empty{}, nil
}

// alone lets one operation at a time work on a resource, so that two Patches of one resource do
// not meet as 412 and 409.
func (p *Provider) alone(ctx context.Context, id string) (release func(), err error) {
	key := strings.ToLower(id)
	p.mu.Lock()
	turn, ok := p.busy[key]
	if !ok {
		turn = make(chan struct{}, 1)
		p.busy[key] = turn
	}
	p.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

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

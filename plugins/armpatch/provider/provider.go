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
	"strings"
	"sync"
	"time"

	"onedoor/internal/pause"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

const (
	// Name is the Pulumi package.
	Name = "armpatch"
	// Version is the package's version; schema.json and the SDK state the same.
	Version = "0.1.0"
	// Token is the type of the one resource.
	Token = "armpatch:index:Patch"
)

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
		options.Sleep = pause.For
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

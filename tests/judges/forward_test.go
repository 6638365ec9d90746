//go:build judges

package judges

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// forward is Pulumi's own provider for Kubernetes, with another kubeconfig than the
// program gives it: the simulated Azure has no API server. As with the engine, each
// configuration has a process of its own.
type forward struct {
	pulumirpc.UnimplementedResourceProviderServer
	t          *testing.T
	program    string // path of the provider
	kubeconfig string // the text

	mu     sync.Mutex
	attach *pulumirpc.PluginAttach
	to     pulumirpc.ResourceProviderClient
}

func newForward(t *testing.T, c *cluster) *forward {
	t.Helper()
	text, err := os.ReadFile(c.kubeconfig)
	require.NoError(t, err)
	f := &forward{t: t, program: program(t, "provider"), kubeconfig: string(text)}
	require.NoError(t, f.start())
	return f
}

// maxMessage is the engine's own limit for one message.
const maxMessage = 400 << 20

// start starts another process.
func (f *forward) start() error {
	command := exec.Command(f.program)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	f.t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = pulumirpc.NewResourceProviderClient(connection)
	return nil
}

func (f *forward) client() pulumirpc.ResourceProviderClient {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to
}

// Configure hands the provider the kubeconfig of the judge, once the program has one.
func (f *forward) Configure(ctx context.Context, req *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	if err := f.start(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	attach := f.attach
	f.mu.Unlock()
	if attach != nil {
		if _, err := f.client().Attach(ctx, attach); err != nil {
			return nil, err
		}
	}
	variables := req.GetVariables() //nolint:staticcheck // what this provider reads, instead of args
	if strings.Contains(variables["kubernetes:config:kubeconfig"], "kubelogin") {
		variables["kubernetes:config:kubeconfig"] = f.kubeconfig
	}
	return f.client().Configure(ctx, req)
}

// Attach implements pulumirpc.ResourceProviderServer.
func (f *forward) Attach(ctx context.Context, req *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	f.mu.Lock()
	f.attach = req
	f.mu.Unlock()
	return f.client().Attach(ctx, req)
}

// The rest goes through as it is, but for releases.

// Handshake implements pulumirpc.ResourceProviderServer.
func (f *forward) Handshake(ctx context.Context, req *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	return f.client().Handshake(ctx, req)
}

// GetPluginInfo implements pulumirpc.ResourceProviderServer.
func (f *forward) GetPluginInfo(ctx context.Context, req *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return f.client().GetPluginInfo(ctx, req)
}

// CheckConfig implements pulumirpc.ResourceProviderServer.
func (f *forward) CheckConfig(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return f.client().CheckConfig(ctx, req)
}

// DiffConfig implements pulumirpc.ResourceProviderServer.
func (f *forward) DiffConfig(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return f.client().DiffConfig(ctx, req)
}

// Check implements pulumirpc.ResourceProviderServer.
func (f *forward) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	if isRelease(req) {
		return checkRelease(req), nil
	}
	return f.client().Check(ctx, req)
}

// Diff implements pulumirpc.ResourceProviderServer.
func (f *forward) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	if isRelease(req) {
		return diffRelease(req), nil
	}
	return f.client().Diff(ctx, req)
}

// Create implements pulumirpc.ResourceProviderServer.
func (f *forward) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	if isRelease(req) {
		return createRelease(req), nil
	}
	return f.client().Create(ctx, req)
}

// Read implements pulumirpc.ResourceProviderServer.
func (f *forward) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	if isRelease(req) {
		return readRelease(req), nil
	}
	return f.client().Read(ctx, req)
}

// Update implements pulumirpc.ResourceProviderServer.
func (f *forward) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	if isRelease(req) {
		return updateRelease(req), nil
	}
	return f.client().Update(ctx, req)
}

// Delete implements pulumirpc.ResourceProviderServer.
func (f *forward) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	if isRelease(req) {
		return &emptypb.Empty{}, nil // there was nothing but the declaration
	}
	return f.client().Delete(ctx, req)
}

// Cancel implements pulumirpc.ResourceProviderServer.
func (f *forward) Cancel(ctx context.Context, req *emptypb.Empty) (*emptypb.Empty, error) {
	return f.client().Cancel(ctx, req)
}

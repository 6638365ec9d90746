package sim

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"
)

// The packages that the embedded Azure serves, with the versions of their SDKs.
// The engine asks for the version (GetPluginInfo) and attaches any.
const (
	AzureNative        = "azure-native"
	AzureNativeVersion = "2.92.3"
	Kubernetes         = "kubernetes"
	KubernetesVersion  = "4.32.0"
	Random             = "random"
	RandomVersion      = "4.18.4"
)

// Providers returns one provider for each package; all share this Cloud. Serve
// each on a listener of its own and name them in PULUMI_DEBUG_PROVIDERS.
func (c *Cloud) Providers() map[string]pulumirpc.ResourceProviderServer {
	return map[string]pulumirpc.ResourceProviderServer{
		AzureNative: newAzureNative(c),
		Kubernetes:  newKubernetes(c),
		Random:      &randomProvider{base{name: Random, version: RandomVersion}},
	}
}

// base answers what all providers answer alike.
type base struct {
	pulumirpc.UnimplementedResourceProviderServer
	name, version string
}

// Handshake, Attach and Cancel have nothing to do here: the process serves until
// the program ends it, because the engine cancels before it has written its state.
func (base) Handshake(context.Context, *pulumirpc.ProviderHandshakeRequest) (*pulumirpc.ProviderHandshakeResponse, error) {
	return &pulumirpc.ProviderHandshakeResponse{AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true}, nil
}

// Attach implements pulumirpc.ResourceProviderServer.
func (base) Attach(context.Context, *pulumirpc.PluginAttach) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// Cancel implements pulumirpc.ResourceProviderServer.
func (base) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// GetPluginInfo answers the version of the package's SDK.
func (b base) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: b.version}, nil
}

// CheckConfig takes any configuration, as azure-native does.
func (base) CheckConfig(_ context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	return &pulumirpc.CheckResponse{Inputs: req.GetNews()}, nil
}

// DiffConfig finds no difference, as azure-native does.
func (base) DiffConfig(context.Context, *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	return &pulumirpc.DiffResponse{Changes: pulumirpc.DiffResponse_DIFF_NONE}, nil
}

// Configure says which values the provider understands.
func (base) Configure(context.Context, *pulumirpc.ConfigureRequest) (*pulumirpc.ConfigureResponse, error) {
	return &pulumirpc.ConfigureResponse{SupportsPreview: true, AcceptSecrets: true, AcceptResources: true, AcceptOutputs: true}, nil
}

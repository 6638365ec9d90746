package provider

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

package edge_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwt "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	rbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/downstream_connections/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"onedoor/components/edge"
	"onedoor/internal/az"
	"onedoor/internal/door"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
	"onedoor/internal/ref"
)

const (
	tenant = "66666666-7777-8888-9999-000000000000"
	vault  = fake.GroupID + "/providers/Microsoft.KeyVault/vaults/kv-gateway"
)

func args() edge.Args {
	return edge.Args{
		Scope: fake.Scope(az.Prod), TenantID: tenant, Namespace: pulumi.String(kube.Edge), Image: pulumi.String("cr.azurecr.io/envoyproxy/envoy:distroless-v1.34.1"),
		ClientID: pulumi.String("edge-client"), Identity: fake.Identity("edge"),
		Certificate: edge.Certificate{Vault: ref.Ready(vault), Secret: "serving-edge"},
		Door: door.Door{
			Name: "serving", Zone: fake.Zones("test.onedoor.internal")["test.onedoor.internal"], Address: netip.MustParseAddr("10.40.9.125"),
			Subnet:  ref.Subnet{Resource: ref.Ready(fake.GroupID + "/providers/Microsoft.Network/virtualNetworks/vnet/subnets/doors"), Prefix: netip.MustParsePrefix("10.40.9.0/25")},
			Sources: []netip.Prefix{netip.MustParsePrefix("10.40.8.0/27")},
		},
		Audience: "api://onedoor-serving", Caller: fake.Identity("gateway"), Nodes: map[string]string{"pool": "system"}, Models: []string{"llama-70b", "llama-8b"},
	}
}

func program(a edge.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		a.Cluster = &cluster
		e, err := edge.New(ctx, "edge", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "caller", e.URL)
	}
}

// message reads a message of Envoy's and asks its own rules about it.
func message[M proto.Message](t *testing.T, text string, into M) M {
	t.Helper()
	require.NoError(t, protojson.Unmarshal([]byte(text), into))
	valid(t, into)
	return into
}

// valid asks a message's own rules, which do not look into messages that are looked
// up by their type.
func valid(t *testing.T, m proto.Message) {
	t.Helper()
	if v, can := m.(interface{ ValidateAll() error }); can {
		require.NoError(t, v.ValidateAll(), "%T", m)
	}
}

// unpack is the message that is looked up by its type.
func unpack[M proto.Message](t *testing.T, packed *anypb.Any, into M) M {
	t.Helper()
	require.NoError(t, packed.UnmarshalTo(into))
	valid(t, into)
	return into
}

// files are the files of the configuration, once everything is known.
func files(t *testing.T) map[string]any {
	t.Helper()
	return fake.Run(t, fake.Update, program(args())).Get(t, "edge-config").Input("data").(map[string]any)
}

// manager is what answers on a listener's port.
func manager(t *testing.T, b *bootstrap.Bootstrap, name string) (*listener.FilterChain, *hcm.HttpConnectionManager) {
	t.Helper()
	for _, l := range b.GetStaticResources().GetListeners() {
		if l.GetName() == name {
			chain := l.GetFilterChains()[0]
			return chain, unpack(t, chain.GetFilters()[0].GetTypedConfig(), &hcm.HttpConnectionManager{})
		}
	}
	require.Fail(t, "no listener", name)
	return nil, nil
}

func envoy(t *testing.T) *bootstrap.Bootstrap {
	t.Helper()
	return message(t, files(t)["envoy.json"].(string), &bootstrap.Bootstrap{})
}

// The gateway alone gets past the filters, and in this order.
func TestOnlyTheGatewaysTokenOpensTheDoor(t *testing.T) {
	t.Parallel()
	b := envoy(t)
	chain, door := manager(t, b, "door")
	var names []string
	for _, f := range door.GetHttpFilters() {
		names = append(names, f.GetName())
	}
	assert.Equal(t, []string{"envoy.filters.http.jwt_authn", "envoy.filters.http.rbac", "envoy.filters.http.router"}, names)

	authentication := unpack(t, door.GetHttpFilters()[0].GetTypedConfig(), &jwt.JwtAuthentication{})
	issuers := []string{}
	for _, p := range authentication.GetProviders() {
		issuers = append(issuers, p.GetIssuer())
		assert.Equal(t, []string{"api://onedoor-serving"}, p.GetAudiences())
		assert.False(t, p.GetForward(), "models have no business with the token")
		assert.Equal(t, "https://login.microsoftonline.com/"+tenant+"/discovery/v2.0/keys", p.GetRemoteJwks().GetHttpUri().GetUri())
		assert.NotNil(t, p.GetRemoteJwks().GetAsyncFetch())
	}
	assert.ElementsMatch(t, []string{"https://sts.windows.net/" + tenant + "/", "https://login.microsoftonline.com/" + tenant + "/v2.0"}, issuers)
	require.Len(t, authentication.GetRules(), 1)
	assert.Equal(t, "/", authentication.GetRules()[0].GetMatch().GetPrefix(), "no path is left out")
	for _, r := range authentication.GetRules()[0].GetRequires().GetRequiresAny().GetRequirements() {
		assert.Contains(t, authentication.GetProviders(), r.GetProviderName())
	}

	policies := unpack(t, door.GetHttpFilters()[1].GetTypedConfig(), &rbac.RBAC{}).GetRules().GetPolicies()
	require.Len(t, policies, 1)
	require.Len(t, policies["gateway"].GetPrincipals(), 1)
	claim := policies["gateway"].GetPrincipals()[0].GetSourcedMetadata().GetMetadataMatcher()
	assert.Equal(t, "gateway-principal", claim.GetValue().GetStringMatch().GetExact())
	assert.Equal(t, authentication.GetProviders()["v2"].GetPayloadInMetadata(), claim.GetPath()[0].GetKey())
	assert.Equal(t, "oid", claim.GetPath()[1].GetKey())

	context := unpack(t, chain.GetTransportSocket().GetTypedConfig(), &tls.DownstreamTlsContext{}).GetCommonTlsContext()
	assert.Equal(t, tls.TlsParameters_TLSv1_2, context.GetTlsParams().GetTlsMinimumProtocolVersion())
	assert.Equal(t, "door", context.GetTlsCertificateSdsSecretConfigs()[0].GetName())
}

func TestPathsNameModels(t *testing.T) {
	t.Parallel()
	b := envoy(t)
	_, door := manager(t, b, "door")
	hosts := door.GetRouteConfig().GetVirtualHosts()
	require.Len(t, hosts, 1)
	clusters := map[string]string{}
	for _, c := range b.GetStaticResources().GetClusters() {
		at := c.GetLoadAssignment().GetEndpoints()[0].GetLbEndpoints()[0].GetEndpoint().GetAddress().GetSocketAddress()
		clusters[c.GetName()] = fmt.Sprintf("%s:%d", at.GetAddress(), at.GetPortValue())
	}
	routes := map[string]*route.RouteAction{}
	for _, r := range hosts[0].GetRoutes() {
		routes[r.GetMatch().GetPrefix()] = r.GetRoute()
	}
	assert.Len(t, routes, 2, "every other path is answered 404")
	for _, model := range []string{"llama-70b", "llama-8b"} {
		to := routes["/"+model+"/v1/"]
		require.NotNil(t, to, model)
		assert.Equal(t, "/v1/", to.GetPrefixRewrite())
		assert.Equal(t, model+"-serve-svc.onedoor-serving.svc.cluster.local:8000", clusters[to.GetCluster()])
		assert.Nil(t, to.GetRetryPolicy(), "the gateway knows other places to try")
	}
	assert.Equal(t, hcm.HttpConnectionManager_REJECT_REQUEST, door.GetPathWithEscapedSlashesAction(), "what is routed is what is called")
}

// A renewed certificate is shown without a restart.
func TestTheCertificateIsWatched(t *testing.T) {
	t.Parallel()
	resources := message(t, files(t)["certificate.json"].(string), &discovery.DiscoveryResponse{}).GetResources()
	require.Len(t, resources, 1)
	secret := unpack(t, resources[0], &tls.Secret{})
	assert.Equal(t, "door", secret.GetName())
	assert.Equal(t, "/var/run/onedoor/tls", secret.GetTlsCertificate().GetWatchedDirectory().GetPath())
	plan := fake.Run(t, fake.Update, program(args()))
	spec := plan.Get(t, "edge-tls").Input("spec").(map[string]any)
	assert.Equal(t, "edge-client", spec["parameters"].(map[string]any)["clientID"])
	assert.Equal(t, []string{"edge-principal " + az.SecretsUser.GUID + " at secrets/serving-edge"}, plan.Grants(), "one secret of the vault")
	assert.Equal(t, []string{"properties", "tags"}, plan.Get(t, "edge-certificate").Options.Ignore)
}

func TestObjectsAreLegal(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		n := 0
		for _, r := range fake.Run(t, mode, program(args())).Resources {
			if !strings.HasPrefix(r.Type, "kubernetes:") {
				continue
			}
			object := map[string]any{}
			for key := range r.Inputs {
				object[string(key)] = r.Input(string(key))
			}
			assert.Empty(t, manifest.Check(object), r.Name)
			assert.Equal(t, "aks", r.Options.DeletedWith, r.Name)
			n++
		}
		assert.Equal(t, 5, n)
	}
}

func TestTheDoorStandsAtItsPlannedAddress(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	service := plan.Get(t, "edge-door")
	assert.Equal(t, []string{"spec.clusterIP", "spec.clusterIPs"}, service.Options.Ignore, "one that was imported must stay")
	spec := service.Input("spec").(map[string]any)
	assert.Equal(t, "LoadBalancer", spec["type"])
	assert.Equal(t, "Local", spec["externalTrafficPolicy"])
	assert.Equal(t, []any{"10.40.8.0/27"}, spec["loadBalancerSourceRanges"])
	notes := service.Input("metadata").(map[string]any)["annotations"].(map[string]any)
	assert.Equal(t, "10.40.9.125", notes["service.beta.kubernetes.io/azure-load-balancer-ipv4"])
	assert.Equal(t, "true", notes["service.beta.kubernetes.io/azure-load-balancer-internal"])
	deployment := plan.Get(t, "edge").Input("spec").(map[string]any)
	assert.Equal(t, 2.0, deployment["replicas"])
	caller := plan.Get(t, "caller")
	assert.Equal(t, "https://serving.test.onedoor.internal", caller.Input("value"))
	assert.Subset(t, caller.DependsOn, []string{"edge", "edge-door", "edge-record"})
}

// Pods with another configuration are other pods.
func TestConfigurationsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	name := func(change func(*edge.Args)) any {
		a := args()
		change(&a)
		plan := fake.Run(t, fake.Update, program(a))
		config := plan.Get(t, "edge-config")
		assert.Equal(t, true, config.Input("immutable"))
		got := config.Input("metadata").(map[string]any)["name"]
		template := plan.Get(t, "edge").Input("spec").(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		assert.Equal(t, got, template["volumes"].([]any)[0].(map[string]any)["configMap"].(map[string]any)["name"])
		return got
	}
	first := name(func(*edge.Args) {})
	assert.Equal(t, first, name(func(*edge.Args) {}))
	assert.NotEqual(t, first, name(func(a *edge.Args) { a.Caller = fake.Identity("other") }))
	assert.NotEqual(t, first, name(func(a *edge.Args) { a.Models = a.Models[:1] }))
}

func TestADoorForEverybodyIsRefused(t *testing.T) {
	t.Parallel()
	a := args()
	a.Audience, a.Models, a.Nodes, a.Certificate.Secret, a.Door.Sources = "", nil, nil, "", nil
	_, err := fake.Try(fake.Preview, program(a))
	for _, want := range []string{"any token of the directory", "nothing stands behind", "no node selector", "nothing to show", "Azure would let everybody in"} {
		require.ErrorContains(t, err, want)
	}
}

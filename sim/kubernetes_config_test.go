package sim_test

import (
	"net"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"onedoor/sim"
	"onedoor/sim/kube"
)

// A changed or unknown identifier is another cluster, the same one is not,
// whatever the kubeconfig says; without one the kubeconfig decides (A600).
func TestKubernetesProviderReplacement(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	one, other := kubeconfig("one"), kubeconfig("other")
	for name, c := range map[string]struct {
		olds, news m
		changes    bool
		replaces   []string
	}{
		"nothing":                      {m{"kubeconfig": one}, m{"kubeconfig": one}, false, nil},
		"another cluster":              {m{"kubeconfig": one}, m{"kubeconfig": other}, true, []string{"kubeconfig"}},
		"the same cluster, other user": {m{"kubeconfig": one}, m{"kubeconfig": strings.Replace(one, "name: u", "name: v", 1)}, true, nil},
		"unknown":                      {m{"kubeconfig": one}, m{"kubeconfig": "?"}, true, []string{"kubeconfig"}},
		"unknown, same identifier":     {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": "?", "clusterIdentifier": "a"}, true, nil},
		"another, same identifier":     {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": other, "clusterIdentifier": "a"}, true, nil},
		"another identifier":           {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": one, "clusterIdentifier": "b"}, true, []string{"clusterIdentifier"}},
		"an unknown identifier":        {m{"kubeconfig": one, "clusterIdentifier": "a"}, m{"kubeconfig": one, "clusterIdentifier": "?"}, true, []string{"clusterIdentifier"}},
		"a first identifier":           {m{"kubeconfig": one}, m{"kubeconfig": one, "clusterIdentifier": "a"}, true, nil},
	} {
		unknowns := func(v any) (resource.PropertyValue, bool) { return unknown, v == "?" }
		d, err := e.p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{
			Urn: "urn:pulumi:dev::p::pulumi:providers:kubernetes::aks", Olds: e.pack(props(c.olds)), News: e.pack(resource.NewPropertyMapFromMapRepl(c.news, nil, unknowns)),
		})
		require.NoError(t, err)
		assert.Equal(t, c.changes, d.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME, name)
		assert.Equal(t, c.replaces, d.GetReplaces(), name)
	}
}

// Options that do not exist and kubeconfigs that lead nowhere are refused (A606).
func TestKubernetesCheckConfig(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	for name, c := range map[string]struct {
		config m
		want   string
	}{
		"right":               {m{"kubeconfig": kubeconfig("x"), "clusterIdentifier": "a"}, ""},
		"an option":           {m{"kubeConfig": "x"}, "an option that the simulator does not know"},
		"no YAML":             {m{"kubeconfig": "[[["}, "no YAML"},
		"no context":          {m{"kubeconfig": kubeconfig("x"), "context": "b"}, `no context "b"`},
		"no server":           {m{"kubeconfig": kubeconfig("x"), "cluster": "b"}, `no server of the cluster "b"`},
		"without server side": {m{"enableServerSideApply": "false"}, "server-side apply alone"},
	} {
		r, err := e.p.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: e.pack(props(c.config))})
		require.NoError(t, err)
		if c.want == "" {
			assert.Empty(t, r.GetFailures(), name)
			continue
		}
		require.Len(t, r.GetFailures(), 1, name)
		assert.Contains(t, r.GetFailures()[0].GetReason(), c.want, name)
	}
}

// Until the kubeconfig is known previews echo their inputs, and nothing else
// reaches a cluster (A603).
func TestKubernetesWithoutKubeconfig(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	e.configureWith(resource.PropertyMap{"kubeconfig": unknown})
	in := body(t, conf)
	r, err := e.create(tokenOf(in), "conf", in, true)
	require.NoError(t, err)
	assert.Empty(t, r.id)
	assert.Equal(t, in, r.outputs)
	_, err = e.create(tokenOf(in), "conf", in, false)
	assert.ErrorContains(t, err, "configured Kubernetes cluster is unreachable: the kubeconfig is not known")
	assert.Empty(t, e.cloud.State().Objects)

	e.configureWith(nil)
	_, err = e.create(tokenOf(in), "conf", in, false)
	assert.ErrorContains(t, err, "unreachable: no kubeconfig")
}

// A cluster that is gone or stopped does not answer (A604).
func TestKubernetesUnreachable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host    string
		changes m
		want    string
	}{
		"of another name": {host: "nobody.example.org", want: "no cluster of this cloud has this API server"},
		"stopped":         {host: apiServer, changes: m{"powerState": m{"code": "Stopped"}}, want: "the cluster is stopped"},
		"private":         {host: "Private.example.org", changes: m{"privateFQDN": "private.example.org"}},
	} {
		e := aksEngine(t, c.changes)
		e.configureWith(props(m{"kubeconfig": kubeconfig(c.host)}))
		_, err := e.apply(batchNamespace)
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, "unable to load schema information from the API server", name)
		r := &made{id: "batch", urn: urn("kubernetes:core/v1:Namespace", "batch"), in: body(t, batchNamespace)}
		require.ErrorContains(t, e.delete(r), c.want, name)
		_, err = e.p.Read(t.Context(), &pulumirpc.ReadRequest{Id: r.id, Urn: r.urn, Inputs: e.pack(r.in)})
		require.ErrorContains(t, err, "PULUMI_K8S_DELETE_UNREACHABLE", name)

		e.configureWith(props(m{"kubeconfig": kubeconfig(c.host), "deleteUnreachable": true}))
		require.NoError(t, e.delete(r), name)
		assert.Empty(t, e.read(r).id, name)
	}
}

// A cluster that is made again under its name is empty, and its objects have
// other ids (A610, A613).
func TestKubernetesRebuiltClusterIsEmpty(t *testing.T) {
	t.Parallel()
	azure := open(t)
	azure.mustCreate(groupToken, "group", groupIn)
	aks := m{
		"resourceGroupName": "rg", "resourceName": "aks", "dnsPrefix": "aks", "identity": m{"type": "SystemAssigned"},
		"agentPoolProfiles": list(m{"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5", "count": 1.0, "type": "VirtualMachineScaleSets", "osType": "Linux"}),
	}
	ids := map[string]bool{}
	for range 2 {
		cluster := azure.mustCreate(aksToken, "aks", aks)
		e := connect(t, azure.cloud, m{"kubeconfig": kubeconfig(cluster.outputs["fqdn"].StringValue())})
		assert.Empty(t, kube.Objects(azure.cloud.State(), cluster.id))
		r := e.mustApply(batchNamespace)
		out := r.outputs.Mappable()["metadata"].(m)
		assert.Equal(t, "2026-01-01T00:00:00Z", out["creationTimestamp"])
		ids[out["uid"].(string)] = true
		require.NoError(t, azure.delete(cluster))
		assert.Empty(t, azure.cloud.State().Objects)
		_, err := e.apply(conf)
		require.ErrorContains(t, err, "no cluster of this cloud")
	}
	assert.Len(t, ids, 2)
}

// Two instances of the provider over one listener keep to their own clusters, as
// the old and the new one of a replacement do (A602).
func TestKubernetesInstancesAreApart(t *testing.T) {
	t.Parallel()
	second := managedCluster(m{"fqdn": "second.example.org"})
	second.ID += "2"
	cloud, err := sim.Open("", sim.WithQuiet(0), sim.WithSeed(managedCluster(nil), second))
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pulumirpc.RegisterResourceProviderServer(server, cloud.Providers()[sim.Kubernetes])
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	e := aksEngine(t, nil)
	in := body(t, batchNamespace)
	var clients []pulumirpc.ResourceProviderClient
	for _, host := range []string{apiServer, "second.example.org"} {
		connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		client := pulumirpc.NewResourceProviderClient(connection)
		_, err = client.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: e.pack(props(m{"kubeconfig": kubeconfig(host)}))})
		require.NoError(t, err)
		clients = append(clients, client)
	}
	for range 2 {
		_, err = clients[0].Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(tokenOf(in), "a"), Properties: e.pack(in)})
	}
	require.ErrorContains(t, err, "already exists")
	_, err = clients[1].Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn(tokenOf(in), "b"), Properties: e.pack(in)})
	require.NoError(t, err)
	assert.Len(t, kube.Objects(cloud.State(), clusterID), 1)
	assert.Len(t, kube.Objects(cloud.State(), second.ID), 1)
}

package walls_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/walls"
	"onedoor/internal/az"
	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
)

// site is a network with a peer, whose pods are held to host names or not.
func site(t *testing.T, hostnames bool) flows.Site {
	t.Helper()
	plan, problems := netplan.Make(netplan.Input{
		AddressSpace: netip.MustParsePrefix("10.40.0.0/20"),
		Peers:        map[string][]netip.Prefix{"hub": {netip.MustParsePrefix("10.0.0.0/16")}, "lab": {netip.MustParsePrefix("198.18.0.0/15")}},
		Pods:         netip.MustParsePrefix("10.244.0.0/16"), Services: netip.MustParsePrefix("10.245.0.0/16"),
		SystemNodes: 3, WorkerNodes: 10, BatchNodes: 2, GPU: map[string]netplan.GPU{"a100": {Nodes: 1}},
		Gateway: netplan.GatewayNetwork{Mode: netplan.Classic, Internal: true},
	})
	require.Empty(t, problems)
	return flows.Site{Environment: az.Prod, Location: "swedencentral", Plan: plan, PrivateBus: true, PrivateRegistry: true, Hostnames: hostnames}
}

const taint = "onedoor/batch=only:NoSchedule"

// program declares the walls; change makes the arguments wrong.
func program(site flows.Site, change func(*walls.Args)) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		args := walls.Args{Cluster: &cluster, Site: site, BatchTaint: taint, Namespaces: map[string]pulumi.StringOutput{}}
		for _, namespace := range kube.Namespaces {
			args.Namespaces[namespace] = pulumi.String(namespace).ToStringOutput()
		}
		if change != nil {
			change(&args)
		}
		w, err := walls.New(ctx, "walls", args)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", w.Namespaces[kube.Workers])
	}
}

// objects are the objects in the cluster by logical name, as the API would get
// them.
func objects(plan *fake.Plan) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, r := range plan.Resources {
		if !strings.HasPrefix(r.Type, "kubernetes:") {
			continue
		}
		object := map[string]any{}
		for key := range r.Inputs {
			object[string(key)] = r.Input(string(key))
		}
		out[r.Name] = object
	}
	return out
}

func TestObjectsAreLegal(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		for _, hostnames := range []bool{true, false} {
			made := objects(fake.Run(t, mode, program(site(t, hostnames), nil)))
			assert.Greater(t, len(made), 25)
			for name, object := range made {
				assert.Empty(t, manifest.Check(object), name)
				metadata := object["metadata"].(map[string]any)
				assert.Equal(t, "onedoor", metadata["labels"].(map[string]any)["app.kubernetes.io/part-of"], name)
				assert.NotEmpty(t, metadata["annotations"], "%s says why it is there", name)
			}
		}
	}
}

func TestEveryNamespaceIsClosed(t *testing.T) {
	t.Parallel()
	made := objects(fake.Run(t, fake.Preview, program(site(t, true), nil)))
	for _, namespace := range kube.Namespaces {
		closed := made["walls-"+namespace+"-deny-all"]
		assert.Equal(t, namespace, closed["metadata"].(map[string]any)["namespace"])
		assert.Equal(t, map[string]any{"podSelector": map[string]any{}, "policyTypes": []any{"Ingress", "Egress"}}, closed["spec"])
	}
}

// spec is the spec of an object, as JSON.
func spec(t *testing.T, made map[string]map[string]any, name string) string {
	t.Helper()
	require.Contains(t, made, name)
	raw, err := json.Marshal(made[name]["spec"])
	require.NoError(t, err)
	return string(raw)
}

func TestPoliciesFollowTheTable(t *testing.T) {
	t.Parallel()
	const all = `"podSelector":{},"policyTypes":["Egress"]}`
	const in = `"podSelector":{},"policyTypes":["Ingress"]}`
	both := []bool{true, false}
	for name, c := range map[string]struct {
		policy    string
		hostnames []bool
		want      string
	}{
		"Bus":    {"walls-onedoor-workers-out-f02-bus", both, `{"egress":[{"ports":[{"port":443,"protocol":"TCP"},{"port":5671,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"10.40.10.0/26"}}]}],` + all},
		"Batch":  {"walls-onedoor-batch-out-f06-batch-account", both, `{"egress":[{"ports":[{"port":443,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"10.40.11.0/27"}}]}],` + all},
		"Report": {"walls-onedoor-workers-out-f51-doors", both, `{"egress":[{"ports":[{"port":443,"protocol":"TCP"},{"port":8443,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"10.40.9.0/25"}},{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"onedoor-batch"}}}]}],` + all},
		"Called": {"walls-onedoor-batch-in-f51-worker-nodes", both, `{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"onedoor-workers"}}}],"ports":[{"port":8443,"protocol":"TCP"}]}],` + in},
		"Edge":   {"walls-onedoor-edge-in-f31-gateway", both, `{"ingress":[{"from":[{"ipBlock":{"cidr":"10.40.8.0/27"}}],"ports":[{"port":8443,"protocol":"TCP"}]}],` + in},
		"Served": {"walls-onedoor-serving-in-f77-serving-edge", both, `{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"onedoor-edge"}}}],"ports":[{"port":8000,"protocol":"TCP"}]}],` + in},
		"Heads":  {"walls-onedoor-serving-in-f82-ray-operator", both, `{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"onedoor-kuberay"}}}],"ports":[{"port":8265,"protocol":"TCP"}]}],` + in},
		"Login":  {"walls-onedoor-workers-out-f71-login", []bool{true}, `{"egress":[{"toFQDNs":[{"matchName":"login.microsoftonline.com"}],"toPorts":[{"ports":[{"port":"443","protocol":"TCP"}]}]}],"endpointSelector":{}}`},
		"Sensor": {"walls-onedoor-batch-out-f72-telemetry", []bool{true}, `{"egress":[{"toFQDNs":[{"matchPattern":"*.in.applicationinsights.azure.com"},{"matchPattern":"*.livediagnostics.monitor.azure.com"}],"toPorts":[{"ports":[{"port":"443","protocol":"TCP"}]}]}],"endpointSelector":{}}`},
		"Seen":   {"walls-onedoor-workers-out-f70-cluster-dns", []bool{true}, `{"egress":[{"toEndpoints":[{"matchLabels":{"k8s:io.kubernetes.pod.namespace":"kube-system","k8s:k8s-app":"kube-dns"}}],"toPorts":[{"ports":[{"port":"53","protocol":"TCP"},{"port":"53","protocol":"UDP"}],"rules":{"dns":[{"matchPattern":"*"}]}}]}],"endpointSelector":{}}`},
		"Names":  {"walls-onedoor-workers-out-f70-cluster-dns", []bool{false}, `{"egress":[{"ports":[{"port":53,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}}]}],` + all},
		"World": {"walls-onedoor-workers-out-f73-internet", []bool{false}, `{"egress":[{"ports":[{"port":443,"protocol":"TCP"}],"to":[{"ipBlock":{"cidr":"0.0.0.0/0","except":` +
			`["10.0.0.0/8","100.64.0.0/10","168.63.129.16/32","169.254.0.0/16","172.16.0.0/12","192.168.0.0/16","198.18.0.0/15"]}}]}],` + all},
		"API": {"walls-onedoor-batch-out-f74-kubernetes-api", both, `{"egress":[{"toEntities":["kube-apiserver"],"toPorts":[{"ports":[{"port":"443","protocol":"TCP"}]}]}],"endpointSelector":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, hostnames := range both {
				made := objects(fake.Run(t, fake.Preview, program(site(t, hostnames), nil)))
				switch {
				case slices.Contains(c.hostnames, hostnames):
					assert.JSONEq(t, c.want, spec(t, made, c.policy))
				case len(c.hostnames) == 1 && name != "Seen" && name != "Names":
					assert.NotContains(t, made, c.policy)
				}
			}
		})
	}
	workers := objects(fake.Run(t, fake.Preview, program(site(t, true), nil)))
	for name := range workers {
		assert.False(t, strings.Contains(name, kube.Workers) && (strings.Contains(name, "f06") || strings.Contains(name, "f74")), "workers have no business with the batch account or the Kubernetes API: %s", name)
	}
}

// conditions are the expressions of an admission policy.
func conditions(t *testing.T, made map[string]map[string]any, policy string) []string {
	t.Helper()
	require.Contains(t, made, policy)
	var out []string
	for _, v := range made[policy]["spec"].(map[string]any)["validations"].([]any) {
		out = append(out, v.(map[string]any)["expression"].(string))
		assert.NotEmpty(t, v.(map[string]any)["message"])
	}
	return out
}

func TestAdmissionPolicies(t *testing.T) {
	t.Parallel()
	made := objects(fake.Run(t, fake.Update, program(site(t, true), nil)))
	for name, c := range map[string]struct {
		group, resource string
		selector        any
		expressions     []string
	}{
		"onedoor-batch-nodes": {"", "pods", map[string]any{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{"kube-system", "onedoor-batch"}},
			[]string{
				"!has(object.spec.tolerations) || !object.spec.tolerations.exists(t, (!has(t.effect) || t.effect in ['', 'NoSchedule']) && " +
					"(!has(t.key) || t.key in ['', 'onedoor/batch']) && (has(t.operator) && t.operator == 'Exists' || has(t.value) && t.value == 'only'))",
				"request.operation != 'CREATE' || !has(object.spec.nodeName) || object.spec.nodeName == ''",
			}},
		"onedoor-one-autoscaler": {"autoscaling", "horizontalpodautoscalers", map[string]any{"key": "kubernetes.io/metadata.name", "operator": "In", "values": []any{"onedoor-workers"}},
			[]string{"request.userInfo.username == 'system:serviceaccount:kube-system:keda-operator'"}},
		"onedoor-one-external-metrics": {"apiregistration.k8s.io", "apiservices", nil,
			[]string{"!has(object.spec.group) || object.spec.group != 'external.metrics.k8s.io' || " +
				"has(object.spec.service) && object.spec.service.namespace == 'kube-system' && object.spec.service.name == 'keda-operator-metrics-apiserver'"}},
	} {
		constraints := made["walls-"+name]["spec"].(map[string]any)["matchConstraints"].(map[string]any)
		rule := constraints["resourceRules"].([]any)[0].(map[string]any)
		assert.Equal(t, []any{c.group}, rule["apiGroups"], name)
		assert.Equal(t, []any{c.resource}, rule["resources"], name)
		assert.Equal(t, []any{"CREATE", "UPDATE"}, rule["operations"], name)
		if c.selector == nil {
			assert.NotContains(t, constraints, "namespaceSelector", name)
		} else {
			assert.Equal(t, map[string]any{"matchExpressions": []any{c.selector}}, constraints["namespaceSelector"], name)
		}
		assert.Equal(t, "Fail", made["walls-"+name]["spec"].(map[string]any)["failurePolicy"], name)
		assert.Equal(t, c.expressions, conditions(t, made, "walls-"+name), name)
		binding := made["walls-"+name+"-binding"]["spec"]
		assert.Equal(t, map[string]any{"policyName": name, "validationActions": []any{"Deny"}}, binding, "without it the policy does nothing")
	}
}

// A pod that starts before its walls is free for a while.
func TestPodsWaitForTheWalls(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(site(t, true), nil))
		waits := plan.Get(t, "reader").DependsOn
		for name, object := range objects(plan) {
			namespace, _ := object["metadata"].(map[string]any)["namespace"].(string)
			if namespace == kube.Workers || strings.HasSuffix(name, "-binding") {
				assert.Contains(t, waits, name)
			}
		}
		assert.Contains(t, plan.Get(t, "walls-onedoor-batch-nodes-binding").DependsOn, "walls-onedoor-batch-nodes")
		assert.Equal(t, "aks", plan.Get(t, "walls-onedoor-batch-deny-all").Options.DeletedWith)
	}
}

func TestWhatIsWrongIsRefusedTogether(t *testing.T) {
	t.Parallel()
	_, err := fake.Try(fake.Preview, program(site(t, true), func(a *walls.Args) {
		delete(a.Namespaces, kube.Batch)
		a.BatchTaint = "onedoor/batch=only:PreferNoSchedule"
	}))
	require.Error(t, err)
	assert.Contains(t, err.Error(), `no namespace "onedoor-batch"`)
	assert.Contains(t, err.Error(), `got "onedoor/batch=only:PreferNoSchedule", want key=value:NoSchedule`)
}

package clusterbase_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/clusterbase"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
)

func program(ctx *pulumi.Context) error {
	var made struct{ pulumi.CustomResourceState }
	if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &made); err != nil {
		return err
	}
	b, err := clusterbase.New(ctx, "base", clusterbase.Args{Cluster: &made, Accounts: map[kube.ServiceAccount]clusterbase.Account{
		kube.ControlPlane:   {ClientID: pulumi.String("control-plane-client")},
		kube.Worker("text"): {ClientID: pulumi.String("text-client")},
		kube.Worker("docs"): {ClientID: pulumi.String("docs-client")},
		kube.DevicePlugin:   {},
	}, Quotas: map[string]clusterbase.Quota{
		kube.Batch:   {Pods: 3, CPUMilli: 750, MemoryMiB: 1536},
		kube.Serving: {Devices: map[string]int{"nvidia.com/gpu": 14}},
	}})
	if err != nil {
		return err
	}
	return fake.Reader(ctx, "reader", b.Namespaces[kube.Workers])
}

// A pod of the operator that came before the webhook never gets a token.
func TestKEDAStartsAgainOnce(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		patch := fake.Run(t, mode, program).Get(t, "base-restart-keda")
		assert.Equal(t, "kubernetes:apps/v1:DeploymentPatch", patch.Type)
		assert.Equal(t, map[string]any{"name": "keda-operator", "namespace": "kube-system"}, patch.Input("metadata"))
		template := patch.Input("spec").(map[string]any)["template"].(map[string]any)
		assert.Equal(t, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"onedoor/started-after": "workload-identity"}}}, template,
			"a plain value: anything else would restart the operator again and again")
	}
}

func TestPodsOfNamespacesAreHeldToALevel(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program)
	for namespace, level := range map[string]string{kube.Batch: "restricted", kube.Edge: "restricted", kube.KubeRay: "restricted", kube.Workers: "restricted", kube.Serving: "baseline"} {
		labels := plan.Get(t, "base-"+namespace).Input("metadata").(map[string]any)["labels"].(map[string]any)
		assert.Equal(t, level, labels["pod-security.kubernetes.io/enforce"], namespace)
		assert.Equal(t, "restricted", labels["pod-security.kubernetes.io/warn"], namespace)
	}
	labels := plan.Get(t, "base-"+kube.Devices).Input("metadata").(map[string]any)["labels"].(map[string]any)
	assert.Equal(t, "privileged", labels["pod-security.kubernetes.io/enforce"], "the plugin mounts a directory of the node")
}

func TestNamespacesHoldWhatIsPlanned(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program)
		assert.Equal(t, []string{"base-onedoor-batch-quota", "base-onedoor-serving-quota"}, plan.Names(":ResourceQuota"))
		quota := plan.Get(t, "base-onedoor-batch-quota")
		assert.Equal(t, map[string]any{"hard": map[string]any{"pods": "3", "requests.cpu": "750m", "requests.memory": "1536Mi"}}, quota.Input("spec"))
		assert.Equal(t, []string{"base-onedoor-batch"}, quota.DependsOn)
		assert.Equal(t, map[string]any{"hard": map[string]any{"requests.nvidia.com/gpu": "14"}}, plan.Get(t, "base-onedoor-serving-quota").Input("spec"))
	}
}

func TestObjectsAreLegal(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		for _, r := range fake.Run(t, mode, program).Resources {
			if !strings.HasPrefix(r.Type, "kubernetes:") || strings.HasSuffix(r.Type, "Patch") {
				continue
			}
			object := map[string]any{}
			for key := range r.Inputs {
				object[string(key)] = r.Input(string(key))
			}
			assert.Empty(t, manifest.Check(object), r.Name)
		}
	}
}

func TestAccountsActAsTheirIdentity(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program)
	account := plan.Get(t, "base-worker-text")
	metadata := account.Input("metadata").(map[string]any)
	assert.Equal(t, kube.Workers, metadata["namespace"])
	assert.Equal(t, map[string]any{"azure.workload.identity/client-id": "text-client"}, metadata["annotations"])
	for _, name := range plan.Names(":ServiceAccount") {
		assert.Equal(t, false, plan.Get(t, name).Input("automountServiceAccountToken"), "%s: nobody has a token of the API server without asking", name)
	}
	assert.NotContains(t, plan.Get(t, "base-device-plugin").Input("metadata"), "annotations", "it acts as no identity")
	assert.Contains(t, account.DependsOn, "base-"+kube.Workers)
	assert.Equal(t, []string{"base-onedoor-workers", "base-worker-docs", "base-worker-text"}, plan.Get(t, "reader").DependsOn, "a namespace is ready with its accounts")
}

// A cluster that goes takes everything along: nothing is deleted one by one from
// an API server that may be gone.
func TestEverythingGoesWithTheCluster(t *testing.T) {
	t.Parallel()
	for _, r := range fake.Run(t, fake.Update, program).Resources {
		if r.Parent == "base" {
			assert.Equal(t, "aks", r.Options.DeletedWith, r.Name)
		}
	}
}

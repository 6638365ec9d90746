package clusterbase_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/clusterbase"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
)

func program(ctx *pulumi.Context) error {
	var made struct{ pulumi.CustomResourceState }
	if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &made); err != nil {
		return err
	}
	b, err := clusterbase.New(ctx, "base", clusterbase.Args{Cluster: &made, Accounts: map[kube.ServiceAccount]clusterbase.Account{
		kube.ControlPlane:   {ClientID: pulumi.String("control-plane-client"), API: true},
		kube.Worker("text"): {ClientID: pulumi.String("text-client")},
		kube.Worker("docs"): {ClientID: pulumi.String("docs-client")},
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
	for namespace, level := range map[string]string{kube.Batch: "restricted", kube.Workers: "restricted", kube.Serving: "baseline"} {
		labels := plan.Get(t, "base-"+namespace).Input("metadata").(map[string]any)["labels"].(map[string]any)
		assert.Equal(t, level, labels["pod-security.kubernetes.io/enforce"], namespace)
	}
}

func TestAccountsActAsTheirIdentity(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program)
	account := plan.Get(t, "base-worker-text")
	metadata := account.Input("metadata").(map[string]any)
	assert.Equal(t, kube.Workers, metadata["namespace"])
	assert.Equal(t, map[string]any{"azure.workload.identity/client-id": "text-client"}, metadata["annotations"])
	assert.Equal(t, false, account.Input("automountServiceAccountToken"), "workers have no business with the Kubernetes API")
	assert.Equal(t, true, plan.Get(t, "base-control-plane").Input("automountServiceAccountToken"))
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

package sim_test

import (
	"encoding/base64"
	"testing"

	kubernetes "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/helm/v3"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	rbacv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/rbac/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/kube"
)

// clusterAndWorkload declares a cluster and what runs in it, with the SDK that
// the project uses.
func clusterAndWorkload(image string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var azure providerRes
		if err := ctx.RegisterResource("pulumi:providers:azure-native", "azure", pulumi.Map{"subscriptionId": pulumi.String(subscription)}, &azure, pulumi.Version(sim.AzureNativeVersion)); err != nil {
			return err
		}
		var group, cluster res
		if err := ctx.RegisterResource(groupToken, "group", pulumi.Map{"resourceGroupName": pulumi.String("rg"), "location": pulumi.String("swedencentral")}, &group, pulumi.Provider(&azure)); err != nil {
			return err
		}
		if err := ctx.RegisterResource(aksToken, "aks", pulumi.Map{
			"resourceGroupName": group.Name, "resourceName": pulumi.String("aks"), "dnsPrefix": pulumi.String("aks"),
			"identity":                  pulumi.Map{"type": pulumi.String("SystemAssigned")},
			"oidcIssuerProfile":         pulumi.Map{"enabled": pulumi.Bool(true)},
			"securityProfile":           pulumi.Map{"workloadIdentity": pulumi.Map{"enabled": pulumi.Bool(true)}},
			"workloadAutoScalerProfile": pulumi.Map{"keda": pulumi.Map{"enabled": pulumi.Bool(true)}},
			"agentPoolProfiles": pulumi.Array{pulumi.Map{
				"name": pulumi.String("system"), "mode": pulumi.String("System"), "vmSize": pulumi.String("Standard_D4s_v5"), "count": pulumi.Int(1),
				"type": pulumi.String("VirtualMachineScaleSets"), "osType": pulumi.String("Linux"),
			}},
		}, &cluster, pulumi.Provider(&azure)); err != nil {
			return err
		}
		answer := ctx.InvokeOutput("azure-native:containerservice/v20250101:listManagedClusterUserCredentials", map[string]any{"resourceGroupName": "rg", "resourceName": "aks"}, pulumi.MapOutput{},
			pulumi.InvokeOutputOptions{InvokeOptions: []pulumi.InvokeOption{pulumi.Provider(&azure), pulumi.DependsOn([]pulumi.Resource{&cluster})}}).(pulumi.MapOutput)
		kubeconfig := answer.ApplyT(func(answer map[string]any) (string, error) {
			text, err := base64.StdEncoding.DecodeString(answer["kubeconfigs"].([]any)[0].(map[string]any)["value"].(string))
			return string(text), err
		}).(pulumi.StringOutput)
		provider, err := kubernetes.NewProvider(ctx, "aks", &kubernetes.ProviderArgs{Kubeconfig: kubeconfig, ClusterIdentifier: pulumi.String("aks")})
		if err != nil {
			return err
		}
		in := pulumi.Provider(provider)
		namespace, err := corev1.NewNamespace(ctx, "batch", &corev1.NamespaceArgs{Metadata: metav1.ObjectMetaArgs{Name: pulumi.String("batch")}}, in)
		if err != nil {
			return err
		}
		where := func(name string) metav1.ObjectMetaArgs {
			return metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: namespace.Metadata.Name()}
		}
		account, err := corev1.NewServiceAccount(ctx, "worker", &corev1.ServiceAccountArgs{Metadata: where("worker")}, in)
		if err != nil {
			return err
		}
		if _, err := rbacv1.NewRole(ctx, "worker", &rbacv1.RoleArgs{Metadata: where("worker"), Rules: rbacv1.PolicyRuleArray{rbacv1.PolicyRuleArgs{ApiGroups: pulumi.StringArray{pulumi.String("")}, Resources: pulumi.StringArray{pulumi.String("pods")}, Verbs: pulumi.StringArray{pulumi.String("get")}}}}, in); err != nil {
			return err
		}
		labels := pulumi.StringMap{"app": pulumi.String("worker")}
		deployment, err := appsv1.NewDeployment(ctx, "worker", &appsv1.DeploymentArgs{Metadata: where("worker"), Spec: appsv1.DeploymentSpecArgs{
			Selector: metav1.LabelSelectorArgs{MatchLabels: labels},
			Template: corev1.PodTemplateSpecArgs{Metadata: metav1.ObjectMetaArgs{Labels: labels}, Spec: corev1.PodSpecArgs{
				ServiceAccountName: account.Metadata.Name(),
				Containers:         corev1.ContainerArray{corev1.ContainerArgs{Name: pulumi.String("worker"), Image: pulumi.String(image)}},
			}},
		}}, in)
		if err != nil {
			return err
		}
		authentication, err := apiextensions.NewCustomResource(ctx, "auth", &apiextensions.CustomResourceArgs{
			ApiVersion: pulumi.String("keda.sh/v1alpha1"), Kind: pulumi.String("TriggerAuthentication"), Metadata: where("bus"),
			OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{"podIdentity": pulumi.Map{"provider": pulumi.String("azure-workload")}}},
		}, in)
		if err != nil {
			return err
		}
		if _, err := apiextensions.NewCustomResource(ctx, "scaler", &apiextensions.CustomResourceArgs{
			ApiVersion: pulumi.String("keda.sh/v1alpha1"), Kind: pulumi.String("ScaledObject"), Metadata: where("worker"),
			OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
				"scaleTargetRef": pulumi.Map{"name": deployment.Metadata.Name()},
				"triggers": pulumi.Array{pulumi.Map{
					"type": pulumi.String("azure-servicebus"), "metadata": pulumi.StringMap{"queueName": pulumi.String("q"), "namespace": pulumi.String("bus")},
					"authenticationRef": pulumi.Map{"name": authentication.Metadata.Name()},
				}},
			}},
		}, in); err != nil {
			return err
		}
		if _, err := corev1.NewSecret(ctx, "key", &corev1.SecretArgs{Metadata: where("key"), StringData: pulumi.StringMap{"key": pulumi.ToSecret(pulumi.String("opensesame")).(pulumi.StringOutput)}}, in); err != nil {
			return err
		}
		_, err = helm.NewRelease(ctx, "kuberay", &helm.ReleaseArgs{
			Name: pulumi.String("kuberay"), Namespace: namespace.Metadata.Name().Elem(), Chart: pulumi.String("kuberay-operator"), Version: pulumi.String("1.5.0"),
			RepositoryOpts: helm.RepositoryOptsArgs{Repo: pulumi.String("https://ray-project.github.io/kuberay-helm/")},
		}, in)
		return err
	}
}

const aksToken = "azure-native:containerservice/v20250101:ManagedCluster"

// The real engine previews a cluster that does not exist, makes it and what runs
// in it, finds nothing to do, changes one object, and destroys all (A600, A603,
// A607).
func TestEngineRunsWorkloads(t *testing.T) { //nolint:paralleltest // sets the environment
	cloud, err := sim.Open("")
	require.NoError(t, err)
	s := stack(t, cloud, clusterAndWorkload("worker:1"))
	ctx := t.Context()
	const made = 13 // with the stack and two providers

	preview, err := s.Preview(ctx)
	require.NoError(t, err)
	assert.Equal(t, made, preview.ChangeSummary["create"])
	_, err = s.Up(ctx)
	require.NoError(t, err)
	assert.Len(t, kube.Objects(cloud.State(), groupID+"/providers/Microsoft.ContainerService/managedClusters/aks"), 8)

	_, err = s.Refresh(ctx)
	require.NoError(t, err)
	preview, err = s.Preview(ctx)
	require.NoError(t, err)
	assert.Len(t, preview.ChangeSummary, 1, preview.StdOut)

	s.Workspace().SetProgram(clusterAndWorkload("worker:2"))
	preview, err = s.Preview(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, preview.ChangeSummary["update"], preview.StdOut)
	up, err := s.Up(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, (*up.Summary.ResourceChanges)["update"])

	_, err = s.Destroy(ctx)
	require.NoError(t, err)
	assert.Empty(t, cloud.State().Objects)
	assert.Empty(t, cloud.State().Resources)
}

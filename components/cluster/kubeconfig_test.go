package cluster_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"onedoor/components/cluster"
	"onedoor/internal/fake"
)

// enters is a program in which something reads the kubeconfig.
func enters(a cluster.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		c, err := cluster.New(ctx, "cluster", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", c.Kubeconfig)
	}
}

// Whoever deploys logs in without being asked, and nothing of the login is kept.
func TestKubeconfigLogsInWithoutASecret(t *testing.T) {
	t.Parallel()
	for _, login := range cluster.Logins {
		a := args()
		a.Login = login
		text, _ := fake.Run(t, fake.Update, enters(a)).Get(t, "reader").Input("value").(string)
		var config struct {
			Clusters []struct {
				Cluster struct{ Server string }
			}
			CurrentContext string `yaml:"current-context"`
			Users          []struct{ User map[string]any }
		}
		require.NoError(t, yaml.Unmarshal([]byte(text), &config))
		assert.Equal(t, "https://aks.example.com:443", config.Clusters[0].Cluster.Server)
		assert.Equal(t, "aks", config.CurrentContext)
		require.Len(t, config.Users, 1)
		assert.Len(t, config.Users[0].User, 1, "nothing but a command that fetches a token: %v", config.Users[0].User)
		exec := config.Users[0].User["exec"].(map[string]any)
		assert.Equal(t, "kubelogin", exec["command"])
		assert.Subset(t, exec["args"], []any{"get-token", string(login)})
		assert.NotContains(t, exec["args"], "devicecode")
	}
}

// With outputs in the arguments, every change of the cluster would show every
// Kubernetes object as changed; and before there is a cluster there is no answer.
func TestKubeconfigIsAskedForWithPlainNames(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, enters(args()))
	require.Len(t, plan.Calls, 1)
	assert.Equal(t, "rg", plan.Calls[0].Args["resourceGroupName"].StringValue())
	assert.Equal(t, "aks-onedoor-test", plan.Calls[0].Args["resourceName"].StringValue())

	first := fake.Run(t, fake.Preview, enters(args()))
	assert.Empty(t, first.Calls, "a cluster that does not exist is not asked")
	assert.Equal(t, "[unknown]", first.Get(t, "reader").Input("value"))
}

// The first object in the cluster needs a right there, and all pools to land on: the last window follows the last pool.
func TestNobodyEntersBeforeTheDeployerMay(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, enters(args()))
	assert.Subset(t, plan.Get(t, "reader").DependsOn, []string{"cluster-deployer-administers", "cluster-aksManagedNodeOSUpgradeSchedule"})
	assert.Contains(t, plan.Grants(), "runner-principal b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b at managedClusters/aks-onedoor-test")
}

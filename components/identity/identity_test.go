package identity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/components/identity"
	"onedoor/internal/az"
	"onedoor/internal/fake"
	"onedoor/internal/ref"
)

func args() identity.Args {
	zone := fake.Zones("privatelink.swedencentral.azmk8s.io")["privatelink.swedencentral.azmk8s.io"]
	door := fake.Group()
	door.Resource = ref.Ready("/subscriptions/" + fake.SubscriptionID + "/resourceGroups/rg-batch")
	return identity.Args{
		Scope: fake.Scope(az.Dev), Group: fake.Group(), BatchDoor: door, Queues: []string{"text", "audio"},
		VNet:  ref.Ready(fake.GroupID + "/providers/Microsoft.Network/virtualNetworks/vnet"),
		Joins: map[string]ref.Subnet{"worker-nodes": fake.Subnet("worker"), "doors": fake.Subnet("doors")}, APIZone: &zone,
	}
}

func program(a identity.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		i, err := identity.New(ctx, "identity", a)
		if err != nil {
			return err
		}
		if err := fake.Reader(ctx, "cluster-reader", i.Cluster.ID); err != nil {
			return err
		}
		_, err = a.Scope.Grant(ctx, "submits", i.BatchSubmitter, i.ControlPlane, a.BatchDoor.Resource)
		return err
	}
}

func TestEachPrincipalHasAnIdentity(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(args()))
		assert.Equal(t, []string{
			"identity-cluster", "identity-control-plane", "identity-edge", "identity-gateway", "identity-kubelet", "identity-runner", "identity-scaler",
			"identity-serving", "identity-worker-audio", "identity-worker-text",
		}, plan.Names("UserAssignedIdentity"))
	}
}

// AKS checks these when the cluster is created: whoever reads the cluster's
// identity must wait for them.
func TestClusterIdentityWaitsForItsRoles(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	grants := []string{
		"identity-cluster-hands-out-kubelet", "identity-cluster-joins-doors", "identity-cluster-joins-worker-nodes", "identity-cluster-links-api-zone", "identity-cluster-writes-api-zone",
	}
	assert.Subset(t, plan.Get(t, "cluster-reader").DependsOn, grants)
	assert.Equal(t, az.NetworkContributor.DefinitionID(fake.SubscriptionID), plan.Get(t, grants[1]).Input("roleDefinitionId"))
	assert.Equal(t, fake.Subnet("doors").Plain, plan.Get(t, grants[1]).Input("scope"))
	assert.Equal(t, "ServicePrincipal", plan.Get(t, grants[0]).Input("principalType"))
}

func TestNoZoneNoRoleOnIt(t *testing.T) {
	t.Parallel()
	a := args()
	a.APIZone = nil
	plan := fake.Run(t, fake.Preview, program(a))
	assert.NotContains(t, plan.Names("RoleAssignment"), "identity-cluster-writes-api-zone")
	assert.NotContains(t, plan.Names("RoleAssignment"), "identity-cluster-links-api-zone", "and none on the whole network")
}

// A custom role may be granted in one group only, and lists what it allows.
func TestCustomRolesAreNarrow(t *testing.T) {
	t.Parallel()
	a := args()
	plan := fake.Run(t, fake.Preview, program(a))
	for name, at := range map[string]string{"identity-sync-only": fake.GroupID, "identity-batch-submitter": a.BatchDoor.Plain} {
		role := plan.Get(t, name)
		assert.Equal(t, at, role.Input("scope"))
		assert.Equal(t, []any{at}, role.Input("assignableScopes"))
		assert.Contains(t, role.Input("roleName"), "onedoor test ", "names carry the stack")
		permission := role.Input("permissions").([]any)[0].(map[string]any)
		assert.Empty(t, permission["actions"])
		assert.NotEmpty(t, permission["dataActions"])
		for _, action := range permission["dataActions"].([]any) {
			assert.NotContains(t, action, "*")
		}
	}
	sync := plan.Get(t, "identity-sync-only").Input("permissions").([]any)[0].(map[string]any)["dataActions"].([]any)
	assert.False(t, slices.ContainsFunc(sync, func(a any) bool {
		return strings.Contains(a.(string), "batch") || strings.Contains(a.(string), "files") || strings.HasSuffix(a.(string), "/read")
	}), "%v", sync)
}

// Azure refuses an assignment of a role that does not exist yet.
func TestGrantOfACustomRoleWaitsForItsDefinition(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	grant := plan.Get(t, "submits")
	assert.Contains(t, grant.DependsOn, "identity-batch-submitter")
	assert.Contains(t, grant.Input("roleDefinitionId"), plan.Get(t, "identity-batch-submitter").Input("roleDefinitionId"))
}

func TestOrderOfQueuesMeansNothing(t *testing.T) {
	t.Parallel()
	a, b := args(), args()
	slices.Reverse(b.Queues)
	assert.Equal(t, fake.Run(t, fake.Preview, program(a)).Resources, fake.Run(t, fake.Preview, program(b)).Resources)
}

package azure

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/az/rights"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
)

func resource(t *testing.T, name, typ string, inputs map[string]any, from map[string][]string) *policypack.Resource {
	t.Helper()
	s, err := structpb.NewStruct(inputs)
	require.NoError(t, err)
	return &policypack.Resource{URN: name, Type: typ, Name: name, Inputs: propvalue.Of(s), ByProperty: from}
}

func TestRightsOfBuiltInRoles(t *testing.T) {
	t.Parallel()
	role := func(guid string) rights.Roles {
		r, err := RoleOf(policypack.NewStack(nil), resource(t, "a", RoleAssignment, map[string]any{"roleDefinitionId": "/x/" + guid}, nil))
		require.NoError(t, err)
		return r
	}
	contributor, owner := role("b24988ac-6180-42a0-ab88-20f7382dd24c"), role("8E3AF657-A8FF-443C-A75C-2FE8C4BCB635")
	assert.True(t, contributor.Allows(rights.ListKeys, false))
	assert.False(t, contributor.Allows(rights.AssignRole, false), "it is among the actions that it does not have")
	assert.True(t, owner.Allows(rights.AssignRole, false))
	assert.Empty(t, owner.First(rights.Sync), "an owner manages, and holds no data action")
	user := role("5e0bd9bd-7b93-4f28-af87-19fc36ad61bd")
	assert.NotEmpty(t, user.First(rights.Sync))
	assert.NotEmpty(t, user.First(rights.Stored), "it reads what others stored")
	assert.Empty(t, user.First(rights.Batch))
	_, err := RoleOf(policypack.NewStack(nil), resource(t, "a", RoleAssignment, map[string]any{"roleDefinitionId": "/x/00000000-0000-0000-0000-000000000000"}, nil))
	require.Error(t, err, "of a role that is not known nothing is said")
}

func TestPatternsOfActions(t *testing.T) {
	t.Parallel()
	for pattern, allowed := range map[string]bool{
		"*": true, "Microsoft.CognitiveServices/*": true, "microsoft.cognitiveservices/accounts/openai/files/WRITE": true,
		"Microsoft.CognitiveServices/accounts/OpenAI/*/write": true, "Microsoft.CognitiveServices/accounts/OpenAI/files/read": false,
		"Microsoft.CognitiveServices/accounts/OpenAI/file": false, "*/read": false, "": false, "[": false,
	} {
		assert.Equal(t, allowed, rights.Role{DataActions: []string{pattern}}.Allows("Microsoft.CognitiveServices/accounts/OpenAI/files/write", true), pattern)
	}
}

func TestOwnersAreFoundByNameAndByOrigin(t *testing.T) {
	t.Parallel()
	one := resource(t, "one", Gateway, map[string]any{"serviceName": "apim", "resourceGroupName": "rg-1"}, nil)
	two := resource(t, "two", Gateway, map[string]any{"serviceName": "apim", "resourceGroupName": "rg-2"}, nil)
	named := resource(t, "named", API, map[string]any{"serviceName": "APIM", "resourceGroupName": "rg-2"}, nil)
	derived := resource(t, "derived", API, map[string]any{"serviceName": sig.UnknownStringValue, "resourceGroupName": "rg-1"}, map[string][]string{"serviceName": {"one"}})
	lost := resource(t, "lost", API, map[string]any{"serviceName": sig.UnknownStringValue}, nil)
	other := resource(t, "other", API, map[string]any{"serviceName": "elsewhere", "resourceGroupName": "rg-1"}, map[string][]string{"serviceName": {"one"}})
	s := policypack.NewStack([]*policypack.Resource{one, two, named, derived, lost, other})
	assert.Equal(t, two, Owner(s, named, "serviceName", Gateway), "the group decides between equal names")
	assert.Equal(t, one, Owner(s, derived, "serviceName", Gateway))
	assert.Nil(t, Owner(s, lost, "serviceName", Gateway))
	assert.Nil(t, Owner(s, other, "serviceName", Gateway), "a known name is believed")
	assert.Equal(t, []*policypack.Resource{derived}, Children(s, one, "serviceName", API))
	assert.False(t, SameOwner(s, named, other, "serviceName", Gateway))
	assert.False(t, SameOwner(s, lost, lost, "serviceName", Gateway), "nothing is known of either")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	const group = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg-1"
	account := resource(t, "account", Account, map[string]any{"accountName": "ai", "resourceGroupName": "rg-1"}, nil)
	for scope, want := range map[string]Reach{
		"/": Holds, "/subscriptions/11111111-2222-3333-4444-555555555555": Holds, "/providers/Microsoft.Management/managementGroups/x": Holds,
		group: Holds, group + "/": Holds, group + "x": Elsewhere,
		group + "/providers/Microsoft.CognitiveServices/accounts/AI": Holds, group + "/providers/Microsoft.CognitiveServices/accounts/other": Elsewhere,
		group + "/providers/Microsoft.CognitiveServices/accounts/ai/deployments/d": Holds, group + "/providers/Microsoft.Storage/storageAccounts/ai": Elsewhere,
		group + "/providers/Microsoft.CognitiveServices/accounts/../accounts/ai": Holds, strings.ReplaceAll(group, "-", "%2D"): Holds, "nonsense": Holds,
	} {
		// Azure takes a scope with and without its slashes.
		for _, text := range []string{scope, strings.TrimPrefix(scope, "/"), scope + "/"} {
			grant := resource(t, "grant", RoleAssignment, map[string]any{"scope": text}, nil)
			s := policypack.NewStack([]*policypack.Resource{account, grant})
			assert.Equal(t, want, Covers(s, grant, account), text)
			if want == Holds {
				assert.Contains(t, Near(s, grant, Account), account, text)
			}
		}
	}
	unknown := resource(t, "unknown", RoleAssignment, map[string]any{"scope": sig.UnknownStringValue}, nil)
	assert.Equal(t, Unclear, Covers(policypack.NewStack([]*policypack.Resource{account, unknown}), unknown, account))
	grant := resource(t, "grant", RoleAssignment, map[string]any{"scope": sig.UnknownStringValue}, map[string][]string{"scope": {"account"}})
	assert.Equal(t, Holds, Covers(policypack.NewStack([]*policypack.Resource{account, grant}), grant, account), "made from the account")
}

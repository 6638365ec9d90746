package live_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
	"onedoor/internal/engine"
)

// parts are the types of the plan that existing makes, in an order in which Azure
// takes them.
var parts = []string{
	"resources/v20240301:ResourceGroup", "managedidentity/v20230131:UserAssignedIdentity", "cognitiveservices/v20241001:Account",
	"cognitiveservices/v20241001:Deployment", "authorization/v20220501preview:RoleDefinition", "authorization/v20220401:RoleAssignment",
}

// existing makes the model accounts of the plan, and who may call them, as an update
// would have.
func existing(t testing.TB, w *world) {
	t.Helper()
	catalog, err := armtypes.Load()
	require.NoError(t, err)
	planned, err := plan()
	require.NoError(t, err)
	w.withCluster()
	w.make = func(c *client) {
		for _, part := range parts {
			for _, r := range planned {
				if r.Type == "azure-native:"+part {
					c.make(catalog, w.Subscription, planned, r)
				}
			}
		}
	}
}

// make writes a planned resource of which no more is unknown than the principal of a
// role; it leaves out roles elsewhere than at model accounts.
func (c *client) make(catalog *armtypes.Catalog, subscription string, planned []engine.Resource, r engine.Resource) {
	c.t.Helper()
	armType, ok := catalog.ByToken(r.Type)
	require.True(c.t, ok, r.Type)
	inputs := maps.Clone(r.Inputs)
	if strings.HasSuffix(r.Type, ":RoleAssignment") {
		if scope, _ := inputs["scope"].(string); !strings.Contains(scope, "/Microsoft.CognitiveServices/accounts/") {
			return
		}
		inputs["principalId"] = c.principal(catalog, subscription, planned, r.PropertyDependencies["principalId"][0])
	}
	id, problems := armType.ID(inputs, subscription)
	require.Empty(c.t, problems)
	body, problems := armType.Body(inputs)
	require.Empty(c.t, problems)
	raw, err := json.Marshal(body)
	require.NoError(c.t, err)
	c.put(id, armType.APIVersion, string(raw))
}

// principal is the object id that Azure gave the identity of a URN.
func (c *client) principal(catalog *armtypes.Catalog, subscription string, planned []engine.Resource, urn string) string {
	c.t.Helper()
	for _, r := range planned {
		if r.URN != urn {
			continue
		}
		armType, ok := catalog.ByToken(r.Type)
		require.True(c.t, ok, r.Type)
		id, problems := armType.ID(r.Inputs, subscription)
		require.Empty(c.t, problems)
		var identity struct {
			Properties struct {
				PrincipalID string `json:"principalId"`
			} `json:"properties"`
		}
		c.get(id, armType.APIVersion, &identity)
		require.NotEmpty(c.t, identity.Properties.PrincipalID)
		return identity.Properties.PrincipalID
	}
	c.t.Fatalf("no resource %s", urn)
	return ""
}

package rules

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// After an update issuers are known, and so is what the cluster issues.
func TestAKnownIssuerIsThatOfTheStacksCluster(t *testing.T) {
	t.Parallel()
	of := func(name, typ string, properties map[string]any) *policypack.Resource {
		s, err := structpb.NewStruct(properties)
		require.NoError(t, err)
		return &policypack.Resource{URN: name, Type: typ, Name: name, Outputs: propvalue.Of(s)}
	}
	const own = "https://eastus.oic.prod-aks.azure.com/tenant/cluster/"
	cluster := of("cluster", azure.Cluster, map[string]any{"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": own}})
	rule := federation(defaults())[0]
	for issuer, want := range map[string]results.State{
		own: results.Pass,
		"https://eastus.oic.prod-aks.azure.com/tenant/cluster":  results.Fail,
		"https://eastus.oic.prod-aks.azure.com/other/cluster/":  results.Fail,
		"https://eastus.oic.prod-aks.azure.com/tenant/another/": results.Fail,
	} {
		credential := of("credential", azure.Federation, map[string]any{
			"resourceName": "id-x-worker", "issuer": issuer, "subject": "system:serviceaccount:a:b", "audiences": []any{audience},
		})
		// An issuer that was made from the cluster's output need not be it.
		credential.ByProperty = map[string][]string{"issuer": {cluster.URN}}
		c := policypack.NewCase(credential)
		rule.Stack(policypack.NewStack([]*policypack.Resource{cluster, credential}), c)
		assert.Equal(t, want, c.State(), "%s: %v", issuer, c.Findings())
	}
}

// A pattern approves the clusters of others.
func TestIssuersAreWrittenOut(t *testing.T) {
	t.Parallel()
	s := defaults()
	for _, wrong := range []string{"https://*.oic.prod-aks.azure.com/*", "http://issuer.example/", ""} {
		assert.ErrorContains(t, s.decode([]byte(`{"issuers": ["`+wrong+`"]}`)), "want an address written out")
	}
	require.NoError(t, s.decode([]byte(`{"issuers": ["https://eastus.oic.prod-aks.azure.com/t/c/"]}`)))
	assert.True(t, slices.Equal(s.Issuers, []string{"https://eastus.oic.prod-aks.azure.com/t/c/"}))
}

package sim_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/core"
)

const credentials = "azure-native:containerservice/v20250101:listManagedClusterUserCredentials"

func invoke(t *testing.T, e *engine, token string, args m) (resource.PropertyMap, error) {
	t.Helper()
	in, err := plugin.MarshalProperties(resource.NewPropertyMapFromMap(args), plugin.MarshalOptions{})
	require.NoError(t, err)
	answer, err := e.p.Invoke(context.Background(), &pulumirpc.InvokeRequest{Tok: token, Args: in})
	if err != nil {
		return nil, err
	}
	out, err := plugin.UnmarshalProperties(answer.GetReturn(), plugin.MarshalOptions{})
	require.NoError(t, err)
	return out, nil
}

// A348: the address, and users without a secret.
func TestUserCredentials(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := groupID + "/providers/Microsoft.ContainerService/managedClusters/aks"
	e.cloud.Seed(core.Resource{
		ID: id, Type: "Microsoft.ContainerService/managedClusters", APIVersion: "2025-01-01", Provisioning: core.Succeeded,
		Body: m{"properties": m{"fqdn": "public.example.com", "privateFQDN": "private.example.com"}},
	})
	for _, token := range []string{credentials, strings.Replace(credentials, "/v20250101", "", 1)} {
		out, err := invoke(t, e, token, m{"resourceGroupName": "rg", "resourceName": "aks"})
		require.NoError(t, err)
		first := out["kubeconfigs"].ArrayValue()[0].ObjectValue()
		raw, err := base64.StdEncoding.DecodeString(first["value"].StringValue())
		require.NoError(t, err)
		assert.Contains(t, string(raw), "server: https://private.example.com:443\n")
		assert.Contains(t, string(raw), "command: kubelogin\n")
		assert.NotContains(t, string(raw), "token:")
	}
	_, err := invoke(t, e, credentials, m{"resourceGroupName": "rg", "resourceName": "other"})
	require.ErrorContains(t, err, "managedClusters/other")
	_, err = invoke(t, e, credentials, m{"resourceGroupName": "rg"})
	require.ErrorContains(t, err, "resourceName: got")
	_, err = invoke(t, e, "azure-native:network:getSubnet", m{})
	require.ErrorContains(t, err, "listManagedClusterUserCredentials", "an unknown function is refused with those that are known")
}

package rules

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// A first preview does not know the ids of subnets, only what they come from.
func TestUnknownSubnetsAreJudgedByWhatTheyComeFrom(t *testing.T) {
	t.Parallel()
	of := func(name, typ string, inputs map[string]any) *policypack.Resource {
		s, err := structpb.NewStruct(inputs)
		require.NoError(t, err)
		return &policypack.Resource{URN: name, Type: typ, Name: name, Inputs: propvalue.Of(s)}
	}
	subnets := []*policypack.Resource{
		of("batch", azure.Subnet, map[string]any{"subnetName": "snet-x-dev-batch-nodes"}),
		of("worker", azure.Subnet, map[string]any{"subnetName": "snet-x-dev-worker-nodes"}),
		of("nameless", azure.Subnet, map[string]any{"subnetName": sig.UnknownStringValue}),
	}
	pool := map[string]any{"vnetSubnetID": sig.UnknownStringValue}
	address := []any{map[string]any{"subnet": map[string]any{"id": sig.UnknownStringValue}}}
	rule := nodes(defaults())[0]
	for _, kind := range []struct {
		typ, property string
		value         any
	}{
		{azure.Cluster, "agentPoolProfiles", []any{pool}},
		{"azure-native:network:NetworkInterface", "ipConfigurations", address},
	} {
		for _, from := range []struct {
			behind []string
			want   results.State
		}{
			{[]string{"batch"}, results.Fail},
			{[]string{"worker"}, results.NotApplicable},
			{[]string{"batch", "worker"}, results.NotChecked},
			{[]string{"nameless"}, results.NotChecked},
			{nil, results.NotChecked},
		} {
			r := of("subject", kind.typ, map[string]any{kind.property: kind.value})
			r.ByProperty = map[string][]string{kind.property: from.behind}
			c := policypack.NewCase(r)
			rule.Stack(policypack.NewStack(append(slices.Clip(subnets), r)), c)
			assert.Equal(t, from.want, c.State(), "%s from %v: %v", kind.typ, from.behind, c.Findings())
		}
	}
}

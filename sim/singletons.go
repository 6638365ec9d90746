package sim

import (
	"onedoor/internal/armtypes"
	"onedoor/sim/core"
)

// singletons are types that exist as long as their parent, with the state that
// azure-native believes them to have at birth. It creates one although it exists,
// and instead of deleting it writes that state (A270).
// https://github.com/pulumi/pulumi-azure-native/blob/v2/provider/pkg/openapi/defaults/defaultResourcesState.go
var singletons = map[string]map[string]any{
	"servicebus:NamespaceNetworkRuleSet": {"properties": map[string]any{"defaultAction": "Deny"}},
	"storage:BlobServiceProperties":      {},
	"storage:TableServiceProperties":     {},
}

func singleton(r *armtypes.Resource) bool {
	_, ok := singletons[kindOf(r.Token)]
	return ok
}

// reset turns the deletion of a singleton into what azure-native sends.
func reset(r *armtypes.Resource, op core.Op) core.Op {
	op.Method, op.Body = core.Put, singletons[kindOf(r.Token)]
	return op
}

package sim

import (
	"strings"
	"time"

	"onedoor/internal/armtypes"
	"onedoor/sim/core"
)

// What the other providers' resources take; Azure's are in core (A002).
const (
	podsStart  = time.Minute     // until the pods of a workload are ready
	objectTook = time.Second     // any other object of the cluster
	patchTook  = 3 * time.Minute // a cluster that is changed in place
)

// Took is how long a resource of a Pulumi type takes: its creation, or an update of
// what exists. It is what the simulator makes its clients wait for, and an estimate
// of what Azure does.
func Took(token string, inputs map[string]any, creates bool) time.Duration {
	provider, _, _ := strings.Cut(token, ":")
	switch provider {
	case "azure-native":
		catalog, err := armtypes.Load()
		if err != nil {
			return 0
		}
		typ, known := catalog.ByToken(token)
		if !known {
			return 0
		}
		body, _ := typ.Body(inputs) // what does not fit the type decides no time
		return core.Took(typ.ARMType, body, creates)
	case "kubernetes":
		kind := token[strings.LastIndex(token, ":")+1:]
		if kind == "Deployment" || kind == "DaemonSet" || kind == "StatefulSet" {
			return podsStart
		}
		return objectTook
	case "armpatch":
		return patchTook
	default:
		return 0
	}
}

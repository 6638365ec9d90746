//go:build judges

package judges

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a stack declares is what Kubernetes and the operators take, field by field.
func TestEveryManifestIsAccepted(t *testing.T) {
	for _, stack := range []string{"dev", "prod"} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			objects := manifests(t, stack)
			c := newCluster(t)
			kinds := map[string]int{}
			for _, object := range objects {
				assert.NoError(t, c.apply(t.Context(), object), "%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
				kinds[object.GetKind()]++
			}
			for _, kind := range []string{"CiliumNetworkPolicy", "CronJob", "DaemonSet", "Deployment", "ScaledJob", "ScaledObject", "SecretProviderClass", "TriggerAuthentication", "ValidatingAdmissionPolicy"} {
				assert.NotZero(t, kinds[kind], kind)
			}
			t.Log(kinds)
		})
	}
}

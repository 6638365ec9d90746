//go:build judges

package judges

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/rest"
)

// What a stack declares is what Kubernetes and the operators take, field by field,
// and the API server has nothing to say about it. Workers are as many at most as the
// quota has room for.
func TestEveryManifestIsAccepted(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod"} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			objects := manifests(t, up(t, stack))
			said := &warnings{}
			config := rest.CopyConfig(newCluster(t).config)
			config.WarningHandler = said
			c := newClient(t, config)
			kinds, room := map[string]int{}, room(t, filepath.Join(projectDir, "Pulumi."+stack+".yaml"))
			for _, object := range objects {
				assert.NoError(t, c.apply(t.Context(), object), "%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
				kinds[object.GetKind()]++
				if queue, ok := strings.CutPrefix(object.GetName(), "worker-"); ok && strings.HasPrefix(object.GetKind(), "Scaled") {
					assert.Equal(t, room[queue], c.most(t, object), "workers of %s: what the quota has room for", queue)
				}
			}
			for _, kind := range []string{"CiliumNetworkPolicy", "CronJob", "DaemonSet", "Deployment", "ScaledJob", "ScaledObject", "SecretProviderClass", "TriggerAuthentication", "ValidatingAdmissionPolicy"} {
				assert.NotZero(t, kinds[kind], kind)
			}
			assert.Empty(t, said.texts, "warnings")
			t.Log(kinds)
		})
	}
}

// warnings are what an API server says beside its answers.
type warnings struct{ texts []string }

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

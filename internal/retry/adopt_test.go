package retry

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
)

// A create that met something is told its id; any other refusal is not one of these.
func TestWhatACreateMetIsNamed(t *testing.T) {
	t.Parallel()
	namespaced := resource.NewPropertyMapFromMap(map[string]any{"metadata": map[string]any{"namespace": "batch", "name": "worker"}})
	alone := resource.NewPropertyMapFromMap(map[string]any{"metadata": map[string]any{"name": "batch"}})
	const cluster = `resource "urn" was not successfully created by the Kubernetes API server: deployments.apps "worker" already exists`
	for name, c := range map[string]struct {
		refusal string
		inputs  resource.PropertyMap
		want    string
	}{
		"Resource":            {"cannot create already existing resource '/subscriptions/s/resourceGroups/rg'", nil, "/subscriptions/s/resourceGroups/rg"},
		"Subresource":         {"cannot create already existing subresource '/subscriptions/s/resourceGroups/rg/a b'", nil, "/subscriptions/s/resourceGroups/rg/a b"},
		"Object":              {cluster, namespaced, "batch/worker"},
		"Object of no space":  {cluster, alone, "batch"},
		"Object, secret name": {cluster, resource.PropertyMap{"metadata": resource.MakeSecret(alone["metadata"])}, "batch"},
		"Helm release":        {"cannot re-use a name that is still in use", resource.NewPropertyMapFromMap(map[string]any{"namespace": "serving", "name": "kuberay-operator"}), "serving/kuberay-operator"},
		"Other refusal":       {`Code="RequestConflict"`, alone, ""},
		"Another's object":    {`Code="Conflict" Message="an alert with this name already exists"`, alone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, existing(c.refusal, c.inputs))
		})
	}
}

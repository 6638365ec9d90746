package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/kube"
)

const (
	patchToken  = "kubernetes:apps/v1:DeploymentPatch"
	restartYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: keda-operator, namespace: kube-system}
spec: {template: {metadata: {annotations: {restarted: once}}}}
`
)

// operator is KEDA's operator as the API server answers it.
func operator(t *testing.T, cloud *sim.Cloud) map[string]any {
	t.Helper()
	for _, object := range kube.Objects(cloud.State(), clusterID) {
		if object["kind"] == "Deployment" {
			return object
		}
	}
	require.Fail(t, "the operator has not been changed")
	return nil
}

// A660: a patch owns some fields of an object that others made, and gives them back.
func TestKubernetesPatch(t *testing.T) {
	t.Parallel()
	e := aksEngine(t, nil)
	patch, err := e.create(patchToken, "restart", body(t, restartYAML), false)
	require.NoError(t, err)
	assert.Equal(t, "kube-system/keda-operator", patch.id)
	template := operator(t, e.cloud)["spec"].(m)["template"].(m)
	assert.Equal(t, m{"restarted": "once"}, template["metadata"].(m)["annotations"])
	assert.Equal(t, "keda-operator", template["spec"].(m)["serviceAccountName"], "what others own stays")
	require.NoError(t, e.delete(patch))
	template = operator(t, e.cloud)["spec"].(m)["template"].(m)
	assert.NotContains(t, template["metadata"], "annotations")
	assert.Equal(t, "keda-operator", template["spec"].(m)["serviceAccountName"])

	in := body(t, restartYAML)
	in["metadata"].ObjectValue()["name"] = in["metadata"].ObjectValue()["namespace"]
	_, err = e.create(patchToken, "other", in, false)
	assert.ErrorContains(t, err, "not found", "there must be something to patch")
}

// A661: an operator that came before the webhook has no identity until its pods
// are made again.
func TestKEDAsOperatorNeedsTheWebhookFirst(t *testing.T) {
	t.Parallel()
	identity := m{"securityProfile": m{"workloadIdentity": m{"enabled": true}}}
	has := func(e *engine) bool { return kube.OperatorHasIdentity(e.cloud.State(), clusterID) }
	assert.True(t, has(aksEngine(t, identity)))
	assert.False(t, has(aksEngine(t, nil)), "without workload identity there is no webhook")
	late := aksEngine(t, identity, sim.WithLateIdentityWebhook())
	assert.False(t, has(late))
	_, err := late.create(patchToken, "restart", body(t, restartYAML), false)
	require.NoError(t, err)
	assert.True(t, has(late))
}

//go:build judges

package judges

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"onedoor/internal/manifest"
)

// One wrong field, and the API server refuses the object; and so do the checks that
// previews and the simulator use, which is what makes a preview worth something.
func TestMistakesAreRefusedByTheServerAndInPreviews(t *testing.T) {
	t.Parallel()
	objects := manifests(t, up(t, "prod"))
	c := newCluster(t)
	for _, object := range objects {
		if rank(object) < 2 {
			require.NoError(t, c.apply(t.Context(), object), object.GetName())
		}
	}
	const (
		container = "spec.template.spec.containers.0."
		cron      = "spec.jobTemplate.spec.template.spec.containers.0."
	)
	for name, one := range map[string]struct { //nolint:paralleltest // one cluster
		kind, object string
		path         string
		value        any  // nil takes the field away
		server       bool // only the server sees it
	}{
		"a number as a text":                {"ScaledObject", "worker-text", "spec.maxReplicaCount", "3", false},
		"more at least than at most":        {"ScaledObject", "worker-text", "spec.minReplicaCount", int64(99), false},
		"at most none":                      {"ScaledObject", "worker-text", "spec.maxReplicaCount", int64(0), false},
		"a field of another name":           {"ScaledObject", "worker-text", "spec.maxReplicas", int64(3), false},
		"no trigger":                        {"ScaledObject", "worker-text", "spec.triggers", []any{}, false},
		"a text as a number":                {"ScaledObject", "worker-text", "spec.triggers.0.metadata.messageCount", int64(5), false},
		"an autoscaler's field misspelled":  {"ScaledObject", "worker-text", "spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown.stabilisationWindowSeconds", int64(1), false},
		"a trigger that names no proof":     {"ScaledObject", "worker-text", "spec.triggers.0.authenticationRef.name", nil, false},
		"a number of jobs as a text":        {"ScaledJob", "worker-video", "spec.maxReplicaCount", "3", false},
		"jobs without a template":           {"ScaledJob", "worker-video", "spec.jobTargetRef.template", nil, false},
		"an identity without a provider":    {"TriggerAuthentication", "scaler", "spec.podIdentity.provider", nil, false},
		"a provider that is none":           {"TriggerAuthentication", "scaler", "spec.podIdentity.provider", "azure-aad", false},
		"an identity's field misspelled":    {"TriggerAuthentication", "scaler", "spec.podIdentity.identityID", "x", false},
		"a selector of other pods":          {"Deployment", "worker-text", "spec.selector.matchLabels", map[string]any{"app": "other"}, false},
		"a limit below its request":         {"Deployment", "worker-text", container + "resources.limits.memory", "1Mi", false},
		"no such unit":                      {"Deployment", "worker-text", container + "resources.requests.memory", "64mib", false},
		"a mount of no volume":              {"Deployment", "worker-text", container + "volumeMounts.0.name", "other", false},
		"a name of a port that is too long": {"Deployment", "worker-text", container + "ports.0.name", "status-of-the-worker", false},
		"a variable twice as a field":       {"Deployment", "worker-text", container + "env.0.valeu", "x", false},
		"a variable without a name":         {"Deployment", "worker-text", container + "env.0.name", nil, false},
		"no such protocol":                  {"Deployment", "worker-text", container + "ports.0.protocol", "tcp", false},
		"a probe of nothing":                {"Deployment", "worker-text", container + "livenessProbe.httpGet", nil, false},
		"no such policy of restarts":        {"Deployment", "worker-text", "spec.template.spec.restartPolicy", "Never", false},
		"a spread by no key":                {"Deployment", "worker-text", "spec.template.spec.topologySpreadConstraints.0.topologyKey", nil, false},
		"an hour that is none":              {"CronJob", "nightly-tickets", "spec.schedule", "0 25 * * *", false},
		"a zone of time that is none":       {"CronJob", "nightly-tickets", "spec.timeZone", "Mars/Base", false},
		"no image":                          {"CronJob", "nightly-tickets", cron + "image", nil, false},
		"a port of nothing":                 {"Service", "control-plane", "spec.ports.0.port", int64(0), false},
		"sources that are no prefix":        {"Service", "control-plane", "spec.loadBalancerSourceRanges", []any{"10.0.0.1/33"}, false},
		"two ways to say a budget":          {"PodDisruptionBudget", "worker-text", "spec.minAvailable", int64(1), false},
		"a parameter that is a number":      {"SecretProviderClass", "worker-text", "spec.parameters.keyvaultName", int64(1), false},
		"an amount that is none":            {"ResourceQuota", "planned", "spec.hard.pods", "many", false},
		"a kind of policy that is none":     {"NetworkPolicy", "deny-all", "spec.policyTypes", []any{"Ingres"}, false},
		"a prefix that is none":             {"NetworkPolicy", "out-f08-blob", "spec.egress.0.to.0.ipBlock.cidr", "10.40.0.0", false},
		"a port above all":                  {"NetworkPolicy", "out-f08-blob", "spec.egress.0.ports.0.port", int64(70000), false},
		"a port of Cilium's as a number":    {"CiliumNetworkPolicy", "out-f71-login", "spec.egress.0.toPorts.0.ports.0.port", int64(443), false},
		"an entity that is none":            {"CiliumNetworkPolicy", "out-f74-kubernetes-api", "spec.egress.0.toEntities", []any{"apiserver"}, false},
		"a role that allows no verb":        {"Role", "control-plane", "rules.0.verbs", nil, false},
		"a subject of no kind":              {"RoleBinding", "control-plane", "subjects.0.kind", "Account", false},
		"an expression that is none":        {"ValidatingAdmissionPolicy", "onedoor-batch-nodes", "spec.validations.0.expression", "object.spec.(", true},
		"a reason that is none":             {"ValidatingAdmissionPolicy", "onedoor-batch-nodes", "spec.validations.0.reason", "Denied", true},
		"an operation that is none":         {"ValidatingAdmissionPolicy", "onedoor-batch-nodes", "spec.matchConstraints.resourceRules.0.operations", []any{"WRITE"}, true},
		"a failure that means nothing":      {"ValidatingAdmissionPolicy", "onedoor-batch-nodes", "spec.failurePolicy", "Deny", false},
		"a binding of no policy":            {"ValidatingAdmissionPolicyBinding", "onedoor-batch-nodes", "spec.policyName", nil, true},
		"a binding to an action unknown":    {"ValidatingAdmissionPolicyBinding", "onedoor-batch-nodes", "spec.validationActions", []any{"Refuse"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			right := find(t, objects, one.kind, one.object)
			right.SetName(right.GetName() + "-judged")
			require.NoError(t, dryRun(t.Context(), c.client, right), "the neighbour is legal")
			require.Empty(t, manifest.Check(plain(t, right)))
			wrong := right.DeepCopy()
			put(t, wrong, one.path, one.value)
			assert.Error(t, dryRun(t.Context(), c.client, wrong), "the server")
			if problems := manifest.Check(plain(t, wrong)); one.server {
				assert.Empty(t, problems)
			} else {
				assert.NotEmpty(t, problems, "a preview")
			}
		})
	}
}

// plain is an object as JSON has it, with one kind of numbers.
func plain(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// put sets what is at a path, as in "spec.ports.0.name", or takes it away.
func put(t *testing.T, object *unstructured.Unstructured, path string, value any) {
	t.Helper()
	steps := strings.Split(path, ".")
	var at any = object.Object
	for i, step := range steps {
		last := i == len(steps)-1
		switch v := at.(type) {
		case map[string]any:
			switch {
			case last && value == nil:
				require.Contains(t, v, step)
				delete(v, step)
			case last:
				v[step] = value
			}
			at = v[step]
		case []any:
			n, err := strconv.Atoi(step)
			require.NoError(t, err)
			require.Less(t, n, len(v), path)
			at = v[n]
		default:
			require.Fail(t, "no "+step+" in "+path)
		}
	}
}

package manifest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeyNamesObjects(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want ObjectKey
	}{
		"namespaced":            {deployment, ObjectKey{"apps/v1", "Deployment", "batch", "worker"}},
		"of the cluster":        {namespace, ObjectKey{"v1", "Namespace", "", "batch"}},
		"without a namespace":   {"{apiVersion: v1, kind: Pod, metadata: {name: a}}", ObjectKey{"v1", "Pod", "default", "a"}},
		"in an unknown one":     {"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: '?'}}", ObjectKey{"v1", "Pod", "", "a"}},
		"wrongly in one":        {"{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}", ObjectKey{"v1", "Namespace", "", "a"}},
		"of a kind not known":   {"{apiVersion: x.org/v1, kind: X, metadata: {name: a}}", ObjectKey{"x.org/v1", "X", "default", "a"}},
		"with an unknown name":  {"{apiVersion: v1, kind: Namespace, metadata: {name: '?'}}", ObjectKey{"v1", "Namespace", "", ""}},
		"with unknown metadata": {"{apiVersion: v1, kind: Pod, metadata: '?'}", ObjectKey{"v1", "Pod", "", ""}},
	} {
		assert.Equal(t, c.want, Key(object(t, c.text)), name)
	}
	assert.Equal(t, "apps/v1/Deployment batch/worker", Key(object(t, deployment)).String())
	assert.Equal(t, "v1/Namespace batch", Key(object(t, namespace)).String())
	assert.Equal(t, "apps", Key(object(t, deployment)).Group())
	assert.Empty(t, Key(object(t, namespace)).Group())
}

// Templates of pods are found wherever a kind has them, with what they ask for.
func TestPodsFindsTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		paths   []string
		devices []map[string]int64
	}{
		"deployment": {deployment, []string{"spec.template"}, []map[string]int64{{"nvidia.com/gpu": 1}}},
		"cron job":   {cronJob, []string{"spec.jobTemplate.spec.template"}, []map[string]int64{{}}},
		"ray": {
			rayService, []string{"spec.rayClusterConfig.headGroupSpec.template", "spec.rayClusterConfig.workerGroupSpecs[0].template", "spec.rayClusterConfig.workerGroupSpecs[1].template"},
			[]map[string]int64{{}, {}, {"nvidia.com/gpu": 1}},
		},
		"none":    {service, nil, nil},
		"unknown": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: '?'}", nil, nil},
		"containers add up, those that run first do not": {
			"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {initContainers: [{name: i, resources: {limits: {nvidia.com/gpu: 3}}}, {name: s, restartPolicy: Always, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}], containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1, cpu: 1}}}, {name: b, resources: {limits: {nvidia.com/gpu: '1', nvidia.com/mig-1g.10gb: 2}}}]}}",
			[]string{""}, []map[string]int64{{"nvidia.com/gpu": 3, "nvidia.com/mig-1g.10gb": 3}},
		},
	} {
		var paths []string
		var devices []map[string]int64
		for _, pod := range Pods(object(t, c.text)) {
			paths, devices = append(paths, pod.Path), append(devices, pod.Devices())
		}
		assert.Equal(t, c.paths, paths, name)
		assert.Equal(t, c.devices, devices, name)
	}
	assert.Equal(t, map[string]string{"app": "worker"}, Pods(object(t, deployment))[0].Labels())
}

// What cannot change is refused, what can is not, and what is unknown is not
// judged.
func TestCheckUpdate(t *testing.T) {
	t.Parallel()
	const config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: true, data: {a: b}}"
	for name, c := range map[string]struct {
		old, new, want string
	}{
		"the selector":              {deployment, "{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {app: other}}}}", "spec.selector"},
		"replicas":                  {deployment, "{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 7}}", ""},
		"an unknown selector":       {deployment, "{apiVersion: apps/v1, kind: Deployment, spec: {selector: '?'}}", ""},
		"a role that is bound":      {binding, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: writer}}", "roleRef"},
		"who it is bound to":        {binding, "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, subjects: []}", ""},
		"the value of a priority":   {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1}", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 2}", "value"},
		"data of what is immutable": {config, "{apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: c}}", "data"},
		"immutability itself":       {config, "{apiVersion: v1, kind: ConfigMap, immutable: false, data: {a: b}}", "immutable"},
		"data of what is not":       {"{apiVersion: v1, kind: ConfigMap, data: {a: b}}", "{apiVersion: v1, kind: ConfigMap, data: {a: c}}", ""},
	} {
		problems := CheckUpdate(object(t, c.old), object(t, c.new))
		if c.want == "" {
			assert.Empty(t, lines(problems), name)
			continue
		}
		if assert.Len(t, problems, 1, name) {
			assert.Equal(t, c.want, problems[0].Path, name)
			assert.Contains(t, problems[0].Want, "cannot be changed", name)
		}
	}
}

// An immutable Secret is refused without its values.
func TestCheckUpdateShowsNoSecrets(t *testing.T) {
	t.Parallel()
	problems := CheckUpdate(object(t, "{apiVersion: v1, kind: Secret, immutable: true, data: {a: b3Blbg==}}"), object(t, "{apiVersion: v1, kind: Secret, immutable: true, data: {a: c2VzYW1l}}"))
	assert.NotEmpty(t, problems)
	assert.NotContains(t, lines(problems), "b3Blbg")
	assert.NotContains(t, lines(problems), "c2VzYW1l")
}

func TestCheckCustomJudgesMetadataAlone(t *testing.T) {
	t.Parallel()
	assert.Empty(t, lines(CheckCustom(object(t, "{apiVersion: x.org/v1, kind: X, metadata: {name: a, namespace: b}, spec: {any: thing}}"))))
	assert.Contains(t, lines(CheckCustom(object(t, "{apiVersion: x.org/v1, kind: X, metadata: {name: A}}"))), "metadata.name: got \"A\"")
}

func TestAutoscalerOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "keda-hpa-worker", AutoscalerOf(object(t, scaledObject)))
	assert.Equal(t, "own", AutoscalerOf(object(t, "{metadata: {name: a}, spec: {advanced: {horizontalPodAutoscalerConfig: {name: own}}}}")))
	assert.Empty(t, AutoscalerOf(object(t, "{metadata: {name: a}, spec: {advanced: {horizontalPodAutoscalerConfig: {name: '?'}}}}")))
}

package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// scaled is a RayService whose workers come and go, with a language model.
const scaled = `
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm, namespace: serving, annotations: {ray.io/initializing-timeout: 30m}}
spec:
  upgradeStrategy: {type: NewCluster}
  serveConfigV2: |
    applications:
    - name: llm
      import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config: {model_id: llm, model_source: org/llm}
          engine_kwargs: {max_model_len: 4096}
          deployment_config:
            autoscaling_config: {min_replicas: 1, max_replicas: 2, target_ongoing_requests: 8}
  rayClusterConfig:
    enableInTreeAutoscaling: true
    autoscalerOptions: {version: v2}
    headGroupSpec:
      rayStartParams: {num-cpus: "0"}
      template: {spec: {restartPolicy: Never, containers: [{name: ray, image: "ray:1", env: [{name: A, value: b}]}]}}
    workerGroupSpecs:
    - groupName: gpu
      suspend: false
      maxReplicas: 2
      template: {spec: {containers: [{name: worker, image: "ray:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
`

// What the operator and Ray Serve LLM refuse in code, each beside the legal object.
func TestRayServicesThatNeverServe(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Check(object(t, scaled)))
	const (
		group   = "spec.rayClusterConfig.workerGroupSpecs[0]"
		head    = "spec.rayClusterConfig.headGroupSpec"
		serving = "spec.serveConfigV2: applications[0].args.llm_configs[0]"
	)
	for name, c := range map[string]struct{ old, new, path, want string }{
		"NoContainer":     {`containers: [{name: worker, image: "ray:1", resources: {limits: {nvidia.com/gpu: 1}}}]`, "containers: []", group + ".template.spec.containers", "at least one container"},
		"TwoKindsOfGPU":   {"nvidia.com/gpu: 1", "nvidia.com/gpu: 1, nvidia.com/mig-3g.40gb: 1", group + `.template.spec.containers[0].resources.limits["nvidia.com/mig-3g.40gb"]`, "nothing beside nvidia.com/gpu"},
		"Restarts":        {"restartPolicy: Never", "restartPolicy: Always", head + ".template.spec.restartPolicy", "second autoscaler"},
		"Suspended":       {"suspend: false", "suspend: true", group + ".suspend", "nothing with autoscaling"},
		"TwoSwitches":     {"name: A, value: b", "name: RAY_enable_autoscaler_v2, value: \"1\"", head + ".template.spec.containers[0].env[0]", "nothing beside autoscalerOptions.version"},
		"SwitchAlone":     {"enableInTreeAutoscaling: true\n    autoscalerOptions: {version: v2}\n    headGroupSpec:\n      rayStartParams: {num-cpus: \"0\"}\n      template: {spec: {restartPolicy: Never, containers: [{name: ray, image: \"ray:1\", env: [{name: A, value: b}", "headGroupSpec:\n      rayStartParams: {num-cpus: \"0\"}\n      template: {spec: {restartPolicy: Never, containers: [{name: ray, image: \"ray:1\", env: [{name: RAY_enable_autoscaler_v2, value: \"1\"}", head + ".template.spec.containers[0].env[0].value", "while enableInTreeAutoscaling is off"},
		"StateByVariable": {"name: A, value: b", "name: RAY_REDIS_ADDRESS, value: redis", head + ".template.spec.containers[0].env[0]", "nothing without gcsFaultToleranceOptions"},
		"StateTwice":      {"enableInTreeAutoscaling: true", "enableInTreeAutoscaling: true\n    gcsFaultToleranceOptions: {redisAddress: redis}\n    rayVersion: 2.56.0", "", ""},
		"StatePassword":   {"rayStartParams: {num-cpus: \"0\"}", "rayStartParams: {num-cpus: \"0\", redis-username: x}", head + ".rayStartParams[\"redis-username\"]", "nothing"},
		"PatienceIsText":  {"ray.io/initializing-timeout: 30m", "ray.io/initializing-timeout: soon", `metadata.annotations["ray.io/initializing-timeout"]`, "a time above nothing"},
		"PatienceSeconds": {"ray.io/initializing-timeout: 30m", "ray.io/initializing-timeout: \"1800\"", "", ""},
		"PatienceIsNone":  {"ray.io/initializing-timeout: 30m", "ray.io/initializing-timeout: \"0\"", `metadata.annotations["ray.io/initializing-timeout"]`, "a time above nothing"},
		"NoName":          {"model_id: llm, ", "", serving + ".model_loading_config.model_id", "that callers give the model by"},
		"NameTwice":       {"max_model_len: 4096", "max_model_len: 4096, served_model_name: x", serving + ".engine_kwargs.served_model_name", "model_loading_config says it"},
		"BundlesBeside":   {"deployment_config:\n", "deployment_config:\n            placement_group_strategy: PACK\n", serving + ".deployment_config.placement_group_strategy", "placement_group_config"},
		"GPUsOnTop":       {"deployment_config:\n", "deployment_config:\n            ray_actor_options: {num_gpus: 1}\n", serving + ".deployment_config.ray_actor_options.num_gpus", "on top of those of its ranks"},
		"NoTarget":        {", target_ongoing_requests: 8", "", serving + ".deployment_config.autoscaling_config.target_ongoing_requests", "never another replica"},
		"OneReplica":      {"max_replicas: 2, target_ongoing_requests: 8", "max_replicas: 1", "", ""},
		"LeastAboveMost":  {"min_replicas: 1", "min_replicas: 3", serving + ".deployment_config.autoscaling_config.min_replicas", "at most max_replicas"},
		"AnotherBuilder":  {"ray.serve.llm:build_openai_app", "own:app", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(scaled, c.old, c.new, 1)
			assert.NotEqual(t, scaled, text, "nothing was changed")
			found := Check(object(t, text))
			if c.path == "" {
				assert.Empty(t, found)
				return
			}
			var paths []string
			for _, p := range found {
				paths = append(paths, p.Path)
			}
			assert.Contains(t, paths, c.path, lines(found))
			assert.Contains(t, lines(found), c.want)
		})
	}
}

// An object in a preview is not refused for what nobody knows yet.
func TestRayServicesThatAreNotKnownYet(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"containers: [{name: worker, image: \"ray:1\", resources: {limits: {nvidia.com/gpu: 1}}}]", "{nvidia.com/gpu: 1}", "enableInTreeAutoscaling: true"} {
		key, _, _ := strings.Cut(part, ": ")
		unknown := key + `: "?"`
		if strings.HasPrefix(part, "{") {
			unknown = `"?"`
		}
		assert.Empty(t, Check(object(t, strings.Replace(scaled, part, unknown, 1))), part)
	}
}

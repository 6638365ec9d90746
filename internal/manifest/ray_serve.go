package manifest

import "strings"

// What Ray Serve LLM refuses when an application starts, which is after a node with
// GPUs was paid for.
// https://docs.ray.io/en/latest/serve/llm/user-guides/configuration.html

// llmBuilders starts the import paths of applications that serve language models.
const llmBuilders = "ray.serve.llm:"

// languageModels checks an application of language models. in is the text that holds
// it.
func (c *checker) languageModels(in, application node) {
	if !strings.HasPrefix(application.at("import_path").text(), llmBuilders) {
		return
	}
	args := application.at("args")
	for _, llm := range append(args.at("llm_configs").list(), args.at("prefill_config"), args.at("decode_config")) {
		if llm.fields() == nil {
			continue // none, or the path of a file
		}
		if llm.get("model_loading_config.model_id").text() == "" {
			c.serveProblem(in, llm.get("model_loading_config.model_id"), "the name that callers give the model by")
		}
		for _, name := range []string{"model", "served_model_name"} {
			if n := llm.at("engine_kwargs").at(name); n.known() {
				c.serveProblem(in, n, "nothing: model_loading_config says it")
			}
		}
		deployment := llm.at("deployment_config")
		for _, name := range []string{"placement_group_bundles", "placement_group_strategy"} {
			if n := deployment.at(name); n.known() {
				c.serveProblem(in, n, "nothing: it belongs to placement_group_config")
			}
		}
		// https://github.com/ray-project/ray/issues/58328
		if n := deployment.get("ray_actor_options.num_gpus"); n.known() {
			c.serveProblem(in, n, "nothing: a replica would ask for these GPUs on top of those of its ranks")
		}
		c.replicaTarget(in, deployment.at("autoscaling_config"))
	}
}

// replicaTarget: without a target a replica takes 10^9 requests before there is
// another one.
func (c *checker) replicaTarget(in, scaling node) {
	low, _ := scaling.at("min_replicas").number()
	high, grows := scaling.at("max_replicas").number()
	if grows && high > max(low, 1) && scaling.at("target_ongoing_requests").absent() {
		c.serveProblem(in, scaling.at("target_ongoing_requests"), "a number of requests: by default there is never another replica")
	}
	if grows && low > high {
		c.serveProblem(in, scaling.at("min_replicas"), "at most max_replicas")
	}
}

// serveProblem reports a place within a text, whose path goes on where that of the
// text ends.
func (c *checker) serveProblem(in, at node, want string) {
	at.path = in.path + ": " + at.path
	c.add(at, "", want, "")
}

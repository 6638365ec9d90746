package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// rayGPU matches the resources that KubeRay's operator counts as GPUs of a node of
// Ray, when the group does not say how many there are.
// https://github.com/ray-project/kuberay/blob/v1.5.0/ray-operator/controllers/ray/common/pod.go
var rayGPU = regexp.MustCompile(`(gpu|nvidia\.com/mig-\d+g\.\d+gb)$`)

// rayContainer: the first container of a group is the one of Ray. It has at most one
// kind of GPU, because the operator counts the first by name.
func (c *checker) rayContainer(group node) {
	containers := group.get("template.spec.containers")
	if group.absent() || containers.unknown() || group.at("template").unknown() {
		return
	}
	if len(containers.list()) == 0 {
		c.add(containers, "", "at least one container: the first is Ray's", "")
		return
	}
	limits := containers.list()[0].get("resources.limits")
	var kinds []string
	for _, name := range slices.Sorted(maps.Keys(limits.fields())) {
		if rayGPU.MatchString(name) {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) > 1 {
		c.add(limits.at(kinds[1]), "", "nothing beside "+kinds[0]+": the operator counts the first kind of GPU by name and no other", "make a group for each kind")
	}
}

// The variable that turns the second autoscaler on, and the versions of it.
const (
	autoscalerV2 = "RAY_enable_autoscaler_v2"
	version2     = "v2"
)

// rayAutoscaler: who asks for the second autoscaler needs the first switch, and pods
// that do not start again by themselves.
func (c *checker) rayAutoscaler(cluster node, groups []node) {
	enabled := cluster.at("enableInTreeAutoscaling")
	if enabled.unknown() {
		return
	}
	variable := environment(groups[0], autoscalerV2)
	version := cluster.get("autoscalerOptions.version")
	if enabled.v != true {
		if text := variable.at("value").text(); text == "1" || text == "true" {
			c.add(variable.at("value"), "", "nothing while enableInTreeAutoscaling is off", "turn it on, with autoscalerOptions.version v2")
		}
		return
	}
	if version.known() && variable.known() {
		c.add(variable, "", "nothing beside autoscalerOptions.version", "keep the option")
	}
	for i, group := range groups {
		if n := group.at("suspend"); i > 0 && n.v == true {
			c.add(n, "", "nothing with autoscaling, which decides how many workers there are", "set minReplicas and maxReplicas to 0")
		}
		restart := group.get("template.spec.restartPolicy")
		if version.text() == version2 && restart.known() && restart.text() != "Never" {
			c.add(restart, "", "Never, or nothing, because the second autoscaler makes new pods itself", "leave it out")
		}
	}
}

// rayState: the state of a cluster outlives its head by one way alone.
func (c *checker) rayState(cluster node) {
	head := cluster.at("headGroupSpec")
	options := cluster.at("gcsFaultToleranceOptions")
	annotation := c.object.at("metadata").at("annotations").at("ray.io/ft-enabled")
	redis := environment(head, "RAY_REDIS_ADDRESS")
	if options.absent() && !annotation.known() && redis.known() {
		c.add(redis, "", "nothing without gcsFaultToleranceOptions", "name the address there")
	}
	for _, n := range []node{environment(head, "REDIS_USERNAME"), head.at("rayStartParams").at("redis-username")} {
		if n.known() {
			c.add(n, "", "nothing", "name the user in gcsFaultToleranceOptions.redisUsername")
		}
	}
	if !options.known() {
		return
	}
	for _, n := range []node{annotation, redis, environment(head, "REDIS_PASSWORD"), head.at("rayStartParams").at("redis-password"), c.object.at("metadata").at("annotations").at("ray.io/external-storage-namespace")} {
		if n.known() {
			c.add(n, "", "nothing beside gcsFaultToleranceOptions", "say it there")
		}
	}
}

// environment is the variable of that name of a group's container of Ray.
func environment(group node, name string) node {
	containers := group.get("template.spec.containers").list()
	if len(containers) == 0 {
		return node{}
	}
	variables := containers[0].at("env").list()
	if i := slices.IndexFunc(variables, func(n node) bool { return n.at("name").text() == name }); i >= 0 {
		return variables[i]
	}
	return node{}
}

// initializing: when this time is over, a RayService has failed for good.
func (c *checker) initializing() {
	n := c.object.at("metadata", "annotations", "ray.io/initializing-timeout")
	text := n.text()
	if text == "" {
		return
	}
	duration, err := time.ParseDuration(text)
	if seconds, no := strconv.Atoi(text); no == nil {
		duration, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || duration <= 0 {
		c.add(n, "", "a time above nothing, such as 30m, or seconds", "")
	}
}

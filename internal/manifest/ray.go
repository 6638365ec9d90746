package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// KubeRay's own rules: its operator marks what breaks them as invalid and does
// nothing more.
// https://github.com/ray-project/kuberay/blob/v1.5.0/ray-operator/controllers/ray/utils/validation.go

// groupParameters are the start parameters that a group's resources replace.
var groupParameters = []string{"num-cpus", "num-gpus", "memory", "resources"}

func (c *checker) rayCluster(path string) {
	cluster := c.object.get(path)
	groups := append([]node{cluster.at("headGroupSpec")}, cluster.at("workerGroupSpecs").list()...)
	for _, group := range groups {
		parameters := group.at("rayStartParams")
		if len(group.at("resources").fields()) > 0 {
			for _, name := range groupParameters {
				if n := parameters.at(name); n.known() {
					c.add(n, "", "nothing, because the group has resources", "keep one of the two")
				}
			}
		}
		if n := parameters.at("labels"); n.known() {
			c.add(n, "", "nothing: labels are a field of the group", "move them to "+group.at("labels").path)
		}
	}
	for _, group := range cluster.at("workerGroupSpecs").list() {
		low, ok1 := group.at("minReplicas").number()
		high, ok2 := group.at("maxReplicas").number()
		if ok1 && ok2 && low > high {
			c.add(group.at("minReplicas"), "", "at most maxReplicas", "")
		}
	}
	for _, group := range groups {
		c.rayContainer(group)
	}
	c.rayAutoscaler(cluster, groups)
	c.rayState(cluster)
	if n := cluster.get("headGroupSpec.headService.metadata.name"); n.known() && c.kind.Name == "RayService" {
		c.add(n, "", "nothing: a RayService names its services itself", "leave it out")
	}
}

func (c *checker) rayService() {
	c.serveConfig(c.object.get("spec.serveConfigV2"))
	c.servePort()
	c.initializing()
	if upgrade := c.object.get("spec.upgradeStrategy"); upgrade.fields() != nil && upgrade.at("type").absent() {
		c.add(upgrade.at("type"), "", "a type, because the operator of 1.5 stops without one once incremental upgrades are on", "")
	}
}

// serveConfig: the applications are YAML in a string.
func (c *checker) serveConfig(n node) {
	if n.text() == "" {
		return
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(n.text()), &config); err != nil {
		c.add(n, "text that is no YAML ("+strings.TrimPrefix(err.Error(), "yaml: ")+")", "the configuration of Ray Serve", "")
		return
	}
	applications, ok := config["applications"].([]any)
	if !ok {
		c.add(n, "fields "+strings.Join(slices.Sorted(maps.Keys(config)), ", "), "a list of applications", "")
		return
	}
	for i, application := range applications {
		c.languageModels(n, node{path: fmt.Sprintf("applications[%d]", i), v: application})
	}
}

// servePort: the operator finds the port of Ray Serve by its name once the head
// declares ports, and makes no service without it.
func (c *checker) servePort() {
	if c.object.get("spec.serveService").known() {
		return
	}
	containers := c.object.get("spec.rayClusterConfig.headGroupSpec.template.spec.containers").list()
	if len(containers) == 0 {
		return
	}
	ports := containers[0].at("ports")
	if len(ports.list()) == 0 || !ports.decided() {
		return
	}
	if !slices.ContainsFunc(ports.list(), func(p node) bool { return p.at("name").text() == "serve" }) {
		c.add(ports, "", "one that is named serve, or the operator makes no service for it", "add {name: serve, containerPort: 8000}")
	}
}

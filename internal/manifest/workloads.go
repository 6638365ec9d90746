package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones are judged alike on every machine

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// selector: a workload selects the pods that it makes, and says how.
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#selector
func (c *checker) selector() {
	selector, made := c.object.get("spec.selector"), c.object.get("spec.template.metadata.labels")
	if selector.absent() || !selector.decided() || !made.decided() {
		return
	}
	chosen, ok := parseSelector(selector)
	if !ok {
		return // the structure is wrong, which is reported
	}
	if chosen.Empty() {
		c.add(selector, "", "at least one label, because an empty selector selects everything", "")
		return
	}
	set := labels.Set{}
	for key, v := range made.fields() {
		set[key], _ = v.(string)
	}
	if !chosen.Matches(set) {
		c.add(made, "", "labels that the selector matches: "+chosen.String(), "give the template the labels of "+selector.path)
	}
}

func parseSelector(n node) (labels.Selector, bool) {
	var selector metav1.LabelSelector
	text, err := json.Marshal(n.v)
	if err == nil {
		err = json.Unmarshal(text, &selector)
	}
	if err != nil {
		return nil, false
	}
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	return parsed, err == nil
}

// restarts: what the pods of a kind do when they end. Jobs must say it.
func (c *checker) restarts(template string, allowed ...string) {
	policy := c.object.get(template + ".spec.restartPolicy")
	switch {
	case policy.unknown(), policy.absent() && allowed[0] == "Always":
	case !slices.Contains(allowed, policy.text()):
		c.add(policy, "", oneOf(allowed), "")
	}
}

// rollout: a strategy of Recreate takes no parameters, and a rolling update must
// be able to move.
func (c *checker) rollout() {
	strategy := c.object.get("spec.strategy")
	rolling := strategy.at("rollingUpdate")
	if strategy.at("type").text() == "Recreate" && rolling.known() {
		c.add(rolling, "a value", "nothing, because the type is Recreate", "leave it out")
	}
	if surge, unavailable := rolling.at("maxSurge"), rolling.at("maxUnavailable"); zero(surge) && zero(unavailable) {
		c.add(unavailable, "", "more than 0 where maxSurge is 0, or no pod could ever be replaced", "")
	}
}

func zero(n node) bool {
	value, ok := n.number()
	return ok && value == 0 || n.text() == "0" || n.text() == "0%"
}

// schedule: the controller reads it as this library does, and the zone by its name.
// https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/
func (c *checker) schedule() {
	if s := c.object.get("spec.schedule"); s.text() != "" {
		if _, err := cron.ParseStandard(s.text()); err != nil || strings.Contains(s.text(), "TZ=") {
			c.add(s, "", `five fields, such as "*/5 * * * *"`, "")
		}
	}
	if zone := c.object.get("spec.timeZone"); zone.text() != "" {
		if _, err := time.LoadLocation(zone.text()); err != nil || zone.text() == "Local" {
			c.add(zone, "", `a name of the time zone database, such as "Etc/UTC"`, "")
		}
	}
}

// service checks the ports of a Service.
// https://kubernetes.io/docs/concepts/services-networking/service/
func (c *checker) service() {
	spec := c.object.at("spec")
	ports := spec.at("ports").list()
	seen := map[string]bool{}
	for _, port := range ports {
		c.portNumber(port.at("port"))
		c.portNumber(port.at("targetPort"))
		name := port.at("name")
		switch {
		case name.unknown():
		case name.text() == "" && len(ports) > 1:
			c.add(name, "", "a name, because the service has several ports", "")
		case name.text() != "":
			c.form(name, validation.IsDNS1123Label(name.text()))
			if seen[name.text()] {
				c.add(name, "", "a name that no other port of the service has", "")
			}
			seen[name.text()] = true
		}
	}
	headless, external := spec.at("clusterIP").text() == "None", spec.at("type").text() == "ExternalName"
	if len(ports) == 0 && !headless && !external && !spec.unknown() && !spec.at("ports").unknown() {
		c.add(spec.at("ports"), "", "at least one port", "")
	}
	if kind := spec.at("type").text(); headless && (kind == "LoadBalancer" || kind == "NodePort") {
		c.add(spec.at("type"), "", "ClusterIP, because clusterIP is None", "")
	}
	for _, block := range spec.at("loadBalancerSourceRanges").list() {
		c.block(block)
	}
}

// block is a range of addresses in CIDR form.
func (c *checker) block(n node) (netip.Prefix, bool) {
	if n.text() == "" {
		return netip.Prefix{}, false
	}
	prefix, err := netip.ParsePrefix(n.text())
	switch {
	case err != nil:
		c.add(n, "", `a range such as "10.0.0.0/16"`, "")
	case prefix != prefix.Masked():
		c.add(n, "", "the first address of the range: "+prefix.Masked().String(), "")
	}
	return prefix, err == nil
}

// maxContents is how much a ConfigMap or Secret may hold.
// https://kubernetes.io/docs/concepts/configuration/configmap/
const maxContents = 1 << 20 // bytes

func (c *checker) contents(fields ...string) {
	size := 0
	for _, field := range fields {
		entries := c.object.at(field)
		for _, key := range slices.Sorted(maps.Keys(entries.fields())) {
			n := entries.at(key)
			if messages := validation.IsConfigMapKey(key); len(messages) > 0 {
				c.add(n, show(key), strings.Join(messages, "; "), "")
			}
			size += len(n.text())
		}
	}
	if size > maxContents {
		c.add(c.object.at(fields[0]), fmt.Sprintf("%d bytes", size), fmt.Sprintf("at most %d bytes", maxContents), "keep large contents in a volume")
	}
}

// networkPolicy checks addresses and ports.
// https://kubernetes.io/docs/concepts/services-networking/network-policies/
func (c *checker) networkPolicy() {
	spec := c.object.at("spec")
	for _, side := range []struct{ rules, peers string }{{"ingress", "from"}, {"egress", "to"}} {
		for _, rule := range spec.at(side.rules).list() {
			for _, peer := range rule.at(side.peers).list() {
				c.peer(peer)
			}
			for _, port := range rule.at("ports").list() {
				c.policyPort(port)
			}
		}
	}
	types := spec.at("policyTypes")
	if len(types.list()) == 0 || !types.decided() {
		return
	}
	for _, side := range []struct{ rules, kind string }{{"ingress", "Ingress"}, {"egress", "Egress"}} {
		listed := slices.ContainsFunc(types.list(), func(n node) bool { return n.text() == side.kind })
		if rules := spec.at(side.rules); len(rules.list()) > 0 && !listed {
			c.add(types, "", "with "+side.kind+", because without it the rules of "+rules.path+" do nothing", "")
		}
	}
}

func (c *checker) peer(peer node) {
	block := peer.at("ipBlock")
	if block.absent() || block.unknown() {
		if peer.fields() != nil && len(peer.fields()) == 0 {
			c.add(peer, "", "ipBlock, podSelector or namespaceSelector", "")
		}
		return
	}
	if !peer.at("podSelector").absent() || !peer.at("namespaceSelector").absent() {
		c.add(peer, "ipBlock and a selector", "one of them", "use two peers")
	}
	outer, ok := c.block(block.at("cidr"))
	for _, except := range block.at("except").list() {
		inner, valid := c.block(except)
		if ok && valid && (!outer.Contains(inner.Addr()) || inner.Bits() <= outer.Bits()) {
			c.add(except, "", "a part of "+outer.String(), "")
		}
	}
}

func (c *checker) policyPort(port node) {
	first, named := port.at("port"), false
	if first.text() != "" {
		c.form(first, validation.IsValidPortName(first.text()))
		named = true
	}
	c.portNumber(first)
	last := port.at("endPort")
	if last.absent() {
		return
	}
	c.portNumber(last)
	low, ok1 := first.number()
	high, ok2 := last.number()
	switch {
	case first.absent() || named:
		c.add(last, "", "nothing, because port is no number", "")
	case ok1 && ok2 && high < low:
		c.add(last, "", fmt.Sprintf("at least port, %.0f", low), "")
	}
}

// disruptionBudget says one of two things.
func (c *checker) disruptionBudget() {
	spec := c.object.at("spec")
	least, most := spec.at("minAvailable"), spec.at("maxUnavailable")
	if least.known() && most.known() {
		c.add(most, "", "nothing, because minAvailable is set", "keep one of the two")
	}
	if spec.fields() != nil && least.absent() && most.absent() {
		c.add(least, "", "minAvailable or maxUnavailable: without one the budget allows nothing and says nothing", "")
	}
}

func (c *checker) autoscaler() {
	low, ok1 := c.object.get("spec.minReplicas").number()
	high, ok2 := c.object.get("spec.maxReplicas").number()
	if ok2 && high < 1 {
		c.add(c.object.get("spec.maxReplicas"), "", "at least 1", "")
	}
	if ok1 && ok2 && high < low {
		c.add(c.object.get("spec.maxReplicas"), "", fmt.Sprintf("at least minReplicas, %.0f", low), "")
	}
}

// role: a rule names verbs and what they apply to.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/
func (c *checker) role() {
	for _, rule := range c.object.at("rules").list() {
		if verbs := rule.at("verbs"); len(verbs.list()) == 0 && !verbs.unknown() && !verbs.absent() {
			c.add(verbs, "", "at least one verb", "")
		}
		urls, resources, groups := rule.at("nonResourceURLs"), rule.at("resources"), rule.at("apiGroups")
		switch {
		case len(urls.list()) > 0 && c.kind.Name == "Role":
			c.add(urls, "", "nothing: only a ClusterRole reaches them", "")
		case len(urls.list()) > 0 && len(resources.list()) > 0:
			c.add(urls, "", "nothing, because the rule is about resources", "use two rules")
		case len(urls.list()) == 0 && !urls.unknown() && len(groups.list()) == 0 && !groups.unknown():
			c.add(groups, "", `at least one group; "" is the core group`, "")
		case len(urls.list()) == 0 && !urls.unknown() && len(resources.list()) == 0 && !resources.unknown():
			c.add(resources, "", "at least one resource", "")
		}
	}
}

const rbacGroup = "rbac.authorization.k8s.io"

func (c *checker) binding(roles ...string) {
	ref := c.object.at("roleRef")
	if kind := ref.at("kind"); kind.text() != "" && !slices.Contains(roles, kind.text()) {
		c.add(kind, "", oneOf(roles), "")
	}
	if group := ref.at("apiGroup"); group.text() != "" && group.text() != rbacGroup {
		c.add(group, "", rbacGroup, "")
	}
	for _, subject := range c.object.at("subjects").list() {
		kind, group, namespace := subject.at("kind"), subject.at("apiGroup"), subject.at("namespace")
		switch kind.text() {
		case "ServiceAccount":
			if namespace.absent() {
				c.add(namespace, "", "the namespace of the service account", "")
			}
			if group.text() != "" {
				c.add(group, "", "nothing, because service accounts are of the core group", "")
			}
		case "User", "Group":
			if namespace.known() {
				c.add(namespace, "", "nothing: users and groups belong to the whole cluster", "")
			}
			if group.known() && group.text() != rbacGroup {
				c.add(group, "", rbacGroup, "")
			}
		case "":
		default:
			c.add(kind, "", "ServiceAccount, User or Group", "")
		}
	}
}

// secretProvider: the provider of Azure reads its parameters as YAML in strings.
// https://azure.github.io/secrets-store-csi-driver-provider-azure/docs/getting-started/usage/
func (c *checker) secretProvider() {
	spec := c.object.at("spec")
	if spec.at("provider").text() != "azure" {
		return
	}
	for _, required := range []string{"keyvaultName", "tenantId"} {
		if n := spec.at("parameters", required); n.absent() && !spec.at("parameters").unknown() {
			c.add(n, "", "a value: Azure's provider requires it", "")
		}
	}
}

package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// KEDA's own rules, as its admission webhook has them.
// https://github.com/kedacore/keda/blob/v2.21.0/apis/keda/v1alpha1/scaledobject_webhook.go

// maxLabel is how long the value of a label may be: KEDA writes the names of
// ScaledObjects and of their autoscalers into labels.
const maxLabel = 63

// resourceTriggers ask the kubelet instead of KEDA.
var resourceTriggers = []string{"cpu", "memory"}

// uncachedTriggers refuse useCachedMetrics.
var uncachedTriggers = []string{"cpu", "memory", "cron"}

// AutoscalerOf returns the name of the autoscaler that KEDA makes for a
// ScaledObject; "" if it is not known.
func AutoscalerOf(object map[string]any) string {
	n := node{v: object}
	if name := n.get("spec.advanced.horizontalPodAutoscalerConfig.name"); !name.absent() && (name.text() != "" || name.unknown()) {
		return name.text()
	}
	if name := n.get("metadata.name").text(); name != "" {
		return "keda-hpa-" + name
	}
	return ""
}

func (c *checker) scaledObject() {
	if name := c.object.get("metadata.name"); len(name.text()) > maxLabel {
		c.add(name, fmt.Sprintf("%d characters", len(name.text())), fmt.Sprintf("at most %d, because KEDA writes it into a label", maxLabel), "")
	}
	if name := AutoscalerOf(c.object.fields()); len(name) > maxLabel {
		c.add(c.object.get("metadata.name"), fmt.Sprintf("an autoscaler's name of %d characters", len(name)), fmt.Sprintf("at most %d: KEDA writes %s into a label", maxLabel, name), "shorten the name, or set spec.advanced.horizontalPodAutoscalerConfig.name")
	}
	c.bounds()
	spec := c.object.at("spec")
	least, hasLeast := spec.at("minReplicaCount").number()
	if idle, ok := spec.at("idleReplicaCount").number(); ok && hasLeast && idle >= least {
		c.add(spec.at("idleReplicaCount"), "", fmt.Sprintf("less than minReplicaCount, %.0f", least), "")
	}
	triggers := spec.at("triggers").list()
	own := len(triggers) > 0
	for _, trigger := range triggers {
		own = own && slices.Contains(resourceTriggers, trigger.at("type").text())
	}
	if own && (!hasLeast || least == 0) && !spec.at("minReplicaCount").unknown() {
		c.add(spec.at("minReplicaCount"), "", "at least 1, because CPU and memory of no replicas say nothing", "")
	}
	if own && spec.at("fallback").known() {
		c.add(spec.at("fallback"), "a value", "nothing, because it works for triggers other than CPU and memory alone", "")
	}
	modifiers := spec.get("advanced.scalingModifiers")
	if modifiers.at("formula").text() != "" && modifiers.at("target").absent() {
		c.add(modifiers.at("target"), "", "a target, because a formula is given", "")
	}
}

func (c *checker) scaledJob() { c.bounds() }

// bounds: the least number of replicas is not above the greatest, 100 unless
// given.
func (c *checker) bounds() {
	low, high := c.object.get("spec.minReplicaCount"), c.object.get("spec.maxReplicaCount")
	if high.unknown() {
		return
	}
	most := 100.0
	if v, ok := high.number(); ok {
		most = v
	}
	if least, ok := low.number(); ok && least > most {
		c.add(low, "", fmt.Sprintf("at most maxReplicaCount, %.0f", most), "")
	}
}

func (c *checker) triggers() {
	seen := map[string]bool{}
	for _, trigger := range c.object.get("spec.triggers").list() {
		if name := trigger.at("name"); name.text() != "" {
			if seen[name.text()] {
				c.add(name, "", "a name that no other trigger has", "")
			}
			seen[name.text()] = true
		}
		kind := trigger.at("type").text()
		if trigger.at("useCachedMetrics").v == true && slices.Contains(uncachedTriggers, kind) {
			c.add(trigger.at("useCachedMetrics"), "", "false: a trigger of type "+kind+" keeps no metrics", "")
		}
		if ref := trigger.get("authenticationRef.kind"); ref.text() != "" && !slices.Contains(authentications, ref.text()) {
			c.add(ref, "", oneOf(authentications), "")
		}
		if kind == "azure-servicebus" {
			c.serviceBus(trigger)
		}
	}
}

var authentications = []string{"TriggerAuthentication", "ClusterTriggerAuthentication"}

// busFields are the metadata of an azure-servicebus trigger.
// https://keda.sh/docs/2.21/scalers/azure-service-bus/
var busFields = []string{
	"activationMessageCount", "cloud", "connection", "connectionFromEnv", "endpointSuffix", "messageCount",
	"namespace", "operation", "queueName", "subscriptionName", "topicName", "useRegex",
}

// wholeNumber is how a number is written in the metadata of a trigger.
var wholeNumber = regexp.MustCompile(`^[0-9]+$`)

// serviceBus: a queue or a subscription of a topic, by the short name of the
// namespace.
func (c *checker) serviceBus(trigger node) {
	metadata := trigger.at("metadata")
	if metadata.unknown() {
		return
	}
	for name := range metadata.fields() {
		if !slices.Contains(busFields, name) {
			c.unknownField(metadata.at(name), name, busFields)
		}
	}
	queue, topic, subscription := metadata.at("queueName"), metadata.at("topicName"), metadata.at("subscriptionName")
	switch {
	case queue.absent() && topic.absent():
		c.add(queue, "", "the name of a queue, or topicName and subscriptionName", "")
	case !queue.absent() && (!topic.absent() || !subscription.absent()):
		c.add(queue, "", "nothing, because a topic is given", "keep the queue or the topic")
	case queue.absent() && subscription.absent():
		c.add(subscription, "", "the name of a subscription of the topic", "")
	}
	if namespace := metadata.at("namespace"); strings.Contains(namespace.text(), ".") {
		short, _, _ := strings.Cut(namespace.text(), ".")
		c.add(namespace, "", "the short name of the namespace, without a suffix", "write "+short)
	}
	for _, name := range []string{"messageCount", "activationMessageCount"} {
		if n := metadata.at(name); n.text() != "" && !wholeNumber.MatchString(n.text()) {
			c.add(n, "", `a whole number in quotes, such as "5"`, "")
		}
	}
	if n := metadata.at("operation"); n.text() != "" && !slices.Contains([]string{"sum", "max", "avg"}, n.text()) {
		c.add(n, "", "one of sum, max, avg", "")
	}
}

// triggerAuthentication: an identity is left out or given, never empty.
// https://github.com/kedacore/keda/blob/v2.21.0/apis/keda/v1alpha1/triggerauthentication_webhook.go
func (c *checker) triggerAuthentication() {
	pod := c.object.get("spec.podIdentity")
	if pod.at("provider").text() != "azure-workload" {
		return
	}
	for _, name := range []string{"identityId", "identityTenantId"} {
		if n := pod.at(name); n.known() && n.text() == "" {
			c.add(n, "", "an id, because an empty one is refused", "leave it out to use KEDA's own")
		}
	}
	if pod.at("identityAuthorityHost").text() != "" && pod.at("identityTenantId").absent() {
		c.add(pod.at("identityTenantId"), "", "a tenant, because an authority host is given", "")
	}
}

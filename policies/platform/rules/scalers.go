package rules

import (
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
	"onedoor/policies/internal/kube"
)

// Tokens of Kubernetes, without versions.
const (
	triggerAuth   = "kubernetes:keda.sh:TriggerAuthentication"
	clusterAuth   = "kubernetes:keda.sh:ClusterTriggerAuthentication"
	podAutoscaler = "kubernetes:autoscaling:HorizontalPodAutoscaler"
	apiService    = "kubernetes:apiregistration.k8s.io:APIService"
	apiServiceOld = "kubernetes:apiregistration:APIService"
)

const kedaDocs = "https://keda.sh/docs/latest/concepts/scaling-deployments/"

// scalers are the rules of KEDA.
func scalers() []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "CAP-02", Severity: policypack.High,
			Title:     "A scaled workload has one scaler and no replicas of its own",
			Rationale: "Two scalers fight over one number, and a fixed number undoes the scaler at every update.",
			Remedy:    "Remove the other scaler; leave spec.replicas of the workload out.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{kedaDocs},
			Types:     []string{kube.ScaledObject},
			Stack:     oneScaler,
		},
		{
			ID: "CAP-03", Severity: policypack.High,
			Title:     "The cluster has one KEDA and one server of external metrics",
			Rationale: "Kubernetes has one place for external metrics: a second server takes it away, and nothing scales.",
			Remedy:    "Remove the second installation; AKS's add-on is the one.",
			Controls:  []string{"MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/keda-about"},
			Types:     []string{helmRelease, apiService, apiServiceOld},
			Stack:     oneKEDA,
		},
		{
			ID: "CAP-08", Severity: policypack.High,
			Title:     "Scalers read queues with workload identity",
			Rationale: "A connection string in the cluster is a key to every message.",
			Remedy:    `Give the trigger an authenticationRef with podIdentity.provider "azure-workload", and remove connection from its metadata.`,
			Controls:  []string{"MCSB IM-3", "MCSB IM-8"},
			Sources:   []string{"https://keda.sh/docs/latest/authentication-providers/azure-ad-workload-identity/"},
			Types:     []string{kube.ScaledObject, triggerAuth, clusterAuth, kube.ScaledJob},
			Stack:     workloadIdentity,
		},
	}
}

// target is what a scaler scales, as "namespace/kind/name"; ok is false when it is
// not known.
func target(r *policypack.Resource) (id string, ok bool) {
	name, state := r.Get("spec", "scaleTargetRef", "name").Text()
	kind, kindState := r.Get("spec", "scaleTargetRef", "kind").Text()
	space, spaceState := kube.NamespaceOf(r)
	if kindState == propvalue.Absent {
		kind = "Deployment"
	}
	return space + "/" + strings.ToLower(kind) + "/" + name, state == propvalue.Known && !unsure(kindState) && !unsure(spaceState)
}

func oneScaler(st *policypack.Stack, c *policypack.Case) {
	own, known := target(c.Resource)
	if !known {
		c.Undecided(c.Get("spec", "scaleTargetRef", "name"), "a target that is known")
		return
	}
	for _, other := range st.Of(kube.ScaledObject, podAutoscaler) {
		if other == c.Resource {
			continue
		}
		switch its, known := target(other); {
		case !known:
			c.Undecidedf("spec.scaleTargetRef", "a workload that nothing else scales", "what %s scales is not known", other.Name)
		case its == own:
			c.Fail(c.Get("spec", "scaleTargetRef", "name"), "a workload that nothing else scales; "+other.Name+" does")
		}
	}
	for _, workload := range st.Of(kube.Deployment, "kubernetes:apps:StatefulSet") {
		name, state := workload.Get("metadata", "name").Text()
		space, _ := kube.NamespaceOf(workload)
		kind := workload.Type[strings.LastIndex(workload.Type, ":")+1:]
		if state == propvalue.Known && space+"/"+strings.ToLower(kind)+"/"+name == own && workload.Inputs.At("spec", "replicas").State() != propvalue.Absent {
			c.Failf("spec.replicas of "+workload.Name, workload.Inputs.At("spec", "replicas").Shown(), "nothing: the scaler sets it")
		}
	}
}

// metricServers are charts that register the external metrics API.
var metricServers = []string{"keda", "prometheus-adapter", "azure-k8s-metrics-adapter", "datadog"}

// externalMetrics is the end of the API's name.
const externalMetrics = ".external.metrics.k8s.io"

func oneKEDA(st *policypack.Stack, c *policypack.Case) {
	if serves, known := servesMetrics(c.Resource); !known {
		c.Undecidedf("chart", "a chart and a name that are known", "what is installed is not known")
		return
	} else if !serves {
		c.NotApplicable("it does not serve external metrics")
		return
	}
	if addOn(st) {
		c.Failf("chart", "a server of external metrics beside AKS's KEDA", "the add-on alone")
		return
	}
	for _, other := range st.Of(helmRelease, apiService, apiServiceOld) {
		if serves, _ := servesMetrics(other); serves && other != c.Resource {
			c.Failf("chart", "a second server of external metrics beside "+other.Name, "one")
			return
		}
	}
}

// servesMetrics tells whether a resource brings a server of external metrics.
func servesMetrics(r *policypack.Resource) (serves, known bool) {
	if r.Type != helmRelease {
		name, state := r.Get("metadata", "name").Text()
		return strings.HasSuffix(name, externalMetrics), state == propvalue.Known
	}
	chart, state := r.Get("chart").Text()
	name := strings.ToLower(chart[strings.LastIndex(chart, "/")+1:])
	for _, server := range metricServers {
		serves = serves || name == server
	}
	return serves, state == propvalue.Known
}

// addOn tells whether the stack switches KEDA on in a cluster.
func addOn(st *policypack.Stack) bool {
	for _, r := range st.Of(azure.Cluster) {
		if on, _ := r.Get("workloadAutoScalerProfile", "keda", "enabled").Bool(); on {
			return true
		}
	}
	for _, r := range st.Of(azure.Patch) {
		if on, _ := r.Get(kedaPath...).Bool(); on {
			return true
		}
	}
	return false
}

func workloadIdentity(st *policypack.Stack, c *policypack.Case) {
	if c.Type == triggerAuth || c.Type == clusterAuth {
		c.Must(c.Get("spec", "podIdentity", "provider"), "azure-workload")
		for _, key := range []string{"secretTargetRef", "env", "azureServicePrincipal"} {
			if c.Get("spec", key).State() != propvalue.Absent {
				c.Failf("spec."+key, "set", "nothing: an identity needs no secret")
			}
		}
		return
	}
	list := c.Get("spec", "triggers")
	triggers, state := list.Items()
	if state != propvalue.Known {
		c.Undecided(list, "triggers that are known")
		return
	}
	azureTriggers := 0
	for _, trigger := range triggers {
		kind, state := trigger.At("type").Text()
		if unsure(state) {
			c.Undecided(trigger.At("type"), "a type that is known")
			continue
		}
		if !strings.HasPrefix(kind, "azure-") {
			continue
		}
		azureTriggers++
		if unsure(trigger.At("metadata").Object()) {
			c.Undecided(trigger.At("metadata"), "settings that are known")
		}
		for key := range trigger.At("metadata").Members() {
			if strings.HasPrefix(strings.ToLower(key), "connection") {
				c.Failf(trigger.At("metadata").Path(), key, "no connection string")
			}
		}
		c.MustBeSet(trigger.At("authenticationRef", "name"), "a TriggerAuthentication with workload identity")
	}
	if azureTriggers == 0 {
		c.NotApplicable("no trigger reads from Azure")
	}
}

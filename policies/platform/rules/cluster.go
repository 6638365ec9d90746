package rules

import (
	"slices"
	"strings"

	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// cluster are the rules of AKS clusters.
func cluster(s *settings) []policypack.Rule {
	return []policypack.Rule{
		{
			ID: "AKS-01", Severity: policypack.Critical,
			Title:     "People log in to the cluster with Entra, and Azure roles decide",
			Rationale: "The local administrator's certificate passes Entra and the audit, and cannot be revoked.",
			Remedy:    "Set disableLocalAccounts, aadProfile.managed and aadProfile.enableAzureRBAC to true.",
			Controls:  []string{"MCSB IM-1", "MCSB PA-7", "CIS AKS 5.5.1", "CIS AKS 5.5.2", "Azure Policy 993c2fcd-2b29-49d2-9eb0-df2c3a730c32", "Azure Policy 450d2877-ebea-41e8-b00c-e286317d21bf", "Azure Policy ac4a19c2-fa67-49b4-8ae5-0b2e78c49457", "Checkov CKV_AZURE_141"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/manage-local-accounts-managed-azure-ad"},
			Types:     []string{azure.Cluster},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("disableLocalAccounts"), true)
				c.Must(c.At("aadProfile.managed"), true)
				c.Must(c.At("aadProfile.enableAzureRBAC"), true)
			},
		},
		{
			ID: "AKS-02", Severity: policypack.High,
			Title:     "The API server is private, and no commands run through Azure",
			Rationale: "A server on the internet is one flaw away from the cluster; run command is a shell that no network rule sees.",
			Remedy:    "Set apiServerAccessProfile.enablePrivateCluster and disableRunCommand to true; a public cluster names authorizedIPRanges.",
			Controls:  []string{"MCSB NS-2", "CIS AKS 5.4.1", "CIS AKS 5.4.2", "Azure Policy 040732e8-d947-40b8-95d6-854c95024bf8", "Azure Policy 89f2d532-c53c-4f8f-9afa-4927b1114a0d", "Checkov CKV_AZURE_115"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/private-clusters"},
			Types:     []string{azure.Cluster},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("apiServerAccessProfile.disableRunCommand"), true)
				private, state := c.At("apiServerAccessProfile.enablePrivateCluster").Bool()
				ranges, _ := c.At("apiServerAccessProfile.authorizedIPRanges").Items()
				local, known := c.At("disableLocalAccounts").Bool()
				entra, _ := c.At("aadProfile.managed").Bool()
				if state != propvalue.Unknown && !private && s.excused(c, known == propvalue.Known && local && entra, named(ranges)) {
					return
				}
				c.Must(c.At("apiServerAccessProfile.enablePrivateCluster"), true)
			},
		},
		{
			ID: "AKS-03", Severity: policypack.High,
			Title:     "The cluster issues identities to its workloads",
			Rationale: "Without an issuer and workload identity pods need secrets.",
			Remedy:    "Set oidcIssuerProfile.enabled and securityProfile.workloadIdentity.enabled to true.",
			Controls:  []string{"MCSB IM-3", "Azure Policy 2cc2e023-0dac-4046-875b-178f683929d5"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/workload-identity-overview"},
			Types:     []string{azure.Cluster},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("oidcIssuerProfile.enabled"), true)
				c.Must(c.At("securityProfile.workloadIdentity.enabled"), true)
			},
		},
		{
			ID: "AKS-04", Severity: policypack.High,
			Title:     "KEDA is switched on after workload identity",
			Rationale: "KEDA's operator that starts before the identity webhook never gets a token, until somebody restarts it.",
			Remedy:    "Leave workloadAutoScalerProfile out of the cluster, and switch KEDA on with a Patch that depends on it and has both profiles as preconditions.",
			Controls:  []string{"MCSB IM-3", "MCSB PV-2"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/keda-about"},
			Types:     []string{azure.Cluster, azure.Patch},
			Stack:     afterIdentity,
		},
		{
			ID: "AKS-05", Severity: policypack.High,
			Title:     "The cluster enforces network policies",
			Rationale: "In a flat network any pod reaches the serving edge and the control plane.",
			Remedy:    `Set networkProfile.networkPlugin "azure" and networkPolicy "cilium".`,
			Controls:  []string{"MCSB NS-1", "CIS AKS 5.4.4", "Azure Policy 46238e2f-3f6f-4589-9f3f-77bed4116e67", "Checkov CKV_AZURE_7"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/use-network-policies"},
			Types:     []string{azure.Cluster},
			Resource: func(c *policypack.Case) {
				c.Must(c.At("networkProfile.networkPlugin"), "azure")
				c.Must(c.At("networkProfile.networkPolicy"), "cilium", "azure", "calico")
			},
		},
		{
			ID: "AKS-06", Severity: policypack.High,
			Title:     "The cluster is watched: Azure Policy, Defender and its audit log",
			Rationale: "Without them there is no evidence of what happens inside the cluster.",
			Remedy:    "Enable addonProfiles.azurepolicy and securityProfile.defender, and send the kube-audit logs to a workspace.",
			Controls:  []string{"MCSB PV-2", "MCSB LT-1", "MCSB LT-3", "CIS AKS 2.1.1", "Azure Policy 0a15ec92-a229-4763-bb14-0ea34a568f8d", "Azure Policy a1840de2-8088-4ea8-b153-b4c723e9cb01", "Azure Policy 245fc9df-fa96-4414-9a0b-3738c2f7341c", "Checkov CKV_AZURE_116", "Checkov CKV_AZURE_4"},
			Sources:   []string{"https://learn.microsoft.com/azure/aks/monitor-aks"},
			Types:     []string{azure.Cluster},
			Stack: func(st *policypack.Stack, c *policypack.Case) {
				c.Must(c.At("addonProfiles.azurepolicy.enabled"), true)
				c.Must(c.At("securityProfile.defender.securityMonitoring.enabled"), true)
				logged(st, c, "audit", "kube-audit", "kube-audit-admin")
			},
		},
	}
}

// named tells whether ranges are named, and not all addresses. One that is not known
// yet may be the address of the cluster's own nodes; it is judged when it is.
func named(ranges []propvalue.Value) bool {
	known := 0
	for _, r := range ranges {
		switch text, state := r.Text(); {
		case state == propvalue.Unknown:
		case state != propvalue.Known || strings.HasSuffix(text, "/0"):
			return false
		default:
			known++
		}
	}
	return known > 0
}

// kedaPath is where the cluster's profile of KEDA stands in a body.
var kedaPath = []string{"properties", "properties", "workloadAutoScalerProfile", "keda", "enabled"}

// patchedOn tells whether a patch of the stack switches KEDA on in the cluster; the
// patch is judged by itself.
func patchedOn(st *policypack.Stack, cluster *policypack.Resource) bool {
	return slices.ContainsFunc(st.Of(azure.Patch), func(patch *policypack.Resource) bool {
		on, _ := patch.Get(kedaPath...).Bool()
		return on && azure.Find(st, patch, "resourceId", patch.Get("resourceId"), azure.Cluster) == cluster
	})
}

// afterIdentity judges both ways to switch KEDA on.
func afterIdentity(st *policypack.Stack, c *policypack.Case) {
	if c.Type == azure.Cluster {
		keda := c.At("workloadAutoScalerProfile.keda.enabled")
		on, state := keda.Bool()
		switch {
		case unsure(state):
			c.Undecided(keda, "absent")
		case on && !patchedOn(st, c.Resource): // after an update the cluster shows what a patch has made
			c.Fail(keda, "absent: the order of one request is not defined")
		}
		return
	}
	keda := c.Get(kedaPath...)
	on, state := keda.Bool()
	switch {
	case unsure(state):
		c.Undecided(keda, "known")
		return
	case !on:
		c.NotApplicable("the patch does not switch KEDA on")
		return
	}
	c.Must(c.Get("preconditions", "/properties/oidcIssuerProfile/enabled"), true)
	c.Must(c.Get("preconditions", "/properties/securityProfile/workloadIdentity/enabled"), true)
	made := azure.Find(st, c.Resource, "resourceId", c.Get("resourceId"), azure.Cluster)
	switch {
	case made == nil && len(st.Of(azure.Cluster)) > 0:
		c.Undecidedf("resourceId", "a cluster of the stack", "the patched resource is %s", c.Get("resourceId").Shown())
	case made != nil && !st.Follows(c.Resource, made):
		c.Failf("resourceId", "a cluster that the patch does not depend on", "an id made from the cluster's outputs, or dependsOn")
	}
}

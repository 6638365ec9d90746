package aks

// Force says who insists that a property does not change in place.
type Force string

// The forces.
const (
	// ByProvider: azure-native 2.92.3 plans a replacement by itself.
	// https://github.com/pulumi/pulumi-azure-native, provider/pkg/gen/replacement.go
	ByProvider Force = "provider"
	// ByService: AKS answers an update with 400 PropertyChangeNotAllowed, and
	// the provider does not know, so the program must ask for the replacement.
	ByService Force = "service"
	// OneWay: AKS takes some changes and refuses others, so asking for a
	// replacement would be wrong: see Why.
	OneWay Force = "one-way"
)

// Immutable is a property that does not change in place.
type Immutable struct {
	Property string // Pulumi's path
	Force    Force
	Why      string // "" when there is no more to say
}

// PoolImmutables are the properties of AgentPool (containerservice/v20250101)
// that do not change in place, from
// https://github.com/hashicorp/terraform-provider-azurerm, kubernetes_cluster_node_pool_resource.go
// (force-new and rotated properties, 2026-08), which is on the careful side:
// AKS may take a change of enableFIPS by now. What is not here can be updated:
// count, minCount, maxCount, enableAutoScaling, mode, nodeLabels, nodeTaints,
// tags, scaleDownMode, upgradeSettings, orchestratorVersion, powerState.
var PoolImmutables = []Immutable{
	{"agentPoolName", ByProvider, "it is part of the id"},
	{"resourceGroupName", ByProvider, "it is part of the id"},
	{"resourceName", ByProvider, "the cluster's name is part of the id"},
	{"gpuInstanceProfile", ByProvider, ""},
	{"vmSize", ByProvider, "resizing in place is preview, from API 2026-01-02-preview"},

	{"availabilityZones", ByService, ""},
	{"capacityReservationGroupID", ByService, ""},
	{"enableEncryptionAtHost", ByService, ""},
	{"enableFIPS", ByService, ""},
	{"enableNodePublicIP", ByService, ""},
	{"enableUltraSSD", ByService, ""},
	{"gpuProfile", ByService, "drivers are part of how a node is made"},
	{"hostGroupID", ByService, ""},
	{"kubeletConfig", ByService, ""},
	{"kubeletDiskType", ByService, ""},
	{"linuxOSConfig", ByService, ""},
	{"maxPods", ByService, "https://learn.microsoft.com/azure/aks/create-node-pools#limitations"},
	{"nodePublicIPPrefixID", ByService, ""},
	{"osDiskSizeGB", ByService, ""},
	{"osDiskType", ByService, ""},
	{"osType", ByService, ""},
	{"podSubnetID", ByService, ""},
	{"proximityPlacementGroupID", ByService, ""},
	{"scaleSetEvictionPolicy", ByService, "https://learn.microsoft.com/azure/aks/spot-node-pool"},
	{"scaleSetPriority", ByService, "https://learn.microsoft.com/azure/aks/spot-node-pool"},
	{"spotMaxPrice", ByService, "https://learn.microsoft.com/azure/aks/spot-node-pool#limitations"},
	{"type", ByService, ""},
	{"vnetSubnetID", ByService, ""},

	{"osSKU", OneWay, "between Ubuntu and AzureLinux only"},
}

// ClusterImmutables are the properties of ManagedCluster
// (containerservice/v20250101) that do not change in place, from the sources of
// PoolImmutables (kubernetes_cluster_resource.go). A replaced cluster takes
// everything on it along: protect it, so that the plan fails.
var ClusterImmutables = []Immutable{
	{"resourceGroupName", ByProvider, "it is part of the id"},
	{"resourceName", ByProvider, "it is part of the id"},
	{"diskEncryptionSetID", ByProvider, ""},
	{"dnsPrefix", ByProvider, ""},
	{"fqdnSubdomain", ByProvider, ""},
	{"linuxProfile", ByProvider, ""},
	{"location", ByProvider, ""},
	{"networkProfile", ByProvider, "all of it, also what AKS could change; narrowed after 2.92.3: https://github.com/pulumi/pulumi-azure-native/issues/4756"},
	{"nodeResourceGroup", ByProvider, ""},
	{"windowsProfile", ByProvider, ""},

	{"apiServerAccessProfile.enablePrivateCluster", ByService, ""},
	{"apiServerAccessProfile.privateDNSZone", ByService, "but for a change to none: https://learn.microsoft.com/azure/aks/private-clusters"},
	{"enableRBAC", ByService, ""},
	{"identityProfile", ByService, "the identity of kubelets"},

	{"identity", OneWay, "a managed identity never becomes a service principal again; a system-assigned one may become user-assigned"},
	{"oidcIssuerProfile.enabled", OneWay, "on for good: https://learn.microsoft.com/azure/aks/use-oidc-issuer"},
}

// ReplaceOnChanges are the properties of immutables for which a program must ask
// for a replacement, because the provider would try an update that AKS refuses:
// what pulumi.ReplaceOnChanges takes.
func ReplaceOnChanges(immutables []Immutable) []string {
	var paths []string
	for _, i := range immutables {
		if i.Force == ByService {
			paths = append(paths, i.Property)
		}
	}
	return paths
}

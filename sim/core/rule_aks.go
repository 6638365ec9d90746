package core

import (
	"strings"
	"time"

	"onedoor/internal/az/aks"
)

const (
	clusterType = "microsoft.containerservice/managedclusters"
	poolType    = "microsoft.containerservice/managedclusters/agentpools"
)

// aksTypes are the rows of AKS. A cluster and all its pools take one write at a
// time (A400), and a cluster that has not settled takes no pool (A401).
var aksTypes = map[string]*behaviour{
	clusterType: {
		location: regional, create: 5 * time.Minute, update: 3 * time.Minute, remove: 4 * time.Minute,
		busy: OperationNotAllowed, unready: OperationNotAllowed,
		check:    []rule{clusterReferences, clusterFixed, clusterProfiles, clusterUpgrade, clusterLegal, clusterRoles},
		complete: completeCluster, after: clusterWritten, view: viewCluster,
	},
	poolType: {
		create: 3 * time.Minute, update: 2 * time.Minute, remove: 2 * time.Minute, lock: ParentOf, busy: OperationNotAllowed,
		check:    []rule{poolReferences, poolFixed, poolUpgrade, poolLegal, poolRoles},
		complete: completePool, inUse: lastSystemPool, view: viewPool,
	},
	maintenanceType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{maintenanceName, maintenanceWindow}, plain: true,
	},
}

// completeCluster adds what AKS answers with: what it makes, and its defaults
// (A406). What cannot change stays when a write leaves it out (A413).
func completeCluster(s State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	keepOmitted(r, old, clusterKept...)
	// An empty profile is what AKS shows when nothing is set, so it says nothing either.
	if profile := r.props("workloadAutoScalerProfile"); old != nil && !s.ResetOmittedProfiles && (profile.absent() || isEmpty(profile)) {
		props["workloadAutoScalerProfile"] = copyValue(old.props("workloadAutoScalerProfile").v) // A405
	}
	for _, path := range []string{"workloadAutoScalerProfile", "securityProfile"} {
		setDefault(props, path, map[string]any{})
	}
	setDefault(r.Body, "sku", map[string]any{"name": "Base", "tier": "Free"})
	setDefault(props, "enableRBAC", true)
	setDefault(props, "disableLocalAccounts", false)
	setDefault(props, "supportPlan", "KubernetesOfficial")
	setDefault(props, "metricsProfile", map[string]any{"costAnalysis": map[string]any{"enabled": false}})
	setDefault(props, "bootstrapProfile", map[string]any{"artifactSource": "Direct"})
	setDefault(props, "servicePrincipalProfile", map[string]any{"clientId": "msi"})
	setDefault(object(props, "autoUpgradeProfile"), "nodeOSUpgradeChannel", "NodeImage")
	for _, driver := range []string{"diskCSIDriver", "fileCSIDriver", "snapshotController"} {
		setDefault(object(props, "storageProfile"), driver, map[string]any{"enabled": true})
	}
	props["maxAgentPools"], props["powerState"] = 100.0, map[string]any{"code": "Running"}
	completeVersion(r, old)
	completeIssuer(r)
	completeClusterNetwork(r)
	completeAddresses(r)
	completeIdentities(s, r)
	// Unique for each incarnation of the id (A409).
	props["resourceUID"] = strings.ReplaceAll(GUID(r, "uid"), "-", "")[:24]
	delete(r.Body, "eTag")
}

// isEmpty says that v is an object without members.
func isEmpty(v value) bool {
	m, ok := v.v.(map[string]any)
	return ok && len(m) == 0
}

// completeIssuer adds the address of the issuer, which is on by default from
// Kubernetes 1.34 on.
// https://learn.microsoft.com/azure/aks/use-oidc-issuer
func completeIssuer(r *Resource) {
	props := object(r.Body, "properties")
	oidc := object(props, "oidcIssuerProfile")
	if oidc == nil {
		return
	}
	current, err := aks.ParseVersion(r.props("currentKubernetesVersion").text())
	setDefault(oidc, "enabled", err == nil && current.AtLeast(1, 34))
	if oidc["enabled"] == true {
		oidc["issuerURL"] = "https://" + root(r.Body).get("location").text() + ".oic.prod-aks.azure.com/" + tenant + "/" + GUID(r, "issuer") + "/"
	}
}

func completeClusterNetwork(r *Resource) {
	network := object(object(r.Body, "properties"), "networkProfile")
	if network == nil {
		return
	}
	setDefault(network, "networkPlugin", "kubenet")
	setDefault(network, "networkPolicy", "none")
	setDefault(network, "loadBalancerSku", "standard")
	setDefault(network, "outboundType", "loadBalancer")
	setDefault(network, "serviceCidr", aks.DefaultServiceCIDR.String())
	setDefault(network, "dnsServiceIP", aks.DefaultDNSServiceIP.String())
	setDefault(network, "serviceCidrs", []any{network["serviceCidr"]})
	setDefault(network, "ipFamilies", []any{"IPv4"})
	if network["networkPlugin"] == "azure" {
		setDefault(network, "networkDataplane", "azure")
	}
	if network["networkPlugin"] == "kubenet" || network["networkPluginMode"] == "overlay" {
		setDefault(network, "podCidr", aks.DefaultPodCIDR.String())
		setDefault(network, "podCidrs", []any{network["podCidr"]})
	}
	if network["outboundType"] == "loadBalancer" {
		balancer := object(network, "loadBalancerProfile")
		setDefault(balancer, "backendPoolType", "NodeIPConfiguration")
		setDefault(balancer, "managedOutboundIPs", map[string]any{"count": 1.0})
	}
}

// completeAddresses adds the names of the API server (A101): of a private
// cluster one in its private zone, and a public one only if it has one.
// https://learn.microsoft.com/azure/aks/private-clusters
func completeAddresses(r *Resource) {
	props := object(r.Body, "properties")
	region := root(r.Body).get("location").text()
	prefix := r.props("dnsPrefix").text() + "-" + GUID(r, "dns")[:8]
	if sub := r.props("fqdnSubdomain").text(); sub != "" {
		prefix = sub
	}
	access := r.props("apiServerAccessProfile")
	delete(props, "privateFQDN")
	delete(props, "fqdn")
	if access.get("enablePrivateCluster").flag() {
		zone := GUID(r, "zone") + ".privatelink." + region + ".azmk8s.io"
		if own := access.get("privateDNSZone").text(); isType(TypeOf(own), zoneType) {
			zone = Name(own)
		}
		props["privateFQDN"] = prefix + "." + zone
	}
	if public := access.get("enablePrivateClusterPublicFQDN"); !access.get("enablePrivateCluster").flag() || public.absent() || public.flag() {
		props["fqdn"] = prefix + ".hcp." + region + ".azmk8s.io"
	}
}

// completeIdentities adds the identity of the nodes and of each add-on (A100),
// which AKS makes in the node resource group unless one is given.
func completeIdentities(s State, r *Resource) {
	props := object(r.Body, "properties")
	group := Name(GroupOf(r.ID))
	setDefault(props, "nodeResourceGroup", "MC_"+group+"_"+Name(r.ID)+"_"+root(r.Body).get("location").text())
	made := func(name string) map[string]any {
		return map[string]any{
			"resourceId": "/subscriptions/" + SubscriptionOf(r.ID) + "/resourceGroups/" + r.props("nodeResourceGroup").text() + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name,
			"clientId":   GUID(r, name+"-client"), "objectId": GUID(r, name+"-object"),
		}
	}
	setDefault(props, "identityProfile", map[string]any{"kubeletidentity": made(Name(r.ID) + "-agentpool")})
	if kubelet, ok := r.props("identityProfile.kubeletidentity").v.(map[string]any); ok {
		if identity, ok := s.Find(value{kubelet["resourceId"]}.text()); ok {
			kubelet["clientId"], kubelet["objectId"] = GUID(identity, "clientId"), GUID(identity, "principalId")
		}
	}
	addons, _ := props["addonProfiles"].(map[string]any)
	for name, addon := range addons {
		if addon, ok := addon.(map[string]any); ok && addon["enabled"] == true {
			addon["identity"] = made(strings.ToLower(name) + "-" + Name(r.ID))
		}
	}
}

// viewCluster shows the pools, those of their own resources too, in an order that
// is not that of the request (A407, A041), and the etag (A404).
func viewCluster(s State, r *Resource, body map[string]any) {
	body["eTag"] = r.Etag
	props := object(body, "properties")
	if props == nil {
		return
	}
	profiles := []any{}
	for _, pool := range s.poolsOf(r.ID) {
		profile := object(s.Show(pool), "properties")
		if profile == nil {
			continue
		}
		profile["name"] = Name(pool.ID)
		profiles = append(profiles, profile)
	}
	props["agentPoolProfiles"] = profiles
}

// backgroundEvent is when AKS begins to write to a new cluster by itself.
const backgroundEvent = "aksBackground"

// backgroundTime is how long that takes (A402).
const backgroundTime = 2 * time.Minute

// writeInBackground starts the write that AKS does by itself after a cluster was
// made: it shows in no state, and refuses others all the same (A402).
func (s *State) writeInBackground(id string) {
	if cluster, ok := s.Find(id); ok && cluster.Provisioning == Succeeded {
		s.start(Op{Method: Put}, cluster.ID, Key(cluster.ID), s.Now+backgroundTime)
	}
}

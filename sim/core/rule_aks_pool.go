package core

import (
	"slices"

	"onedoor/internal/az/aks"
)

func viewPool(_ State, r *Resource, body map[string]any) {
	if props := object(body, "properties"); props != nil {
		props["eTag"] = r.Etag
	}
}

// poolsOf returns the pools of a cluster, sorted by id.
func (s State) poolsOf(cluster string) []*Resource {
	return slices.DeleteFunc(s.under(cluster), func(r *Resource) bool { return !isType(r.Type, poolType) })
}

// clusterWritten turns the profiles in a cluster's body into pools, each of which
// is a resource as any other. A pool that is not listed stays (A408). A new
// cluster may get a write by AKS itself (A402).
func clusterWritten(s *State, r, old *Resource) {
	if old == nil && s.BackgroundWrites && r.Provisioning == Creating {
		s.Events = append(s.Events, Event{At: s.Now + behaviourOf(clusterType).create, Kind: backgroundEvent, ID: r.ID})
	}
	written := s.profiles(r, old)
	delete(object(r.Body, "properties"), "agentPoolProfiles")
	for _, pool := range written {
		s.Births[Key(pool.ID)] = pool.Born
		s.Resources[Key(pool.ID)] = pool
	}
}

// profiles returns the pools that the profiles in the body of r make of those
// that there are.
func (s State) profiles(r, old *Resource) []*Resource {
	upgraded := old != nil && old.props("currentKubernetesVersion").text() != r.props("currentKubernetesVersion").text()
	var out []*Resource
	for _, profile := range r.props("agentPoolProfiles").list() {
		name := profile.get("name").text()
		props, ok := profile.v.(map[string]any)
		if !ok || name == "" {
			continue
		}
		props = copyBody(props)
		delete(props, "name")
		pool := &Resource{
			ID: r.ID + "/agentPools/" + name, Type: "Microsoft.ContainerService/managedClusters/agentPools", APIVersion: r.APIVersion,
			Body: map[string]any{"properties": props}, Generation: 1, Provisioning: Succeeded, ByAzure: true,
		}
		was, exists := s.Find(pool.ID)
		if exists {
			pool.ID, pool.Born, pool.Generation, pool.ByAzure = was.ID, was.Born, was.Generation+1, was.ByAzure
		} else {
			pool.Born = s.Births[Key(pool.ID)] + 1
		}
		if upgraded && profile.get("orchestratorVersion").absent() {
			// A pool that a write lists without a version follows the control plane (A434).
			props["orchestratorVersion"] = r.props("kubernetesVersion").v
		}
		completePoolOf(r, pool, was)
		pool.Etag = etag(pool)
		out = append(out, pool)
	}
	return out
}

func completePool(s State, r, old *Resource) {
	cluster, _ := s.Find(ParentOf(r.ID))
	completePoolOf(cluster, r, old)
}

// completePoolOf adds the defaults of AKS to a pool of cluster, which is nil if
// it is somebody else's.
func completePoolOf(cluster, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	keepOmitted(r, old, poolKept...)
	completePoolVersion(cluster, r, old)
	defaults := map[string]any{
		"mode": "User", "type": "VirtualMachineScaleSets", "osType": "Linux", "osDiskType": "Managed", "osDiskSizeGB": 128.0, "kubeletDiskType": "OS",
		"count": 1.0, "enableAutoScaling": false, "scaleDownMode": "Delete", "enableNodePublicIP": false, "enableFIPS": false,
		"enableEncryptionAtHost": false, "enableUltraSSD": false, "powerState": map[string]any{"code": "Running"}, "maxPods": maxPods(cluster, r),
	}
	if size, known := aks.Lookup(r.props("vmSize").text()); known && size.LocalOS {
		defaults["osDiskType"] = "Ephemeral"
	}
	if r.props("osType").text() == "Windows" {
		defaults["osSKU"] = "Windows2022"
	} else {
		defaults["osSKU"] = "Ubuntu"
	}
	if r.props("enableAutoScaling").flag() && r.props("minCount").known() {
		defaults["count"] = r.props("minCount").v
	}
	if r.props("scaleSetPriority").text() == "Spot" {
		defaults["scaleSetEvictionPolicy"], defaults["spotMaxPrice"] = "Delete", -1.0
	} else {
		defaults["upgradeSettings"] = map[string]any{"maxSurge": aks.DefaultSurge}
	}
	for key, v := range defaults {
		setDefault(props, key, v)
	}
	delete(props, "eTag")
}

// maxPods is how many pods a node takes by default.
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning#maximum-pods-per-node
func maxPods(cluster, pool *Resource) float64 {
	switch {
	case cluster != nil && cluster.props("networkProfile.networkPluginMode").text() == "overlay":
		return 250
	case cluster != nil && cluster.props("networkProfile.networkPlugin").text() == "azure" && pool.props("podSubnetID").absent():
		return 30
	}
	return 110
}

// lastSystemPool: a cluster keeps one system pool, as long as it is there itself (A415).
func lastSystemPool(s State, r, with *Resource) *Error {
	if Key(with.ID) != Key(r.ID) || r.props("mode").text() != "System" {
		return nil
	}
	for _, other := range s.poolsOf(ParentOf(r.ID)) {
		if Key(other.ID) != Key(r.ID) && other.props("mode").text() == "System" && other.Provisioning != Deleting {
			return nil
		}
	}
	return refuse(OperationNotAllowed, r.ID, "deletion of "+r.ID, "the last system pool", "a cluster with at least one", "make another system pool first, or delete the cluster")
}

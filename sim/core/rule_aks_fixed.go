package core

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/az/aks"
)

// What AKS sets once, as paths in a body (A410, A412). Of the list's entries
// some are more than the service refuses: networkProfile changes in part, see
// networkFixed, windowsProfile takes new passwords, and of identityProfile the
// identity counts.
var (
	clusterFixedPaths = append(fixedPaths(aks.ClusterImmutables, "networkProfile", "windowsProfile", "identityProfile"),
		"properties.identityProfile.kubeletidentity.resourceId", "properties.networkProfile.loadBalancerSku", "properties.networkProfile.serviceCidr", "properties.networkProfile.dnsServiceIP")
	poolFixedPaths = fixedPaths(aks.PoolImmutables)
)

// clusterKept and poolKept are what a write keeps when it leaves it out (A413).
var (
	clusterKept = append(slices.Clone(clusterFixedPaths), "identity", "properties.identityProfile", "properties.kubernetesVersion", "properties.oidcIssuerProfile",
		"properties.networkProfile.networkPlugin", "properties.networkProfile.networkPluginMode", "properties.networkProfile.networkDataplane",
		"properties.networkProfile.networkPolicy", "properties.networkProfile.outboundType", "properties.networkProfile.podCidr")
	poolKept = append(slices.Clone(poolFixedPaths), "properties.orchestratorVersion", "properties.osSKU", "properties.count", "properties.mode")
)

// fixedPaths are the body paths of what cannot change at all. Parts of the id
// cannot because they are that, the location because of A009.
func fixedPaths(list []aks.Immutable, except ...string) []string {
	except = append(except, "resourceGroupName", "resourceName", "agentPoolName", "location")
	var paths []string
	for _, immutable := range list {
		if immutable.Force != aks.OneWay && !slices.Contains(except, immutable.Property) {
			paths = append(paths, "properties."+immutable.Property)
		}
	}
	return paths
}

// keepOmitted copies from old what r leaves out.
func keepOmitted(r, old *Resource, paths ...string) {
	if old == nil {
		return
	}
	for _, path := range paths {
		was := root(old.Body).get(path)
		if was.absent() || !root(r.Body).get(path).absent() {
			continue
		}
		steps := strings.Split(path, ".")
		m := r.Body
		for _, step := range steps[:len(steps)-1] {
			m = object(m, step)
		}
		setDefault(m, steps[len(steps)-1], copyValue(was.v))
	}
}

// neutral is the default that is the same as nothing, in lower case as fmt
// prints it.
var neutral = map[string]string{
	"properties.scaleSetPriority":                      "regular",
	"properties.gpuProfile":                            "map[driver:install]",
	"properties.apiServerAccessProfile.privateDNSZone": aks.ZoneSystem,
}

// canonical is a value in a form in which equal means equal to AKS: without
// regard to case, to the order of a list, or to whether a default was said.
func canonical(path string, v value) string {
	switch x := v.v.(type) {
	case nil:
		return ""
	case bool:
		if !x {
			return ""
		}
	case []any:
		texts := v.texts()
		slices.Sort(texts)
		return strings.ToLower(strings.Join(texts, ","))
	}
	if text := strings.ToLower(fmt.Sprint(v.v)); text != neutral[path] {
		return text
	}
	return ""
}

// badRequest is a refusal that AKS answers as a bad request although other
// refusals with its code are conflicts.
func badRequest(err *Error) *Error {
	err.status = http.StatusBadRequest
	return err
}

// notChangeable is AKS's refusal of a change.
func notChangeable(r *Resource, path string, was, now value, remedy string) *Error {
	show := func(v value) string {
		if v.absent() {
			return "nothing"
		}
		return fmt.Sprint(v.v)
	}
	return badRequest(refuse(PropertyChangeNotAllowed, path, path+" of "+r.ID, show(now), show(was)+", which was set when it was made", remedy))
}

// unchanged refuses a change of paths; what r leaves out stays.
func unchanged(r, old *Resource, paths []string) *Error {
	for _, path := range paths {
		was, now := root(old.Body).get(path), root(r.Body).get(path)
		if now.absent() || now.hasUnknown() || was.hasUnknown() || canonical(path, was) == canonical(path, now) {
			continue
		}
		return notChangeable(r, path, was, now, "replace the resource, or leave it as it was")
	}
	return nil
}

// oneWay are the changes that AKS takes of what it does not change otherwise, by
// path: from, to; "" is nothing (A411).
var oneWay = map[string][][2]string{
	"properties.networkProfile.networkPlugin":     {{"kubenet", "azure"}},
	"properties.networkProfile.networkPluginMode": {{"", "overlay"}},
	"properties.networkProfile.networkDataplane":  {{"azure", "cilium"}, {"", "cilium"}},
	"properties.networkProfile.networkPolicy":     {{"azure", "cilium"}, {"calico", "cilium"}, {"none", "cilium"}},
	"properties.osSKU":                            {{"ubuntu", "azurelinux"}, {"azurelinux", "ubuntu"}},
	"properties.oidcIssuerProfile.enabled":        {{"", "true"}},
	"identity.type":                               {{"systemassigned", "userassigned"}, {"none", "systemassigned"}, {"none", "userassigned"}, {"", "systemassigned"}, {"", "userassigned"}},
}

// turns refuses a change of paths that is not among oneWay.
func turns(r, old *Resource, paths ...string) *Error {
	for _, path := range paths {
		was, now := root(old.Body).get(path), root(r.Body).get(path)
		from, to := canonical(path, was), canonical(path, now)
		if now.absent() || now.unknown() || was.unknown() || from == to || slices.Contains(oneWay[path], [2]string{from, to}) {
			continue
		}
		return notChangeable(r, path, was, now, "leave it as it was; AKS changes it in one direction only, if at all")
	}
	return nil
}

// clusterFixed: what a cluster keeps for its life (A410), and what changes in one
// direction only (A411).
func clusterFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	zone := "properties.apiServerAccessProfile.privateDNSZone"
	paths := clusterFixedPaths
	if strings.EqualFold(root(r.Body).get(zone).text(), aks.ZoneNone) {
		paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return path == zone }) // always taken
	}
	if err := unchanged(r, old, paths); err != nil {
		return err
	}
	network := "properties.networkProfile."
	if err := turns(r, old, "identity.type", "properties.oidcIssuerProfile.enabled", network+"networkPlugin", network+"networkPluginMode",
		network+"networkDataplane", network+"networkPolicy"); err != nil {
		return err
	}
	was, err1 := netip.ParsePrefix(old.props("networkProfile.podCidr").text())
	now, err2 := netip.ParsePrefix(r.props("networkProfile.podCidr").text())
	if err1 == nil && err2 == nil && !covers([]netip.Prefix{now}, was) {
		return notChangeable(r, network+"podCidr", value{was.String()}, value{now.String()}, "widen it, or replace the cluster")
	}
	return nil
}

// poolFixed is the same of a pool (A412).
func poolFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	if err := unchanged(r, old, poolFixedPaths); err != nil {
		return err
	}
	return turns(r, old, "properties.osSKU")
}

// clusterProfiles: the profiles of a write are pools that exist, unless the
// cluster is new (A408); what a pool keeps, a profile keeps too (A412).
func clusterProfiles(s State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	for _, pool := range s.profiles(r, old) {
		was, exists := s.Find(pool.ID)
		if !exists {
			return refuse(BadRequest, "agentPoolProfiles", "agentPoolProfiles of "+r.ID, fmt.Sprintf("%q, a new agent pool", Name(pool.ID)),
				"pools that exist: a write to a cluster adds none", "make it as a resource of its own, or take it out of the list")
		}
		if err := poolFixed(s, pool, was); err != nil {
			return err
		}
		if err := poolUpgrade(s, pool, was); err != nil {
			return err
		}
	}
	return nil
}

package core

import (
	"fmt"
	"slices"
	"strconv"

	"onedoor/internal/az/aks"
)

// What AKS runs when nothing is said. The numbers are ours: which versions a
// region offers changes every month (A430).
const (
	defaultVersion = "1.33"
	newestPatch    = 5 // of every minor version, until UpgradePatch
)

// running is the full version for a wanted one: the wanted patch; or, for a
// minor version, a patch of it that runs already, in the order given; or its
// newest (A430). What is unknown, or no version, stays as it is.
func running(wanted value, already ...value) any {
	v, err := aks.ParseVersion(wanted.text())
	if err != nil || v.Patch >= 0 {
		return wanted.v
	}
	for _, candidate := range already {
		if runs, err := aks.ParseVersion(candidate.text()); err == nil && runs.Major == v.Major && runs.Minor == v.Minor {
			return runs.String()
		}
	}
	v.Patch = newestPatch
	return v.String()
}

func completeVersion(r, old *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "kubernetesVersion", defaultVersion)
	props["currentKubernetesVersion"] = running(r.props("kubernetesVersion"), current(old, "currentKubernetesVersion"))
}

// completePoolVersion: a pool that says nothing keeps its version, a new one
// takes that of the control plane.
func completePoolVersion(cluster, r, old *Resource) {
	props := object(r.Body, "properties")
	control := current(cluster, "currentKubernetesVersion")
	if props["orchestratorVersion"] == nil && cluster != nil {
		props["orchestratorVersion"] = cluster.props("kubernetesVersion").v
	}
	if props["orchestratorVersion"] != nil {
		props["currentOrchestratorVersion"] = running(r.props("orchestratorVersion"), current(old, "currentOrchestratorVersion"), control)
	}
}

// current is a property of r, absent if there is no r.
func current(r *Resource, property string) value {
	if r == nil {
		return value{}
	}
	return r.props(property)
}

// clusterUpgrade: versions go up, one minor version at a time (A432).
// https://learn.microsoft.com/azure/aks/upgrade-aks-cluster
func clusterUpgrade(_ State, r, old *Resource) *Error {
	return upgrade(r, "kubernetesVersion", current(old, "currentKubernetesVersion"), 1)
}

// poolUpgrade: a pool's version goes up too, at most to that of its control
// plane, see poolLegal (A432, A433).
func poolUpgrade(_ State, r, old *Resource) *Error {
	return upgrade(r, "orchestratorVersion", current(old, "currentOrchestratorVersion"), aks.MaxSkew)
}

// upgrade refuses a version that is none, an older one, and one that is more than
// most minor versions newer.
func upgrade(r *Resource, property string, was value, most int) *Error {
	v := r.props(property)
	if !v.known() {
		return nil
	}
	wanted, err := aks.ParseVersion(v.text())
	if err != nil {
		return refuse(InvalidParameter, property, property+" of "+r.ID, strconv.Quote(v.text()), "a version such as 1.33 or 1.33.2", "correct it")
	}
	if runs, err := aks.ParseVersion(was.text()); err == nil && !reachable(runs, wanted, most) {
		return badRequest(refuse(OperationNotAllowed, property, property+" of "+r.ID, fmt.Sprintf("%s, where %s runs", wanted, runs),
			fmt.Sprintf("a version that is not older and at most %d minor versions newer", most), "upgrade step by step; nothing goes back"))
	}
	return nil
}

// reachable says whether what runs may become what is wanted.
func reachable(runs, wanted aks.Version, most int) bool {
	if wanted.Major == runs.Major && wanted.Minor == runs.Minor {
		return wanted.Patch < 0 || wanted.Patch >= runs.Patch
	}
	return wanted.Major == runs.Major && wanted.Minor > runs.Minor && wanted.Minor <= runs.Minor+most
}

// upgradeChannels are those that install patches.
// https://learn.microsoft.com/azure/aks/auto-upgrade-cluster
var upgradeChannels = []string{"patch", "stable", "rapid"}

// UpgradePatch is what the automatic upgrade of a cluster does to a control plane
// and to its pools of the same minor version: they run the next patch. A version
// that was given without a patch stays as it is, one with a patch is moved, as
// AKS does (A431).
func UpgradePatch(s State, cluster string) (State, *Error) {
	r, ok := s.Find(cluster)
	if !ok {
		return s, s.missing(cluster)
	}
	channel := r.props("autoUpgradeProfile.upgradeChannel").text()
	if !slices.Contains(upgradeChannels, channel) {
		return s, refuse(OperationNotAllowed, cluster, "automatic upgrade of "+r.ID, strconv.Quote(channel), "a channel that installs patches", "set autoUpgradeProfile.upgradeChannel to patch")
	}
	runs, err := aks.ParseVersion(r.props("currentKubernetesVersion").text())
	if err != nil {
		return s, refuse(OperationNotAllowed, cluster, "automatic upgrade of "+r.ID, "no version", "one that runs", "make the cluster with one")
	}
	runs.Patch++
	next := s.clone()
	next.Seq++
	next.move(r, "kubernetesVersion", "currentKubernetesVersion", runs)
	for _, pool := range s.poolsOf(cluster) {
		next.move(pool, "orchestratorVersion", "currentOrchestratorVersion", runs)
	}
	return next, nil
}

// move stores r with another patch, if it runs that minor version.
func (s *State) move(r *Resource, wanted, runs string, to aks.Version) {
	from, err := aks.ParseVersion(r.props(runs).text())
	if err != nil || from.Major != to.Major || from.Minor != to.Minor {
		return
	}
	moved := *r
	moved.Body = copyBody(r.Body)
	moved.Generation++
	props := object(moved.Body, "properties")
	props[runs] = to.String()
	if props[wanted] == from.String() {
		props[wanted] = to.String()
	}
	moved.Etag = etag(&moved)
	s.Resources[Key(r.ID)] = &moved
}

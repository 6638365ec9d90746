package aks

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a Kubernetes version as AKS takes it: "1.33", the newest patch, or
// "1.33.2". Which KEDA comes with which minor version is deliberately not here:
// Microsoft's two lists contradict each other, so read the version label of
// KEDA's CRDs in the cluster.
// https://learn.microsoft.com/azure/aks/supported-kubernetes-versions
type Version struct {
	Major, Minor int
	Patch        int // -1 when left to AKS
}

// MaxSkew is how many minor versions a pool may be behind the control plane. The
// API's description of orchestratorVersion says two, up to the newest stable
// version; the how-to pages say three from Kubernetes 1.28 on:
// https://learn.microsoft.com/azure/aks/supported-kubernetes-versions#what-is-the-allowed-difference-in-versions-between-the-control-plane-and-node-pools
// Two is what both allow.
const MaxSkew = 2

// ParseVersion reads "1.33" or "1.33.2".
func ParseVersion(s string) (Version, error) {
	bad := fmt.Errorf("version %q: want a minor version such as 1.33, or a patch such as 1.33.2", s)
	parts := strings.Split(s, ".")
	if len(parts) != 2 && len(parts) != 3 {
		return Version{}, bad
	}
	numbers := []int{0, 0, -1}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || strconv.Itoa(n) != part || n < 0 { // no sign, no leading zero
			return Version{}, bad
		}
		numbers[i] = n
	}
	return Version{numbers[0], numbers[1], numbers[2]}, nil
}

// String is the version as AKS takes it.
func (v Version) String() string {
	if v.Patch < 0 {
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// AtLeast tells whether v is minor version major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return cmp.Or(cmp.Compare(v.Major, major), cmp.Compare(v.Minor, minor)) >= 0
}

// Runs tells whether a control plane of version v may have a pool of version
// pool: not newer than itself, and at most MaxSkew minor versions older. Patches
// are compared only where both are given.
func (v Version) Runs(pool Version) bool {
	behind := v.Minor - pool.Minor
	if v.Major != pool.Major || behind < 0 || behind > MaxSkew {
		return false
	}
	return behind > 0 || v.Patch < 0 || pool.Patch < 0 || pool.Patch <= v.Patch
}

package aks

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Cluster is an AKS cluster with all its pools. As in Pool, the zero value of a
// field is "not given".
type Cluster struct {
	Name          string
	DNSPrefix     string // either this or FQDNSubdomain
	FQDNSubdomain string // private clusters with a private DNS zone of their own
	Version       string // Kubernetes version of the control plane; "" for AKS's default

	OIDC             bool // issuer of tokens for workloads
	WorkloadIdentity bool
	KEDA             bool

	Identity         Identity // default SystemAssigned
	ManagedEntra     bool     // aadProfile.managed
	AzureRBAC        bool     // aadProfile.enableAzureRBAC
	NoLocalAccounts  bool     // disableLocalAccounts
	ArtifactSource   ArtifactSource
	API              APIServer
	Network          Network
	Pools            []Pool // the first is the inline one of the cluster, the others are resources of their own
	Federations      []Federation
	DevicePlugin     *DevicePlugin // of NVIDIA GPUs; nil where unknown, and then not checked
	RequestedDevices []string      // resource names that pods ask for, as in "nvidia.com/mig-1g.10gb"
}

// Identity is the kind of identity of the control plane.
type Identity string

// The kinds.
const (
	SystemAssigned Identity = "SystemAssigned"
	UserAssigned   Identity = "UserAssigned"
)

// ArtifactSource is where nodes pull AKS's own images from:
// bootstrapProfile.artifactSource. The default is SourceDirect.
type ArtifactSource string

// The sources.
const (
	SourceDirect ArtifactSource = "Direct"
	SourceCache  ArtifactSource = "Cache" // a registry of the cluster's own
)

// APIServer is how the API server is reached.
type APIServer struct {
	Private          bool
	PublicFQDN       bool     // of a private cluster: a public name for the private address
	PrivateDNSZone   string   // "system" (the default), "none" or the ARM id of a zone
	AuthorizedRanges []string // that may call a public API server
}

// The values of PrivateDNSZone that are no ARM id; AKS ignores case.
const (
	ZoneSystem = "system"
	ZoneNone   = "none"
)

// ownZone tells whether the private DNS zone is one that the caller made.
func (a APIServer) ownZone() bool {
	return a.PrivateDNSZone != "" && !strings.EqualFold(a.PrivateDNSZone, ZoneSystem) && !strings.EqualFold(a.PrivateDNSZone, ZoneNone)
}

// Federation lets a Kubernetes service account act as an identity.
type Federation struct {
	Name      string
	Identity  string // any name that tells identities apart
	Issuer    string // "" where it is not known yet
	Subject   string
	Audiences []string
}

// DevicePlugin is the DaemonSet that offers NVIDIA GPUs to pods.
type DevicePlugin struct {
	Tolerations []Toleration
}

// Limits of a federated credential.
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const (
	Audience       = "api://AzureADTokenExchange" // of a token that Entra takes, in all public clouds
	maxFederations = 20                           // for each identity
)

// The forms of names. Sources: API; for credentials
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftmanagedidentity
var (
	clusterName    = regexp.MustCompile(`^[a-zA-Z0-9]([-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
	dnsPrefix      = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]{0,52}[a-zA-Z0-9])?$`)
	federationName = regexp.MustCompile(`^[a-zA-Z0-9][-_a-zA-Z0-9]{2,119}$`)
	// subject names a service account: a DNS label, then a DNS subdomain.
	// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens
	subject = regexp.MustCompile(`^system:serviceaccount:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// maxNodeLabel is how long the names of network and subnet may be, in
// characters: AKS makes labels of nodes of them.
// https://learn.microsoft.com/azure/aks/use-labels
const maxNodeLabel = 63

// Check is everything that Azure, or this project, refuses of the cluster and
// of its pools, sorted. A field of a pool is "Pools[0].Min".
func (c Cluster) Check() []Problem {
	r := &report{}
	c.checkEnums(r)
	c.checkNames(r)
	c.checkIdentity(r)
	c.checkAccess(r)
	c.checkEndpoint(r)
	c.Network.check(r, c)
	c.checkPools(r)
	c.checkVersions(r)
	c.checkFederations(r)
	c.checkRoom(r)
	c.checkDevices(r)
	for i, p := range c.Pools {
		for _, problem := range p.Check() {
			problem.Field = poolField(i, problem.Field)
			r.list = append(r.list, problem)
		}
	}
	return r.sorted()
}

// poolField is the path of a field of a pool.
func poolField(i int, field string) string { return fmt.Sprintf("Pools[%d].%s", i, field) }

// checkEnums is E1: a value outside its enumeration. Source: API.
func (c Cluster) checkEnums(r *report) {
	oneOf(r, "Identity", c.Identity, SystemAssigned, UserAssigned)
	oneOf(r, "ArtifactSource", c.ArtifactSource, SourceDirect, SourceCache)
}

// checkNames is C22 and C10: the forms of names, and which of two names the API
// server has.
// https://learn.microsoft.com/azure/aks/private-clusters#create-a-private-aks-cluster-with-a-custom-private-dns-zone-or-private-dns-subzone
func (c Cluster) checkNames(r *report) {
	if !clusterName.MatchString(c.Name) {
		r.add("C22", "Name", quote(c.Name), "1 to 63 letters, digits, hyphens and underscores, a letter or digit first and last")
	}
	if c.DNSPrefix != "" && !dnsPrefix.MatchString(c.DNSPrefix) {
		r.add("C22", "DNSPrefix", quote(c.DNSPrefix), "1 to 54 letters, digits and hyphens, a letter or digit first and last")
	}
	switch {
	case c.DNSPrefix == "" && c.FQDNSubdomain == "":
		r.add("C10", "DNSPrefix", "", "a prefix of the API server's name, or FQDNSubdomain")
	case c.DNSPrefix != "" && c.FQDNSubdomain != "":
		r.add("C10", "FQDNSubdomain", quote(c.FQDNSubdomain), "nothing, or no DNSPrefix: the API server has one name")
	}
	if c.FQDNSubdomain != "" && (!c.API.Private || !c.API.ownZone()) {
		r.add("C10", "FQDNSubdomain", quote(c.FQDNSubdomain), "nothing, or a private cluster with a private DNS zone of its own, which holds the name")
	}
}

// checkIdentity is C1 and P2: workload identity lives on tokens of the OIDC
// issuer, and KEDA is to be enabled after it.
// https://learn.microsoft.com/azure/aks/workload-identity-deploy-cluster
// https://learn.microsoft.com/azure/aks/keda-about
func (c Cluster) checkIdentity(r *report) {
	if c.WorkloadIdentity && !c.OIDC {
		r.add("C1", "OIDC", "false", "true: workload identity trades tokens of the cluster's OIDC issuer")
	}
	if c.KEDA && !c.WorkloadIdentity {
		r.add("P2", "KEDA", "true", "false, or WorkloadIdentity: KEDA reads the queues as a workload identity")
	}
}

// checkAccess is C2: what needs managed Entra integration.
// https://learn.microsoft.com/azure/aks/manage-local-accounts-managed-azure-ad
// https://learn.microsoft.com/azure/aks/manage-azure-rbac
func (c Cluster) checkAccess(r *report) {
	if c.ManagedEntra {
		return
	}
	if c.NoLocalAccounts {
		r.add("C2", "NoLocalAccounts", "true", "false, or ManagedEntra: nobody could log in")
	}
	if c.AzureRBAC {
		r.add("C2", "AzureRBAC", "true", "false, or ManagedEntra: Azure's roles are given to users of Entra")
	}
}

// checkEndpoint is C8: how the API server is reached.
// https://learn.microsoft.com/azure/aks/private-clusters
// https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges#limitations
func (c Cluster) checkEndpoint(r *report) {
	if !c.API.Private {
		return
	}
	if strings.EqualFold(c.API.PrivateDNSZone, ZoneNone) && !c.API.PublicFQDN {
		r.add("C8", "API.PrivateDNSZone", quote(c.API.PrivateDNSZone), "a zone, or PublicFQDN: the API server would have no name")
	}
	if len(c.API.AuthorizedRanges) > 0 {
		r.add("C8", "API.AuthorizedRanges", list(c.API.AuthorizedRanges), "nothing: a private cluster has no public endpoint to guard")
	}
	if c.API.ownZone() && c.Identity != UserAssigned {
		r.add("C8", "Identity", quote(c.Identity), "%s: the identity needs a role on the private DNS zone before the cluster exists", UserAssigned)
	}
}

// checkPools is C11, P1, C19 and C22 over all pools: one system pool, which is
// the inline one; one network; names apart.
// https://learn.microsoft.com/azure/aks/use-system-pools
// https://learn.microsoft.com/azure/aks/create-node-pools#limitations
// https://github.com/pulumi/pulumi-azure-native/issues/2719 (why one, inline, for good)
func (c Cluster) checkPools(r *report) {
	var systems []string
	for _, p := range c.Pools {
		if p.Mode == System {
			systems = append(systems, p.Name)
		}
	}
	switch {
	case len(c.Pools) == 0 || len(systems) == 0:
		r.add("C11", "Pools", "", "a system pool: a cluster cannot be without one")
	case c.Pools[0].Mode != System:
		r.add("C11", poolField(0, "Mode"), quote(c.Pools[0].Mode), "%s: the first pool is made with the cluster", System)
	}
	if len(systems) > 1 {
		r.add("P1", "Pools", list(systems), "one system pool: it is made with the cluster, and never replaced, because the cluster's later updates name it")
	}
	named := map[string]int{}
	for i, p := range c.Pools {
		if first, taken := named[p.Name]; taken && p.Name != "" {
			r.add("C22", poolField(i, "Name"), quote(p.Name), "a name of its own: Pools[%d] has this one", first)
		} else {
			named[p.Name] = i
		}
		c.checkSubnetID(r, i, "SubnetID", p.SubnetID)
		if p.PodSubnetID != "" {
			c.checkSubnetID(r, i, "PodSubnetID", p.PodSubnetID)
		}
	}
}

// checkSubnetID is C19 and C22 of a subnet of pool i: it is in the network of
// the first pool, and its names fit into labels.
func (c Cluster) checkSubnetID(r *report, i int, field, id string) {
	network, ok := networkOf(id)
	if !ok && id != "" {
		r.add("C19", poolField(i, field), quote(id), "the ARM id of a subnet")
		return
	}
	first, ok := networkOf(c.Pools[0].SubnetID)
	switch {
	case !ok && c.Pools[0].SubnetID != "": // reported there
	case network != first && first == "":
		r.add("C19", poolField(i, field), quote(id), "nothing, or a subnet for Pools[0] too: all pools live in one network, and AKS makes that of Pools[0]")
	case network != first:
		r.add("C19", poolField(i, field), quote(id), "a subnet of the network of Pools[0]: all pools live in one network")
	}
	if id == "" {
		return
	}
	for _, part := range []int{4, 8, 10} { // resource group, network, subnet
		if name := strings.Split(id, "/")[part]; len(name) > maxNodeLabel {
			r.add("C22", poolField(i, field), quote(name), "at most %d characters in the names of the subnet, its network and their group: AKS makes labels of nodes of them", maxNodeLabel)
		}
	}
}

// networkOf is the network of a subnet's id, in lower case: Azure ignores case.
func networkOf(subnetID string) (string, bool) {
	parts := strings.Split(strings.ToLower(subnetID), "/")
	if len(parts) != 11 || parts[0] != "" || parts[1] != "subscriptions" || parts[3] != "resourcegroups" || parts[5] != "providers" ||
		parts[6] != "microsoft.network" || parts[7] != "virtualnetworks" || parts[9] != "subnets" || slices.Contains(parts[1:], "") {
		return "", false
	}
	return strings.Join(parts[:9], "/"), true
}

// checkVersions is C19 of versions: a pool is not newer than the control plane,
// and not much older. Source: API, and see MaxSkew.
func (c Cluster) checkVersions(r *report) {
	if c.Version == "" {
		return
	}
	control, err := ParseVersion(c.Version)
	if err != nil {
		r.add("E1", "Version", quote(c.Version), "%s", wantOf(err))
		return
	}
	for i, p := range c.Pools {
		pool, err := ParseVersion(p.Version)
		if err == nil && !control.Runs(pool) { // a pool's own check refuses what cannot be read
			r.add("C19", poolField(i, "Version"), quote(p.Version), "a version that is not newer than the control plane's %s, and at most %d minor versions older", control, MaxSkew)
		}
	}
}

// checkFederations is C20 and C22 of federated credentials.
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
// https://learn.microsoft.com/azure/aks/workload-identity-overview
func (c Cluster) checkFederations(r *report) {
	type pair struct{ identity, issuer, subject string }
	count, seen := map[string]int{}, map[pair]int{}
	for i, f := range c.Federations {
		at := func(field string) string { return fmt.Sprintf("Federations[%d].%s", i, field) }
		if !federationName.MatchString(f.Name) {
			r.add("C22", at("Name"), quote(f.Name), "3 to 120 letters, digits, hyphens and underscores, a letter or digit first")
		}
		if !subject.MatchString(f.Subject) {
			r.add("C20", at("Subject"), quote(f.Subject), "system:serviceaccount:<namespace>:<service account>, what AKS writes into the tokens")
		}
		if len(f.Audiences) != 1 || f.Audiences[0] != Audience {
			r.add("C20", at("Audiences"), list(f.Audiences), "%s alone, what AKS asks tokens for", Audience)
		}
		key := pair{f.Identity, f.Issuer, f.Subject}
		if first, taken := seen[key]; taken {
			r.add("C20", at("Subject"), quote(f.Subject), "an issuer and subject that no other credential of the identity has: Federations[%d] has these", first)
		} else {
			seen[key] = i
		}
		if count[f.Identity]++; count[f.Identity] == maxFederations+1 {
			r.add("C20", at("Identity"), quote(f.Identity), "an identity with at most %d credentials, the limit of Entra", maxFederations)
		}
	}
}

// checkDevices is C26: a device plugin that every GPU node repels, and devices
// that no pool offers. Only NVIDIA's plugin is checked.
// https://github.com/NVIDIA/k8s-device-plugin/issues/421
// https://learn.microsoft.com/azure/aks/use-nvidia-gpu
func (c Cluster) checkDevices(r *report) {
	offered := map[string]bool{}
	for i, p := range c.Pools {
		name, _ := p.Offers()
		offered[name] = true
		if c.DevicePlugin == nil || !p.HasGPU() || name == AMDGPU {
			continue
		}
		for _, taint := range p.AllTaints() {
			if taint.Repels() && !slices.ContainsFunc(c.DevicePlugin.Tolerations, func(t Toleration) bool { return t.Tolerates(taint) }) {
				r.add("C26", "DevicePlugin.Tolerations", "", "a toleration of %s: without the device plugin the GPUs of Pools[%d] are not offered", taint, i)
			}
		}
	}
	for i, device := range c.RequestedDevices {
		if gpuResource(device) && !offered[device] {
			var names []string
			for name := range offered {
				if name != "" {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			want := "a device that a pool offers, and none offers any"
			if len(names) > 0 {
				want = "a device that a pool offers: " + list(names)
			}
			r.add("C26", fmt.Sprintf("RequestedDevices[%d]", i), quote(device), "%s", want)
		}
	}
}

// checkRoom is C23: addresses for every node of every pool at its largest, and
// for those that an upgrade of all pools adds.
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
// https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay#ip-address-planning
func (c Cluster) checkRoom(r *report) {
	n, all := c.Network, 0
	need := map[string]int{} // addresses by subnet
	why := map[string][]string{}
	for i, p := range c.Pools {
		nodes := p.MaxNodes() + p.SurgeNodes()
		all += nodes
		perNode := 1
		if n.podsInNodeSubnet() && p.PodSubnetID == "" {
			perNode += p.podsPerNode()
		}
		id := strings.ToLower(p.SubnetID)
		need[id] += nodes * perNode
		why[id] = append(why[id], fmt.Sprintf("%s: %d nodes + %d that an upgrade adds, at %d", p.Name, p.MaxNodes(), p.SurgeNodes(), perNode))
		if i == 0 && c.API.Private {
			need[id]++
			why[id] = append(why[id], "1 for the API server's endpoint")
		}
	}
	if pods := n.pods(); n.overlay() && pods.IsValid() {
		if room := blocks(pods); room < all {
			r.add("C23", "Network.PodCIDR", pods.String(), "room for %d nodes (all pools at their largest, and what an upgrade adds) at a /%d each; it has room for %d", all, podBits, room)
		}
	}
	for id, s := range n.Subnets {
		if !s.Prefix.IsValid() || !s.Prefix.Addr().Is4() {
			continue
		}
		addresses := need[strings.ToLower(id)]
		if usable := 1<<(32-s.Prefix.Bits()) - azureReserved; usable < addresses {
			r.add("C23", fmt.Sprintf("Network.Subnets[%s]", id), s.Prefix.String(), "%d usable addresses (%s); it has %d after the %d that Azure keeps",
				addresses, strings.Join(why[strings.ToLower(id)], "; "), max(usable, 0), azureReserved)
		}
	}
}

// podsPerNode is how many addresses a node takes for pods where they come from
// its own subnet; 30 is the default of that kind of network.
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning#maximum-pods-per-node
func (p Pool) podsPerNode() int {
	if p.MaxPods > 0 {
		return p.MaxPods
	}
	return 30
}

// blocks is how many nodes a pod range has room for.
func blocks(pods netip.Prefix) int {
	if pods.Bits() > podBits {
		return 0
	}
	return 1 << (podBits - pods.Bits())
}

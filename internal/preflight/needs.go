package preflight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"onedoor/internal/armtypes"
	"onedoor/internal/azread"
)

// Resource is a planned resource; see engine.Resource.
type Resource struct {
	URN    string         `json:"urn"`
	Type   string         `json:"type"`
	Inputs map[string]any `json:"inputs"`
}

// Needs are what a plan takes from Azure.
type Needs struct {
	Stack        string
	Subscription string
	Tenant       string // that the plan names, "" for none

	Providers []string // resource providers, as in "Microsoft.Network"
	Writes    []string // ARM types that are written
	Models    []Models
	Accounts  []Item // model accounts, for what they hold already
	Pools     []Pool
	Cluster   *Item // nil for a plan without one
	InCluster bool  // the plan holds objects of the cluster
	Private   bool  // the cluster's API server answers in its network alone
	Names     []Item
	Ranges    []Range
	Peers     []Item   // networks that are peered with
	Audiences []string // that the platform's own doors take tokens for
}

// Item is a resource that the plan makes.
type Item struct {
	ID         string
	ARMType    string
	APIVersion string
	Name       string // that has to be free in all of Azure
	Region     string
}

// Models are the units of capacity that the plan's deployments of one SKU and model
// have together in a region.
type Models struct {
	Region      string
	Offer       azread.Offer
	Units       float64
	Deployments []string // their ids
}

// Pool is a pool of nodes as it takes cores.
type Pool struct {
	Name   string
	Region string
	Size   string
	Zones  []string
	Nodes  int // the most that the autoscaler makes
	Surge  int // more, while an upgrade runs
	Spot   bool
	GPU    bool
}

// Range is a range of addresses that the plan uses.
type Range struct {
	What   string
	Prefix netip.Prefix
	Inside bool // it is used in the cluster alone: no peer sees it, but nodes do not reach what lies behind it
}

// uniqueNames are the ARM types whose names are unique in all of Azure, in lower case.
var uniqueNames = []string{
	"microsoft.apimanagement/service", "microsoft.cognitiveservices/accounts", "microsoft.containerregistry/registries",
	"microsoft.keyvault/vaults", "microsoft.servicebus/namespaces", "microsoft.storage/storageaccounts",
}

// alwaysNeeded are resource providers that no resource of a plan names: AKS makes
// the machines of its pools, and their load balancers and disks, with them.
var alwaysNeeded = map[string][]string{
	"Microsoft.ContainerService": {"Microsoft.Compute", "Microsoft.Network", "Microsoft.Storage"},
	"Microsoft.Insights":         {"Microsoft.OperationalInsights"},
}

// NeedsOf are the needs of a plan.
func NeedsOf(stack string, plan []Resource) (Needs, error) {
	catalog, err := armtypes.Load()
	if err != nil {
		return Needs{}, err
	}
	n := &gatherer{Needs: Needs{Stack: stack}, catalog: catalog, providers: map[string]bool{}, writes: map[string]bool{}, regions: map[string]string{}, models: map[string]*Models{}}
	if n.Subscription = subscriptionOf(plan); n.Subscription == "" {
		return Needs{}, fmt.Errorf("plan of %q: no provider of azure-native with a subscriptionId that is known; preview the stack again", stack)
	}
	for _, r := range plan { // regions first: children of an account have none
		if armType, ok := catalog.ByToken(r.Type); ok {
			if id, problems := armType.ID(r.Inputs, n.Subscription); len(problems) == 0 {
				n.regions[strings.ToLower(id)] = region(text(r.Inputs, "location"))
			}
		}
	}
	for _, r := range plan {
		n.add(r)
	}
	for namespace := range maps.Clone(n.providers) {
		for _, more := range alwaysNeeded[namespace] {
			n.providers[more] = true
		}
	}
	n.Providers, n.Writes = slices.Sorted(maps.Keys(n.providers)), slices.Sorted(maps.Keys(n.writes))
	for _, key := range slices.Sorted(maps.Keys(n.models)) {
		m := n.models[key]
		slices.Sort(m.Deployments)
		n.Models = append(n.Models, *m)
	}
	slices.SortFunc(n.Pools, func(a, b Pool) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(n.Names, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(n.Accounts, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(n.Peers, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	slices.Sort(n.Audiences)
	slices.SortFunc(n.Ranges, func(a, b Range) int {
		return cmp.Or(strings.Compare(a.What, b.What), strings.Compare(a.Prefix.String(), b.Prefix.String()))
	})
	return n.Needs, nil
}

// gatherer makes Needs.
type gatherer struct {
	Needs
	catalog           *armtypes.Catalog
	providers, writes map[string]bool
	regions           map[string]string // by id in lower case
	models            map[string]*Models
}

func (n *gatherer) add(r Resource) {
	if strings.HasPrefix(r.Type, "kubernetes:") {
		n.InCluster = true
		n.addAudiences(r)
		return
	}
	armType, ok := n.catalog.ByToken(r.Type)
	if !ok {
		return
	}
	namespace, _, _ := strings.Cut(armType.ARMType, "/")
	n.providers[canonical(namespace)], n.writes[armType.ARMType] = true, true
	id, problems := armType.ID(r.Inputs, n.Subscription)
	if len(problems) > 0 {
		return // a name that is not known yet cannot be asked about
	}
	item := Item{ID: id, ARMType: armType.ARMType, APIVersion: armType.APIVersion, Name: id[strings.LastIndexByte(id, '/')+1:], Region: n.regions[strings.ToLower(id)]}
	typ := strings.ToLower(armType.ARMType)
	if slices.Contains(uniqueNames, typ) {
		n.Names = append(n.Names, item)
	}
	switch typ {
	case "microsoft.cognitiveservices/accounts":
		n.Accounts = append(n.Accounts, item)
	case "microsoft.cognitiveservices/accounts/deployments":
		n.addDeployment(id, r.Inputs)
	case "microsoft.containerservice/managedclusters":
		n.addCluster(item, r.Inputs)
	case "microsoft.containerservice/managedclusters/agentpools":
		n.addPool(text(r.Inputs, "agentPoolName"), n.regions[strings.ToLower(parentOf(id))], r.Inputs)
	case "microsoft.network/virtualnetworks":
		for _, prefix := range list(object(r.Inputs, "addressSpace"), "addressPrefixes") {
			n.addRange("network "+item.Name, prefix, false)
		}
	case "microsoft.network/virtualnetworks/virtualnetworkpeerings":
		if peer := text(object(r.Inputs, "remoteVirtualNetwork"), "id"); strings.HasPrefix(peer, "/") {
			n.Peers = append(n.Peers, Item{ID: peer, APIVersion: armType.APIVersion, Name: peer[strings.LastIndexByte(peer, '/')+1:]})
		}
	case "microsoft.keyvault/vaults":
		if tenant := text(object(r.Inputs, "properties"), "tenantId"); tenant != unknown {
			n.Tenant = tenant
		}
	}
}

func (n *gatherer) addDeployment(id string, inputs map[string]any) {
	sku, model := object(inputs, "sku"), object(object(inputs, "properties"), "model")
	region := n.regions[strings.ToLower(parentOf(id))]
	offer := azread.Offer{Format: text(model, "format"), Model: text(model, "name"), Version: text(model, "version"), SKU: text(sku, "name")}
	key := fmt.Sprint(region, offer)
	if n.models[key] == nil {
		n.models[key] = &Models{Region: region, Offer: offer}
	}
	units, _ := sku["capacity"].(float64)
	n.models[key].Units += units
	n.models[key].Deployments = append(n.models[key].Deployments, id)
}

func (n *gatherer) addCluster(item Item, inputs map[string]any) {
	n.Cluster = &item
	n.Private, _ = object(inputs, "apiServerAccessProfile")["enablePrivateCluster"].(bool)
	pools, _ := inputs["agentPoolProfiles"].([]any)
	for _, p := range pools {
		if pool, ok := p.(map[string]any); ok {
			n.addPool(text(pool, "name"), item.Region, pool)
		}
	}
	profile := object(inputs, "networkProfile")
	for what, key := range map[string]string{"pods": "podCidr", "services": "serviceCidr"} {
		n.addRange(what+" of the cluster", text(profile, key), true)
	}
}

func (n *gatherer) addPool(name, region string, inputs map[string]any) {
	size := text(inputs, "vmSize")
	nodes, _ := inputs["maxCount"].(float64)
	if count, _ := inputs["count"].(float64); nodes == 0 {
		nodes = count
	}
	p := Pool{Name: name, Region: region, Size: size, Zones: list(inputs, "availabilityZones"), Nodes: int(nodes), Spot: text(inputs, "scaleSetPriority") == "Spot", GPU: isGPU(size)}
	if !p.Spot { // spot pools have no surge
		p.Surge = surge(text(object(inputs, "upgradeSettings"), "maxSurge"), p.Nodes)
	}
	n.Pools = append(n.Pools, p)
}

func (n *gatherer) addRange(what, prefix string, inside bool) {
	if p, err := netip.ParsePrefix(prefix); err == nil {
		n.Ranges = append(n.Ranges, Range{what, p.Masked(), inside})
	}
}

// addAudiences finds what a service's settings say that tokens must be for.
func (n *gatherer) addAudiences(r Resource) {
	for _, settings := range object(r.Inputs, "data") {
		raw, _ := settings.(string)
		var door struct {
			Audience string `json:"audience"`
		}
		if err := json.Unmarshal([]byte(raw), &door); err == nil && door.Audience != "" && !slices.Contains(n.Audiences, door.Audience) {
			n.Audiences = append(n.Audiences, door.Audience)
		}
	}
}

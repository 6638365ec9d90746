package preflight

import (
	"context"
	"maps"
	"slices"
	"strings"

	"onedoor/internal/azread"
)

// Names of quotas that are of no family, in lower case.
const (
	allCores  = "cores"            // of the region, spot machines excepted
	spotCores = "lowprioritycores" // of all spot machines of the region
)

// machines judges the sizes, zones and cores of the pools.
func (a *asking) machines(ctx context.Context) {
	for _, region := range regions(a.Pools, func(p Pool) string { return p.Region }) {
		var here []Pool
		for _, p := range a.Pools {
			if p.Region == region {
				here = append(here, p)
			}
		}
		sizes, err := a.Azure.Sizes(ctx, region)
		if err != nil {
			a.NotChecked(region, azread.Reason(err), SizeOffered, ZonesOffered, CoresForAll, CoresForSurge, CoresForReplacing)
			continue
		}
		a.sizes(region, here, sizes)
		a.cores(ctx, region, here, sizes)
	}
}

// sizes judges what the region offers.
func (a *asking) sizes(region string, pools []Pool, sizes map[string]azread.Size) {
	for _, p := range pools {
		a.Judged(SizeOffered)
		size, offered := sizes[strings.ToLower(p.Size)]
		if !offered {
			a.Found(SizeOffered, region, "no size %s, which pool %s wants", p.Size, p.Name)
			continue
		}
		if size.Restricted != "" {
			a.Found(SizeOffered, region, "size %s, which pool %s wants, is kept from this subscription: %s", p.Size, p.Name, size.Restricted)
		}
		for _, zone := range p.Zones {
			a.Judged(ZonesOffered)
			switch {
			case !slices.Contains(size.Zones, zone):
				a.Found(ZonesOffered, region, "zone %s has no size %s, which pool %s wants there; it has zones %s", zone, p.Size, p.Name, strings.Join(size.Zones, ", "))
			case slices.Contains(size.Closed, zone):
				a.Found(ZonesOffered, region, "size %s in zone %s, which pool %s wants, is kept from this subscription", p.Size, zone, p.Name)
			}
		}
	}
}

// demand is what the pools want of one quota, in cores.
type demand struct {
	all     int // every pool at its largest
	surge   int // the largest surge of one pool
	replace int // the largest GPU pool once more
	gpu     bool
}

// cores judges the room that quotas leave.
func (a *asking) cores(ctx context.Context, region string, pools []Pool, sizes map[string]azread.Size) {
	codes := []string{CoresForAll, CoresForSurge, CoresForReplacing}
	usages, err := a.Azure.CoreUsages(ctx, region)
	if err != nil {
		a.NotChecked(region, azread.Reason(err), codes...)
		return
	}
	own, err := a.ownCores(ctx, sizes)
	if err != nil {
		a.NotChecked(region, "the nodes that the cluster has already are not known: "+azread.Reason(err), codes...)
		return
	}
	demands := map[string]*demand{}
	for _, p := range pools {
		size, offered := sizes[strings.ToLower(p.Size)]
		if !offered {
			a.NotChecked(region, "the cores of "+p.Size+" are not known, as the region does not offer it", codes...)
			continue
		}
		for _, name := range quotasOf(p.Spot, size) {
			if demands[name] == nil {
				demands[name] = &demand{}
			}
			d := demands[name]
			d.all += p.Nodes * size.CPUs
			d.surge = max(d.surge, p.Surge*size.CPUs)
			if p.GPU {
				d.gpu, d.replace = true, max(d.replace, p.Nodes*size.CPUs)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(demands)) {
		d := demands[name]
		usage, listed := usages[name]
		if !listed {
			a.NotChecked(region, "Azure lists no quota "+name, codes...)
			continue
		}
		others := max(0, int(usage.Used)-own[name])
		room := int(usage.Limit) - others
		a.Judged(CoresForAll, CoresForSurge)
		if d.gpu {
			a.Judged(CoresForReplacing)
		}
		switch {
		case d.all > room:
			a.Found(CoresForAll, region, "%s: the pools need %d cores at their largest, others use %d, the limit is %d", name, d.all, others, int(usage.Limit))
		case d.all+d.surge > room:
			a.Found(CoresForSurge, region, "%s: an upgrade needs %d cores more than the %d of the pools, and %d are left", name, d.surge, d.all, room-d.all)
		case d.all+d.replace > room:
			a.Found(CoresForReplacing, region, "%s: a second pool beside the largest needs %d cores, and %d are left", name, d.replace, room-d.all)
		}
	}
}

// quotasOf are the quotas that a node counts towards.
func quotasOf(spot bool, size azread.Size) []string {
	if spot {
		return []string{spotCores}
	}
	return []string{size.Family, allCores}
}

// ownCores are the cores of the cluster's present nodes, by quota: an update does
// not need them twice.
func (a *asking) ownCores(ctx context.Context, sizes map[string]azread.Size) (map[string]int, error) {
	own := map[string]int{}
	if a.Cluster == nil {
		return own, nil
	}
	cluster, found, err := a.Azure.Get(ctx, a.Cluster.ID, a.Cluster.APIVersion)
	if err != nil || !found {
		return own, err
	}
	var now struct {
		Pools []struct {
			Size     string `json:"vmSize"`
			Count    int    `json:"count"`
			Priority string `json:"scaleSetPriority"`
		} `json:"agentPoolProfiles"`
	}
	if err := cluster.Into(&now); err != nil {
		return nil, err
	}
	for _, p := range now.Pools {
		size := sizes[strings.ToLower(p.Size)]
		for _, name := range quotasOf(p.Priority == "Spot", size) {
			own[name] += p.Count * size.CPUs
		}
	}
	return own, nil
}

package azread

import (
	"context"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v5"
)

// Usage is how much of a quota is used.
type Usage struct{ Used, Limit float64 }

// ModelUsages are the quotas of models in a region, by name as in
// "OpenAI.GlobalBatch.gpt-4o", in units of capacity.
func (a *Azure) ModelUsages(ctx context.Context, region string) (map[string]Usage, error) {
	found, err := all(ctx, a.models.NewUsagesClient().NewListPager(region, nil), func(p armcognitiveservices.UsagesClientListResponse) []*armcognitiveservices.Usage { return p.Value })
	if err != nil {
		return nil, err
	}
	out := map[string]Usage{}
	for _, u := range found {
		if u.Name == nil || u.Name.Value == nil || u.CurrentValue == nil || u.Limit == nil {
			return nil, missing("name, currentValue and limit of a quota")
		}
		out[*u.Name.Value] = Usage{*u.CurrentValue, *u.Limit}
	}
	return out, nil
}

// CoreUsages are the quotas of virtual CPUs in a region, by the name of a family as
// in "standardNCADSA100v4Family", with "cores" for all of the region and
// "lowPriorityCores" for all spot machines.
func (a *Azure) CoreUsages(ctx context.Context, region string) (map[string]Usage, error) {
	found, err := all(ctx, a.compute.NewUsageClient().NewListPager(region, nil), func(p armcompute.UsageClientListResponse) []*armcompute.Usage { return p.Value })
	if err != nil {
		return nil, err
	}
	out := map[string]Usage{}
	for _, u := range found {
		if u.Name == nil || u.Name.Value == nil || u.CurrentValue == nil || u.Limit == nil {
			return nil, missing("name, currentValue and limit of a quota")
		}
		out[strings.ToLower(*u.Name.Value)] = Usage{float64(*u.CurrentValue), float64(*u.Limit)}
	}
	return out, nil
}

// Size is a size of virtual machines in a region.
type Size struct {
	Family     string // as its quota is named
	CPUs       int
	Zones      []string // that have it
	Restricted string   // why the subscription may not have it in the region at all; "" if it may
	Closed     []string // zones that the subscription may not have it in
}

// Sizes are the sizes of virtual machines in a region, by name in lower case.
func (a *Azure) Sizes(ctx context.Context, region string) (map[string]Size, error) {
	filter := "location eq '" + region + "'"
	pager := a.compute.NewResourceSKUsClient().NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: &filter})
	found, err := all(ctx, pager, func(p armcompute.ResourceSKUsClientListResponse) []*armcompute.ResourceSKU { return p.Value })
	if err != nil {
		return nil, err
	}
	out := map[string]Size{}
	for _, sku := range found {
		if or(sku.ResourceType) != "virtualMachines" {
			continue
		}
		size := Size{Family: strings.ToLower(or(sku.Family))}
		for _, c := range sku.Capabilities {
			if c != nil && or(c.Name) == "vCPUs" {
				size.CPUs, _ = strconv.Atoi(or(c.Value)) // refused below if it is no number
			}
		}
		if sku.Name == nil || size.Family == "" || size.CPUs == 0 {
			return nil, missing("name, family and vCPUs of a size")
		}
		for _, info := range sku.LocationInfo {
			if info != nil && strings.EqualFold(or(info.Location), region) {
				size.Zones = texts(info.Zones)
			}
		}
		for _, r := range sku.Restrictions {
			if r == nil {
				continue
			}
			switch or(r.Type) {
			case armcompute.ResourceSKURestrictionsTypeZone:
				if r.RestrictionInfo != nil {
					size.Closed = append(size.Closed, texts(r.RestrictionInfo.Zones)...)
				}
			case armcompute.ResourceSKURestrictionsTypeLocation:
				size.Restricted = string(or(r.ReasonCode))
				if size.Restricted == "" {
					size.Restricted = "restricted"
				}
			}
		}
		out[strings.ToLower(*sku.Name)] = size
	}
	return out, nil
}

// Deployment is a deployment of a model as it counts towards quota.
type Deployment struct {
	Name, SKU, Model string
	Units            float64
}

// Deployments are those of a model account.
func (a *Azure) Deployments(ctx context.Context, group, account string) ([]Deployment, error) {
	found, err := all(ctx, a.models.NewDeploymentsClient().NewListPager(group, account, nil), func(p armcognitiveservices.DeploymentsClientListResponse) []*armcognitiveservices.Deployment {
		return p.Value
	})
	if err != nil {
		return nil, err
	}
	var out []Deployment
	for _, d := range found {
		if d.Name == nil || d.SKU == nil || d.SKU.Name == nil || d.Properties == nil || d.Properties.Model == nil {
			return nil, missing("name, SKU and model of a deployment")
		}
		out = append(out, Deployment{*d.Name, *d.SKU.Name, or(d.Properties.Model.Name), float64(or(d.SKU.Capacity))})
	}
	return out, nil
}

// Offer is a model that can be deployed.
type Offer struct {
	Format  string // as in "OpenAI"
	Model   string
	Version string
	SKU     string // as in "GlobalBatch"
}

// Usage is the name of the quota that Azure usually counts the offer under.
func (o Offer) Usage() string { return o.Format + "." + o.SKU + "." + o.Model }

// Offers are the models that can be deployed in a region, with the name of the quota
// of each.
func (a *Azure) Offers(ctx context.Context, region string) (map[Offer]string, error) {
	found, err := all(ctx, a.models.NewModelsClient().NewListPager(region, nil), func(p armcognitiveservices.ModelsClientListResponse) []*armcognitiveservices.Model { return p.Value })
	if err != nil {
		return nil, err
	}
	out := map[Offer]string{}
	for _, item := range found {
		m := item.Model
		if m == nil || m.Name == nil {
			return nil, missing("name of a model")
		}
		for _, sku := range m.SKUs {
			if sku == nil || sku.Name == nil {
				return nil, missing("name of a SKU")
			}
			offer := Offer{or(m.Format), *m.Name, or(m.Version), *sku.Name}
			if out[offer] = or(sku.UsageName); out[offer] == "" {
				out[offer] = offer.Usage()
			}
		}
	}
	return out, nil
}

package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"onedoor/internal/azread"
)

// models judges what each region offers, and the room that quotas leave.
func (a *asking) models(ctx context.Context) {
	for _, region := range regions(a.Models, func(m Models) string { return m.Region }) {
		var here []Models
		for _, m := range a.Models {
			if m.Region == region {
				here = append(here, m)
			}
		}
		a.modelsIn(ctx, region, here)
	}
}

func (a *asking) modelsIn(ctx context.Context, region string, wanted []Models) {
	offers, err := a.Azure.Offers(ctx, region)
	if err != nil {
		a.NotChecked(region, azread.Reason(err), ModelOffered, ModelQuota)
		return
	}
	need := map[string]float64{} // by the quota's name
	for _, m := range wanted {
		a.Judged(ModelOffered)
		usage, offered := offers[m.Offer]
		if !offered {
			a.Found(ModelOffered, region, "no model %s in version %s with SKU %s, which %s wants", m.Offer.Model, m.Offer.Version, m.Offer.SKU, names(m.Deployments))
			continue
		}
		need[usage] += m.Units
	}
	usages, err := a.Azure.ModelUsages(ctx, region)
	if err != nil {
		a.NotChecked(region, azread.Reason(err), ModelQuota)
		return
	}
	own, err := a.ownUnits(ctx, region, offers)
	if err != nil {
		a.NotChecked(region, "what the stack's own accounts hold is not known: "+azread.Reason(err), ModelQuota)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(need)) {
		usage, listed := usages[name]
		if !listed {
			a.NotChecked(region, "Azure lists no quota "+name, ModelQuota)
			continue
		}
		a.Judged(ModelQuota)
		others := max(0, usage.Used-own[name])
		if need[name]+others > usage.Limit {
			a.Found(ModelQuota, region, "%s: the plan needs %s units, others use %s, the limit is %s", name, number(need[name]), number(others), number(usage.Limit))
		}
	}
}

// ownUnits are the units that the accounts of the plan hold already in a region, by
// the quota's name: an update does not need them twice.
func (a *asking) ownUnits(ctx context.Context, region string, offers map[azread.Offer]string) (map[string]float64, error) {
	own := map[string]float64{}
	for _, account := range a.Accounts {
		if account.Region != region {
			continue
		}
		_, found, err := a.Azure.Get(ctx, account.ID, account.APIVersion)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		deployments, err := a.Azure.Deployments(ctx, groupOf(account.ID), account.Name)
		if err != nil {
			return nil, err
		}
		for _, d := range deployments {
			name := "OpenAI." + d.SKU + "." + d.Model
			for offer, usage := range offers {
				if offer.Model == d.Model && offer.SKU == d.SKU {
					name = usage // the same for every version
				}
			}
			own[name] += d.Units
		}
	}
	return own, nil
}

// names are the last words of ids.
func names(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, id[strings.LastIndexByte(id, '/')+1:])
	}
	return strings.Join(out, ", ")
}

// groupOf is the name of the resource group in an id.
func groupOf(id string) string {
	parts := strings.Split(id, "/")
	if len(parts) < 5 {
		return ""
	}
	return parts[4]
}

func number(n float64) string { return fmt.Sprintf("%g", n) }

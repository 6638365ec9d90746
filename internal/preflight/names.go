package preflight

import (
	"context"
	"strings"

	"onedoor/internal/azread"
)

// deleted judges whether deleted resources keep names of the plan.
func (a *asking) deleted(ctx context.Context) {
	for _, kind := range []struct {
		code, armType string
		list          func(context.Context) ([]azread.Deleted, error)
	}{
		{DeletedAccount, "Microsoft.CognitiveServices/accounts", a.Azure.DeletedAccounts},
		{DeletedGateway, "Microsoft.ApiManagement/service", a.Azure.DeletedGateways},
		{DeletedVault, "Microsoft.KeyVault/vaults", a.Azure.DeletedVaults},
	} {
		var wanted []Item
		for _, item := range a.Names {
			if strings.EqualFold(item.ARMType, kind.armType) {
				wanted = append(wanted, item)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		gone, err := kind.list(ctx)
		if err != nil {
			a.NotChecked("deleted "+kind.armType, azread.Reason(err), kind.code)
			continue
		}
		for _, item := range wanted {
			a.Judged(kind.code)
			for _, d := range gone {
				if strings.EqualFold(d.Name, item.Name) {
					a.Found(kind.code, item.Name, "was deleted%s and keeps its name%s%s", in(d.Region), until(d.Until), locked(d.Locked))
				}
			}
		}
	}
}

func in(region string) string {
	if region == "" {
		return ""
	}
	return " in " + region
}

func until(day string) string {
	if day == "" {
		return ""
	}
	return " until " + day
}

func locked(locked bool) string {
	if !locked {
		return ""
	}
	return "; purge protection is on, so nobody can free it earlier"
}

// names judges whether names that are unique in all of Azure are free. One that the
// stack holds itself is.
func (a *asking) names(ctx context.Context) {
	for _, item := range a.Names {
		_, ours, err := a.Azure.Get(ctx, item.ID, item.APIVersion)
		if err != nil {
			a.NotChecked(item.Name, azread.Reason(err), NameFree)
			continue
		}
		if ours {
			a.Judged(NameFree)
			continue
		}
		free, why, err := a.Azure.NameFree(ctx, item.ARMType, item.Name)
		if err != nil {
			a.NotChecked(item.Name, azread.Reason(err), NameFree)
			continue
		}
		a.Judged(NameFree)
		if !free {
			a.Found(NameFree, item.Name, "the name of %s is taken: %s", item.ARMType, why)
		}
	}
}

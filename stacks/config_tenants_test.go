package stacks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tenant has an owner, a plan and applications of its own.
func TestTenantsAreChecked(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]refusal{
		"OwnerIsNoAddress":    {"tenants.new", with(plainTenant, "owner", "the team"), plainTenant, `onedoor:tenants.new.owner: got "the team", want a plain e-mail address`},
		"PlanUnknown":         {"tenants.new", with(plainTenant, "plan", "startr"), plainTenant, `onedoor:tenants.new.plan: got "startr", want the name of a plan below onedoor:plans, nearest is "starter"`},
		"ResidencyMissing":    {"tenants.new", with(plainTenant, "residency", ""), plainTenant, `onedoor:tenants.new.residency: got "", want one of regional, dataZone, global`},
		"BudgetNegative":      {"tenants.new", with(plainTenant, "monthlyBudget", -1), with(plainTenant, "monthlyBudget", 1), `onedoor:tenants.new.monthlyBudget: got -1, want an amount`},
		"ApplicationIsAName":  {"tenants.new", with(plainTenant, "applications", []string{"app"}), with(plainTenant, "applications", []string{"c1111111-1111-4111-8111-111111111111"}), `onedoor:tenants.new.applications: got "app", want the client id of an Entra application`},
		"ApplicationTaken":    {"tenants.new", with(plainTenant, "applications", []string{"A1111111-1111-4111-8111-111111111111"}), nil, `onedoor:tenants.new.applications: got "a1111111-1111-4111-8111-111111111111", want an application of its own: this one speaks for tenant "helpdesk"`},
		"TenantNameMalformed": {"tenants." + strings.Repeat("a", 41), plainTenant, nil, `want a name of lower-case letters, digits and single hyphens, at most 40 characters`},
	})
}

// A tenant must not buy what no deployment may serve it.
func TestPlansKeepTheResidencyOfTheirTenants(t *testing.T) {
	t.Parallel()
	regional := func(region string) entry { return entry{"a": with(plainDeployment, "region", region)} }
	zonal := func(region string) entry {
		return entry{"a": entry{"sku": "DataZoneStandard", "region": region, "capacity": 50}}
	}
	global := entry{"a": entry{"sku": "GlobalStandard", "region": "swedencentral", "capacity": 50}}
	for name, c := range map[string]struct {
		deployments entry
		residency   string
		legal       bool
	}{
		"RegionalInTheRegion":    {regional("swedencentral"), "regional", true},
		"RegionalInAnother":      {regional("westeurope"), "regional", false},
		"ZonalForRegional":       {zonal("swedencentral"), "regional", false},
		"ZonalForZonal":          {zonal("swedencentral"), "dataZone", true},
		"ZonalOfAnotherZone":     {zonal("eastus2"), "dataZone", false},
		"RegionalInTheZone":      {regional("westeurope"), "dataZone", true},
		"GlobalForZonal":         {global, "dataZone", false},
		"GlobalForGlobal":        {global, "global", true},
		"ProviderForZonal":       {nil, "dataZone", false},
		"ProviderForGlobal":      {nil, "global", true},
		"AnotherZoneForEverbody": {zonal("eastus2"), "global", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, "dev")
			if c.deployments == nil {
				set(t, v, "models.extra", entry{})
				set(t, v, "externalProviders.partner", with(plainProvider, "aliases", entry{"extra": "m"}))
			} else {
				set(t, v, "models.extra", with(plainModel, "deployments", c.deployments))
			}
			set(t, v, "plans.extra", with(plainPlan, "aliases", []string{"extra"}))
			set(t, v, "tenants.new", with(with(plainTenant, "plan", "extra"), "residency", c.residency))
			_, err := Parse("dev", v)
			if c.legal {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, fmt.Sprintf(`onedoor:tenants.new.residency: got %q, want one that a deployment of alias "extra" keeps, which plan "extra" sells, from swedencentral`, c.residency))
		})
	}
}

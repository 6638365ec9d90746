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
		"ExternalOfAZone":     {"tenants.new", with(with(plainTenant, "residency", "dataZone"), "externalProviders", true), with(with(plainTenant, "residency", "global"), "externalProviders", true), `onedoor:tenants.new.externalProviders: got true, want false with residency dataZone: nobody says where a service outside Azure processes`},
		"KeyGeneration":       {"tenants.new", with(plainTenant, "keyGeneration", 100), with(plainTenant, "keyGeneration", 99), `onedoor:tenants.new.keyGeneration: got 100, want 0 to 99`},
		"TenantIsTheMaster":   {"tenants.master", plainTenant, nil, `onedoor:tenants.master: want another name: the key of all APIs`},
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
		external    bool // the tenant agreed to providers outside Azure
		legal       bool
	}{
		"RegionalInTheRegion":    {regional("swedencentral"), "regional", false, true},
		"RegionalInAnother":      {regional("westeurope"), "regional", false, false},
		"ZonalForRegional":       {zonal("swedencentral"), "regional", false, false},
		"ZonalForZonal":          {zonal("swedencentral"), "dataZone", false, true},
		"ZonalOfAnotherZone":     {zonal("eastus2"), "dataZone", false, false},
		"RegionalInTheZone":      {regional("westeurope"), "dataZone", false, true},
		"GlobalForZonal":         {global, "dataZone", false, false},
		"GlobalForGlobal":        {global, "global", false, true},
		"ProviderForZonal":       {nil, "dataZone", false, false},
		"ProviderForGlobal":      {nil, "global", false, false},
		"ProviderForWhoAgreed":   {nil, "global", true, true},
		"AnotherZoneForEverbody": {zonal("eastus2"), "global", false, true},
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
			set(t, v, "tenants.new", with(with(with(plainTenant, "plan", "extra"), "residency", c.residency), "externalProviders", c.external))
			_, err := Parse("dev", v)
			if c.legal {
				assert.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, fmt.Sprintf(`onedoor:tenants.new.residency: got %q, want one that a deployment of alias "extra" keeps, which plan "extra" sells, from swedencentral`, c.residency))
		})
	}
}

// A provider that no tenant may reach is probably not meant.
func TestAProviderThatNobodyReachesIsWarnedOf(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "externalProviders.partner", plainProvider)
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Equal(t, []string{"onedoor:externalProviders: no tenant has externalProviders set to true, so no call reaches them"}, cfg.Warnings)
	set(t, v, "tenants.labs.externalProviders", true)
	cfg, err = Parse("dev", v)
	require.NoError(t, err)
	assert.Empty(t, cfg.Warnings)
}

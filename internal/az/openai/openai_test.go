package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/openai"
)

// The names say what the kinds are; the table must not say otherwise.
func TestKindsAreWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	for _, batch := range []bool{false, true} {
		for _, name := range openai.Names(batch) {
			sku, known := openai.Lookup(name)
			assert.True(t, known, name)
			assert.Equal(t, strings.HasSuffix(name, "Batch"), sku.Batch, name)
			assert.Equal(t, batch, sku.Batch, name)
			assert.Equal(t, strings.Contains(name, "Provisioned"), sku.Provisioned, name)
			want := openai.Regional
			if strings.HasPrefix(name, "DataZone") {
				want = openai.DataZone
			} else if strings.HasPrefix(name, "Global") {
				want = openai.Global
			}
			assert.Equal(t, want, sku.Residency, name)
		}
	}
	assert.Equal(t, []string{"DataZoneBatch", "GlobalBatch"}, openai.Names(true))
	assert.Len(t, openai.Names(false), 6)
	_, known := openai.Lookup("globalstandard")
	assert.False(t, known, "Azure answers the name as it is written here, and a preview compares")
}

func TestDataZones(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"Itself":         {"swedencentral", "swedencentral", true},
		"EuropeanUnion":  {"swedencentral", "westeurope", true},
		"UnitedStates":   {"eastus2", "westus3", true},
		"TwoZones":       {"swedencentral", "eastus2", false},
		"UnitedKingdom":  {"swedencentral", "uksouth", false},
		"Norway":         {"swedencentral", "norwayeast", false},
		"BothInNone":     {"uksouth", "uksouth", false},
		"NoneIsNoRegion": {"", "", false},
	} {
		assert.Equal(t, c.same, openai.SameDataZone(c.a, c.b), name)
		assert.Equal(t, c.same, openai.SameDataZone(c.b, c.a), name)
	}
	assert.True(t, openai.InDataZone("francecentral"))
	assert.False(t, openai.InDataZone("switzerlandnorth"))
}

// What no filter may do is let through what Azure's own stops.
func TestNoFilterIsWeakerThanAzuresOwn(t *testing.T) {
	t.Parallel()
	strength := map[string]int{"High": 1, "Medium": 2, "Low": 3}
	for _, filter := range openai.FilterNames {
		seen := map[string]bool{}
		for _, rule := range filter.Rules() {
			key := rule.Name + " of " + rule.Source
			assert.False(t, seen[key], "%s: %s twice", filter, key)
			seen[key] = true
			if rule.Threshold != "" {
				assert.GreaterOrEqual(t, strength[rule.Threshold], strength["Medium"], "%s: %s", filter, key)
				assert.True(t, rule.Blocking, "%s: %s", filter, key)
			}
		}
		for _, want := range []string{"Hate", "Sexual", "Violence", "Selfharm"} {
			assert.True(t, seen[want+" of Prompt"] && seen[want+" of Completion"], "%s: %s", filter, want)
		}
		assert.True(t, seen["Jailbreak of Prompt"] && seen["Protected Material Text of Completion"], "%s", filter)
	}
	assert.NotEqual(t, openai.Standard.Rules(), openai.Strict.Rules())
}

func TestURLs(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "https://oai-1.openai.azure.com", openai.Endpoint("oai-1"))
	assert.Equal(t, "https://oai-1.openai.azure.com/openai/v1", openai.URL("oai-1"))
}

func TestBatchJobsNeedAModelThatTakesThem(t *testing.T) {
	t.Parallel()
	assert.True(t, openai.TakesBatches("gpt-5.1"))
	assert.False(t, openai.TakesBatches("text-embedding-3-large"))
}

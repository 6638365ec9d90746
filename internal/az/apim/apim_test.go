package apim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/apim"
	"onedoor/internal/az/netplan"
)

// A tier tells the mode: two of one name would not, and a mode without any could
// not be had.
func TestEveryModeHasTiersOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[apim.SKU]bool{}
	for _, mode := range netplan.GatewayModes {
		assert.NotEmpty(t, apim.Of(mode), mode)
		for _, sku := range apim.Of(mode) {
			assert.False(t, seen[sku], sku)
			seen[sku] = true
			tier, known := apim.Lookup(sku)
			assert.True(t, known)
			assert.Equal(t, mode, tier.Mode, sku)
		}
	}
	assert.Len(t, seen, len(apim.Tiers))
	_, known := apim.Lookup("Consumption")
	assert.False(t, known)
}

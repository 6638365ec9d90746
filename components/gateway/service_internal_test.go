package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheRecordHasTheAddressOfTheFirstRegion(t *testing.T) {
	t.Parallel()
	address, err := first([]string{"10.0.0.4", "10.1.0.4"})
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.4", address)
	_, err = first(nil)
	require.ErrorContains(t, err, "no private address")
}

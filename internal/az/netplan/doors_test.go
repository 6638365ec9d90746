package netplan

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Azure gives the lowest free address to endpoints, and keeps the last to itself.
func TestDoorsHaveTheHighestAddresses(t *testing.T) {
	t.Parallel()
	plan := Plan{Subnets: []Subnet{{Role: Doors, Prefix: netip.MustParsePrefix("10.40.9.0/25")}}}
	assert.Equal(t, "10.40.9.126", plan.Door(BatchDoor).String())
	assert.Equal(t, "10.40.9.125", plan.Door(ServingEdge).String())
	plan.Subnets[0].Prefix = netip.MustParsePrefix("10.40.9.128/25")
	assert.Equal(t, "10.40.9.254", plan.Door(BatchDoor).String())
}

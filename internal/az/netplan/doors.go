package netplan

import "net/netip"

// Door is an internal load balancer with an address of its own.
type Door string

// The doors that are not the gateway.
const (
	BatchDoor   Door = "batch"   // of the batch control plane
	ServingEdge Door = "serving" // of the model servers; the gateway alone uses it
)

// fromTheEnd is how far the address of each door lies below the last one of its
// subnet. Azure hands out the lowest free address, so the highest stay free.
var fromTheEnd = map[Door]int{
	BatchDoor:   1, // the last is Azure's broadcast address
	ServingEdge: 2,
}

// Door is the planned address of a door. It never changes while its subnet stays.
func (p Plan) Door(door Door) netip.Addr {
	prefix := p.Subnet(Doors).Prefix
	four := prefix.Masked().Addr().As4()
	last := uint32(four[0])<<24 | uint32(four[1])<<16 | uint32(four[2])<<8 | uint32(four[3])
	last += 1<<(32-prefix.Bits()) - 1 - uint32(fromTheEnd[door])
	return netip.AddrFrom4([4]byte{byte(last >> 24), byte(last >> 16), byte(last >> 8), byte(last)})
}

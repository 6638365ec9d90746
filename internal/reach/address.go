package reach

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
)

// party is one end of a packet, as rules see it.
type party struct {
	addr netip.Addr // invalid where no rule can name it by address
	tags []string   // service tags that hold it, besides "*"
}

// The service tags that mean more than a service: virtualNetwork holds the network,
// its peers and what is connected to them, internetTag all the rest.
// https://learn.microsoft.com/azure/virtual-network/service-tags-overview
const (
	virtualNetwork  = "VirtualNetwork"
	internetTag     = "Internet"
	azureCloud      = "AzureCloud"
	loadBalancerTag = "AzureLoadBalancer" // its probes, and no caller
)

// inside is a party of the network at addr.
func inside(addr netip.Addr) party { return party{addr, []string{virtualNetwork}} }

// service is a party on the internet that belongs to the service tags. A tag with
// a region belongs to the one without.
func service(tags ...string) party {
	all := []string{internetTag}
	for _, tag := range tags {
		all = append(all, tag)
		if base, _, regional := strings.Cut(tag, "."); regional {
			all = append(all, base)
		}
	}
	return party{tags: all}
}

// in tells whether a rule that names prefix means the party.
func (p party) in(prefix string) bool {
	if prefix == "*" {
		return true
	}
	parsed, err := netip.ParsePrefix(prefix)
	if err != nil {
		if addr, err := netip.ParseAddr(prefix); err == nil {
			return p.addr == addr
		}
		return slices.ContainsFunc(p.tags, func(t string) bool { return strings.EqualFold(t, prefix) })
	}
	if !p.addr.IsValid() {
		return parsed.Bits() == 0
	}
	return parsed.Contains(p.addr)
}

// span is a range of IPv4 addresses, both ends included.
type span struct{ first, last uint32 }

func spanOf(p netip.Prefix) span {
	first := number(p.Masked().Addr())
	return span{first, first + uint32(1<<(32-p.Bits())-1)}
}

func number(a netip.Addr) uint32 {
	four := a.As4()
	return binary.BigEndian.Uint32(four[:])
}

func address(n uint32) netip.Addr {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], n)
	return netip.AddrFrom4(four)
}

// samples are addresses of the spans, one from each part that the prefixes cannot
// tell apart. What holds for the samples holds for every address.
func samples(spans []span, prefixes []netip.Prefix) []netip.Addr {
	var out []netip.Addr
	for _, s := range spans {
		starts := []uint32{s.first}
		for _, p := range prefixes {
			cut := spanOf(p)
			for _, at := range []uint32{cut.first, cut.last + 1} {
				if at > s.first && at <= s.last {
					starts = append(starts, at)
				}
			}
		}
		slices.Sort(starts)
		for _, at := range slices.Compact(starts) {
			out = append(out, address(at))
		}
	}
	return out
}

// ipv4 reads a prefix or a single address.
func ipv4(text string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return p, false
		}
		p = netip.PrefixFrom(addr, addr.BitLen())
	}
	return p, p.Addr().Is4()
}

// outside are the spans that no prefix covers.
func outside(prefixes []netip.Prefix) []span {
	taken := make([]span, len(prefixes))
	for i, p := range prefixes {
		taken[i] = spanOf(p)
	}
	slices.SortFunc(taken, func(a, b span) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	var out []span
	next := uint64(0)
	for _, t := range taken {
		if uint64(t.first) > next {
			out = append(out, span{uint32(next), t.first - 1})
		}
		next = max(next, uint64(t.last)+1)
	}
	if next <= 1<<32-1 {
		out = append(out, span{uint32(next), 1<<32 - 1})
	}
	return out
}

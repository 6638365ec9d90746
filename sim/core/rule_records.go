package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// maxRecords is how many records one record set holds.
// https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-private-dns-limits
const maxRecords = 20

// recordSet: a name below the zone, a time to live, 1 to 20 different IPv4 addresses
// (A349).
// https://learn.microsoft.com/azure/dns/dns-private-records
func recordSet(_ State, r, _ *Resource) *Error {
	name := strings.ToLower(Name(r.ID))
	for i, l := range strings.Split(name, ".") {
		if name != "@" && (l != "*" || i > 0) && !label.MatchString(l) {
			return refuse(BadRequest, "name", "name of record set "+r.ID, strconv.Quote(name), "@ for the zone itself, or labels of 1..63 letters, digits, _ and -, of which the first may be *", "name it relative to its zone")
		}
	}
	ttl := r.props("ttl")
	if seconds, _ := ttl.number(); !ttl.unknown() && (seconds < 1 || seconds > 1<<31-1) {
		return refuse(BadRequest, "ttl", "ttl of record set "+r.ID, fmt.Sprintf("%.0f", seconds), "1 to 2147483647 seconds", "set ttl, such as 300")
	}
	addresses := r.props("aRecords")
	if addresses.unknown() {
		return nil
	}
	if n := len(addresses.list()); n < 1 || n > maxRecords {
		return refuse(BadRequest, "aRecords", "aRecords of "+r.ID, strconv.Itoa(n), "1 to 20, the limit of a record set", "list the addresses of the name")
	}
	seen := map[string]bool{}
	for _, each := range addresses.list() {
		address := each.get("ipv4Address")
		if address.unknown() {
			continue
		}
		if ip, err := netip.ParseAddr(address.text()); err != nil || !ip.Is4() || seen[address.text()] {
			return refuse(BadRequest, "aRecords.ipv4Address", "address in record set "+r.ID, strconv.Quote(address.text()), "an IPv4 address that the set has once", "correct or drop it")
		}
		seen[address.text()] = true
	}
	return nil
}

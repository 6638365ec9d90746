package stacks

import (
	"fmt"
	"net/netip"
	"slices"

	"onedoor/internal/az/flows"
	"onedoor/internal/az/netplan"
)

// doorsZone is the private zone in which the doors have their names. It is the
// stack's own in every mode of DNS. The top-level domain is kept for private use.
// https://www.icann.org/resources/board-material/resolutions-special-meeting-of-the-icann-board-29-07-2024-en
func (c *Config) doorsZone() string { return fmt.Sprintf("%s.%s.internal", c.stack, namespace) }

// doorURL is where callers reach a door.
func (c *Config) doorURL(door netplan.Door) string {
	return fmt.Sprintf("https://%s.%s", door, c.doorsZone())
}

// callers are who may open a connection to the door of the pods of a namespace:
// those whom the table of flows names, by their addresses.
func (c *Config) callers(namespace string) []netip.Prefix {
	var out []netip.Prefix
	site := c.site()
	for _, flow := range flows.Table {
		opens := flow.To.Holds(netplan.Doors) && slices.Contains(flow.To.Namespaces(), namespace) && (flow.When == nil || flow.When(site))
		if !opens {
			continue
		}
		for _, from := range flow.From.Prefixes(site) {
			out = append(out, netip.MustParsePrefix(from))
		}
	}
	slices.SortFunc(out, netip.Prefix.Compare)
	return slices.Compact(out)
}

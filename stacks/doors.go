package stacks

import (
	"fmt"

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

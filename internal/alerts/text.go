package alerts

import (
	"fmt"
	"strings"
	"time"
)

// Duration writes d as Azure Monitor does, in the largest unit that is whole:
// "PT15M", "PT6H", "P2D".
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return fmt.Sprintf("P%dD", d/day)
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("PT%dH", d/time.Hour)
	default:
		return fmt.Sprintf("PT%dM", d/time.Minute)
	}
}

// Runbook is where the alert's page is, below the address of all pages.
func (a Alert) Runbook(pages string) string {
	return strings.TrimSuffix(pages, "/") + "/" + a.ID + ".md"
}

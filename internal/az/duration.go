package az

import (
	"fmt"
	"strings"
	"time"
)

// Duration writes d, in whole seconds, as Azure takes durations: ISO 8601, as
// in "PT5M" or "P1DT2H".
func Duration(d time.Duration) string {
	seconds := int64(d / time.Second)
	var date, clock strings.Builder
	for _, unit := range []struct {
		length int64
		letter string
		to     *strings.Builder
	}{{86400, "D", &date}, {3600, "H", &clock}, {60, "M", &clock}, {1, "S", &clock}} {
		if n := seconds / unit.length; n > 0 {
			fmt.Fprintf(unit.to, "%d%s", n, unit.letter)
		}
		seconds %= unit.length
	}
	switch {
	case date.Len()+clock.Len() == 0:
		return "PT0S"
	case clock.Len() == 0:
		return "P" + date.String()
	default:
		return "P" + date.String() + "T" + clock.String()
	}
}

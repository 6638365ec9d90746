package az

import (
	"fmt"
	"time"
)

// Duration writes d, in whole seconds, as Azure takes durations: ISO 8601, as
// in "PT5M" or "P1DT2H".
func Duration(d time.Duration) string {
	seconds := int64(d / time.Second)
	s := "P"
	if days := seconds / 86400; days > 0 {
		s += fmt.Sprintf("%dD", days)
	}
	rest := seconds % 86400
	if rest == 0 && s != "P" {
		return s
	}
	s += "T"
	for _, unit := range []struct {
		length int64
		letter string
	}{{3600, "H"}, {60, "M"}, {1, "S"}} {
		if n := rest / unit.length; n > 0 {
			s += fmt.Sprintf("%d%s", n, unit.letter)
		}
		rest %= unit.length
	}
	if s == "PT" {
		return "PT0S"
	}
	return s
}

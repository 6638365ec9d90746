package picture

import (
	"math"
	"strconv"
)

// Text writes a number with its unit, short enough for an axis: "1.2M", "95 %".
func (u Unit) Text(v float64) string {
	switch u {
	case Percent:
		return digits(100*v) + " %"
	case PerSec:
		return digits(v) + "/s"
	case Seconds:
		if v != 0 && math.Abs(v) < 1 {
			return digits(1000*v) + " ms"
		}
		return digits(v) + " s"
	case Days:
		return digits(v) + " d"
	case Dollars:
		return "$" + digits(v)
	default:
		return digits(v)
	}
}

// digits writes three digits that count, with a letter for thousands and above.
func digits(v float64) string {
	for _, big := range []struct {
		from   float64
		letter string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= big.from {
			return strconv.FormatFloat(round(v/big.from), 'f', -1, 64) + big.letter
		}
	}
	return strconv.FormatFloat(round(v), 'f', -1, 64)
}

// round keeps three digits.
func round(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// ceiling is the least of 1, 2, 2.5 and 5 times a power of ten that is not below v:
// the end of an axis.
func ceiling(v float64) float64 {
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 2.5, 5, 10} {
		if v <= step*power*(1+1e-9) {
			return step * power
		}
	}
	return 10 * power
}

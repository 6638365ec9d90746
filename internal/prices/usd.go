package prices

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// USD is an amount of US dollars: a whole number of millionths of a
// micro-dollar, so that the price of one cached token is a whole number too
// and sums do not drift. It reaches 9.2 million dollars; more stays at that.
type USD int64

const (
	micro  USD = 1e6         // a millionth of a dollar
	dollar     = 1e6 * micro // one dollar

	// digits after the point that the table may have: a price per million tokens
	// with six of them is a whole USD per token.
	digits = 6
)

// Dollars makes an amount of whole dollars.
func Dollars(n int64) USD { return clamp(n, dollar) }

// Micro is the amount in micro-dollars, half of one rounded up.
func (u USD) Micro() int64 {
	down := int64(u / micro)
	if rest := u % micro; rest >= micro/2 {
		down++
	} else if rest < -micro/2 {
		down--
	}
	return down
}

// Float is the amount in dollars, for what has no exact numbers.
func (u USD) Float() float64 { return float64(u) / float64(dollar) }

// String is the amount in dollars to the micro-dollar, as in "1.250000".
func (u USD) String() string {
	m := u.Micro()
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%06d", sign, m/1e6, m%1e6)
}

// Whole is the amount in whole dollars, half of one rounded up, as in "1,250".
func (u USD) Whole() string { return Grouped((u.Micro() + 500_000) / 1_000_000) }

// Grouped writes a number with commas, as in "1,250".
func Grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Times is n times the amount.
func (u USD) Times(n int64) USD { return clamp(n, u) }

// Plus is the sum of both.
func (u USD) Plus(v USD) USD {
	switch sum := u + v; {
	case v > 0 && sum < u:
		return math.MaxInt64
	case v < 0 && sum > u:
		return math.MinInt64
	default:
		return sum
	}
}

// clamp is n times u, or as much of it as there is room for.
func clamp(n int64, u USD) USD {
	negative := (n < 0) != (u < 0)
	high, low := bits.Mul64(magnitude(n), magnitude(int64(u)))
	switch {
	case negative && (high > 0 || low > 1<<63):
		return math.MinInt64
	case negative:
		return USD(-low) //nolint:gosec // at most 2^63, whose negative is the least int64
	case high > 0 || low > math.MaxInt64:
		return math.MaxInt64
	default:
		return USD(low)
	}
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n) //nolint:gosec // two's complement: right for the least int64 too
	}
	return uint64(n)
}

// parse reads a decimal text in dollars, exactly.
func parse(text string) (USD, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	const want = "want dollars such as 1.25, with at most six digits after the point"
	if len(fraction) > digits || strings.HasSuffix(text, ".") || strings.ContainsAny(text, "+-") {
		return 0, fmt.Errorf("%q: %s", text, want)
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	if err != nil || whole == "" || n > int64(math.MaxInt64/micro) {
		return 0, fmt.Errorf("%q: %s", text, want)
	}
	return USD(n) * micro, nil
}

// MarshalJSON is the amount in dollars, as a number.
func (u USD) MarshalJSON() ([]byte, error) { return []byte(u.String()), nil }

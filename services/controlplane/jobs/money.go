package jobs

import "fmt"

// Money is an amount in millionths of a US dollar.
type Money int64

// Dollars is the amount in dollars, for people and for JSON.
func (m Money) Dollars() float64 { return float64(m) / 1e6 }

// String is the amount as in "12.345678".
func (m Money) String() string { return fmt.Sprintf("%d.%06d", m/1e6, m%1e6) }

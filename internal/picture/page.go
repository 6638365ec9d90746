// Package picture draws pages of panels as SVG, as dashboards and workbooks lay them
// out, so that documents can show them. The same page is the same bytes. What a page
// holds, and where its numbers come from, belongs to whoever calls. Only tests do: they
// keep the pictures as the definitions are.
package picture

// Page is a dashboard or a workbook.
type Page struct {
	Title  string
	Note   string // below the title: what the numbers are
	Panels []Panel
}

// Panel is one of them, with its place in a grid of Columns columns.
type Panel struct {
	Title      string
	X, Y, W, H int
	Query      string // that its numbers come from
	Unit       Unit
	Shape      Shape
	Series     []Series // of all shapes but tables
	Table      *Table   // of a table
}

// Columns is how many columns a page has.
const Columns = 24

// Shape is how a panel shows its numbers.
type Shape string

// The shapes.
const (
	Lines  Shape = "lines"
	Areas  Shape = "areas" // one upon another
	Bars   Shape = "bars"  // one upon another
	Tables Shape = "table"
)

// Unit is how numbers are written.
type Unit string

// The units, as Grafana names them.
const (
	Short   Unit = "short"
	PerSec  Unit = "ops"
	Percent Unit = "percentunit" // of 1
	Seconds Unit = "s"
	Days    Unit = "d"
	Dollars Unit = "currencyUSD"
)

// Series is a run of values at even distances, the oldest first. NaN is a gap.
type Series struct {
	Name   string
	Values []float64
}

// Table is the answer of a query.
type Table struct {
	Columns []string
	Rows    [][]string
	Numbers []bool // by column: written to the right
}

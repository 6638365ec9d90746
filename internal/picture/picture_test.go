package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func page() Page {
	return Page{Title: "A & B", Note: "made up", Panels: []Panel{
		{Title: "Left", W: 12, H: 8, Query: `sum(rate(a{x="<y>"}[5m]))`, Unit: Percent, Shape: Lines, Series: []Series{{"one", []float64{0, 0.5, math.NaN(), 1}}}},
		{Title: "Right", X: 12, W: 12, H: 8, Query: "b", Shape: Bars, Series: []Series{{"one", []float64{1, 2}}, {"two", []float64{3, 1}}}},
		{Title: "Below", Y: 8, W: 24, H: 6, Query: "c", Shape: Tables, Table: &Table{Columns: []string{"tenant", "usd"}, Rows: [][]string{{"labs", "4.5"}, {"desk", "1"}}, Numbers: []bool{false, true}}},
	}}
}

// Whatever names and queries hold, a browser can read the picture.
func TestPicturesAreWellFormed(t *testing.T) {
	t.Parallel()
	text := SVG(page())
	in := xml.NewDecoder(strings.NewReader(string(text)))
	var texts []string
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if data, ok := token.(xml.CharData); ok && strings.TrimSpace(string(data)) != "" {
			texts = append(texts, string(data))
		}
	}
	for _, want := range []string{"A & B", "made up", "Left", "Right", "Below", `sum(rate(a{x="<y>"}[5m]))`, "0 %", "50 %", "100 %", "one", "two", "labs", "4.5", "desk"} {
		assert.Contains(t, texts, want)
	}
	assert.Equal(t, text, SVG(page()), "the same page is the same bytes")
	assert.NotContains(t, string(text), "NaN")
}

// A line has a gap where there is no value, and bars stand upon one another.
func TestPlots(t *testing.T) {
	t.Parallel()
	text := string(SVG(page()))
	assert.Contains(t, text, `d="M58 228h0L192.7 163M462 98h0"`, "from the foot to the top, with a gap")
	assert.Contains(t, text, `<rect x="568.3" y="202" width="141.4" height="26" fill="#0072b2"/>`)
	assert.Contains(t, text, `<rect x="568.3" y="124" width="141.4" height="78" fill="#e69f00"/>`, "on the one below, whose top it is")
	assert.NotContains(t, string(SVG(Page{Panels: []Panel{{W: 12, H: 8}}})), "<path", "nothing to draw")
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit Unit
		v    float64
		want string
	}{
		{Short, 0, "0"}, {Short, 12, "12"}, {Short, 1234, "1.23k"}, {Short, 5e6, "5M"}, {Short, 2.5e9, "2.5G"}, {Short, 0.0512, "0.0512"}, {Short, -1500, "-1.5k"},
		{Percent, 0.955, "95.5 %"}, {Seconds, 0.2, "200 ms"}, {Seconds, 2.5, "2.5 s"}, {PerSec, 0.5, "0.5/s"}, {Days, 13, "13 d"}, {Dollars, 37.037, "$37"},
	} {
		assert.Equal(t, c.want, c.unit.Text(c.v))
	}
	for v, want := range map[float64]float64{0: 1, 0.9: 1, 1: 1, 1.1: 2, 2.2: 2.5, 3: 5, 7: 10, 12: 20, 900: 1000, 1000: 1000, math.Inf(1): 1} {
		assert.InDelta(t, want, ceiling(v), 1e-9, "%v", v)
	}
}

package picture

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Sizes, in pixels.
const (
	column  = 40  // width of a column of the grid
	line    = 26  // height of a row of it
	gap     = 8   // around panels
	head    = 64  // of the page
	left    = 54  // of a plot, for the axis
	top     = 30  // of a plot, for the title
	bottom  = 40  // of a plot, for the legend and the query
	rowStep = 20  // of a table
	letter  = 6.2 // width of one in the text of 11 pixels
)

// colours of series, told apart by people who do not see red and green apart.
// https://jfly.uni-koeln.de/color/
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999"}

// SVG draws the page.
func SVG(p Page) []byte {
	width, height := Columns*column, head
	for _, panel := range p.Panels {
		height = max(height, head+(panel.Y+panel.H)*line)
	}
	height += gap
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="11" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(p.Title))
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#f4f5f5"/>`+"\n", width, height)
	write(&out, gap+4, 28, `font-size="18" font-weight="600"`, p.Title)
	write(&out, gap+4, 50, `fill="#555"`, p.Note)
	for _, panel := range p.Panels {
		panel.draw(&out)
	}
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// write writes a text whose foot is at a place.
func write(out *strings.Builder, x, y float64, style, text string) {
	fmt.Fprintf(out, `<text x="%s" y="%s" %s>%s</text>`+"\n", num(x), num(y), style, html.EscapeString(text))
}

// num writes a place, to a tenth of a pixel.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// fit cuts a text to a width.
func fit(text string, width float64) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if most := int(width / letter); len(runes) > most {
		return string(runes[:max(0, most-1)]) + "…"
	}
	return string(runes)
}

// box is a place on the page.
type box struct{ x, y, w, h float64 }

func (p Panel) draw(out *strings.Builder) {
	b := box{float64(p.X*column + gap/2), float64(head + p.Y*line + gap/2), float64(p.W*column - gap), float64(p.H*line - gap)}
	fmt.Fprintf(out, `<g><title>%s</title>`+"\n", html.EscapeString(p.Query))
	fmt.Fprintf(out, `<rect x="%s" y="%s" width="%s" height="%s" rx="3" fill="#fff" stroke="#d5d7d8"/>`+"\n", num(b.x), num(b.y), num(b.w), num(b.h))
	write(out, b.x+10, b.y+19, `font-size="12" font-weight="600"`, fit(p.Title, b.w-20))
	if p.Shape == Tables {
		p.Table.draw(out, b)
	} else {
		p.plot(out, box{b.x + left, b.y + top, b.w - left - 14, b.h - top - bottom})
		p.legend(out, b)
	}
	write(out, b.x+10, b.y+b.h-7, `font-family="monospace" font-size="9" fill="#777"`, fit(p.Query, (b.w-20)*letter/5.6))
	out.WriteString("</g>\n")
}

// plot draws axes and series.
func (p Panel) plot(out *strings.Builder, b box) {
	stacked := p.Shape != Lines
	most := ceiling(p.most(stacked))
	for i := range 3 {
		share := float64(i) / 2
		y := b.y + b.h*(1-share)
		fmt.Fprintf(out, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="#e4e5e6"/>`+"\n", num(b.x), num(y), num(b.x+b.w), num(y))
		write(out, b.x-6, y+4, `text-anchor="end" fill="#555"`, p.Unit.Text(most*share))
	}
	if len(p.Series) == 0 {
		write(out, b.x+b.w/2, b.y+b.h/2, `text-anchor="middle" fill="#777"`, "no data")
		return
	}
	below := make([]float64, len(p.Series[0].Values))
	for i, s := range p.Series {
		colour := colours[i%len(colours)]
		switch p.Shape {
		case Bars:
			bars(out, b, s.Values, below, most, colour)
		case Areas:
			area(out, b, s.Values, below, most, colour)
		default:
			curve(out, b, s.Values, most, colour)
		}
		for at, v := range s.Values {
			if stacked && !math.IsNaN(v) {
				below[at] += v
			}
		}
	}
}

// most is the greatest value that is drawn.
func (p Panel) most(stacked bool) float64 {
	most := 0.0
	for at := range p.length() {
		total := 0.0
		for _, s := range p.Series {
			if v := s.Values[at]; !math.IsNaN(v) {
				most = max(most, v)
				total += v
			}
		}
		if stacked {
			most = max(most, total)
		}
	}
	return most
}

func (p Panel) length() int {
	if len(p.Series) == 0 {
		return 0
	}
	return len(p.Series[0].Values)
}

// at is the place of the n-th of so many values.
func (b box) at(n, of int, v, most float64) (x, y float64) {
	return b.x + b.w*float64(n)/float64(max(1, of-1)), b.y + b.h*(1-v/most)
}

// curve draws a line with its gaps.
func curve(out *strings.Builder, b box, values []float64, most float64, colour string) {
	var path strings.Builder
	begins := true
	for n, v := range values {
		if math.IsNaN(v) {
			begins = true
			continue
		}
		x, y := b.at(n, len(values), v, most)
		if begins {
			path.WriteString("M" + num(x) + " " + num(y) + "h0") // seen even without a neighbour
		} else {
			path.WriteString("L" + num(x) + " " + num(y))
		}
		begins = false
	}
	fmt.Fprintf(out, `<path d="%s" fill="none" stroke="%s" stroke-width="1.6" stroke-linecap="round"/>`+"\n", path.String(), colour)
}

// area draws values upon those below.
func area(out *strings.Builder, b box, values, below []float64, most float64, colour string) {
	var up, down []string
	for n, v := range values {
		if math.IsNaN(v) {
			v = 0
		}
		x, y := b.at(n, len(values), below[n]+v, most)
		_, foot := b.at(n, len(values), below[n], most)
		up = append(up, num(x)+" "+num(y))
		down = append([]string{num(x) + " " + num(foot)}, down...)
	}
	fmt.Fprintf(out, `<path d="M%sL%sZ" fill="%s" fill-opacity="0.75"/>`+"\n", strings.Join(up, "L"), strings.Join(down, "L"), colour)
}

// bars draws values upon those below.
func bars(out *strings.Builder, b box, values, below []float64, most float64, colour string) {
	step := b.w / float64(len(values))
	for n, v := range values {
		if math.IsNaN(v) || v == 0 {
			continue
		}
		fmt.Fprintf(out, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
			num(b.x+step*(float64(n)+0.15)), num(b.y+b.h*(1-(below[n]+v)/most)), num(step*0.7), num(b.h*v/most), colour)
	}
}

// legend names the series, as many as there is room for.
func (p Panel) legend(out *strings.Builder, b box) {
	x := b.x + 10
	for i, s := range p.Series {
		w := 20 + letter*float64(len([]rune(s.Name)))
		if x+w > b.x+b.w {
			write(out, x, b.y+b.h-22, `fill="#555"`, "…")
			return
		}
		fmt.Fprintf(out, `<rect x="%s" y="%s" width="9" height="9" fill="%s"/>`+"\n", num(x), num(b.y+b.h-30), colours[i%len(colours)])
		write(out, x+13, b.y+b.h-22, `fill="#333"`, s.Name)
		x += w + 8
	}
}

// draw writes as many rows as there is room for.
func (t *Table) draw(out *strings.Builder, b box) {
	room := int((b.h - top - bottom/2) / rowStep)
	wide := (b.w - 20) / float64(len(t.Columns))
	row := func(n int, style string, cells []string) {
		for i, cell := range cells {
			x, anchor := b.x+10+wide*float64(i), ""
			if t.Numbers[i] {
				x, anchor = x+wide-16, ` text-anchor="end"`
			}
			write(out, x, b.y+top+14+float64(n*rowStep), style+anchor, fit(cell, wide-12))
		}
	}
	row(0, `font-weight="600" fill="#333"`, t.Columns)
	for n, cells := range t.Rows[:min(len(t.Rows), max(0, room-1))] {
		row(n+1, `fill="#333"`, cells)
	}
}

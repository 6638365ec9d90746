package graph

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

//go:embed picture.css
var style string

// SVG writes the picture for wide screens and paper as a file of its own.
func (g Graph) SVG(w io.Writer) error { return g.file(w, wide) }

// NarrowSVG writes the picture for narrow screens as a file of its own.
func (g Graph) NarrowSVG(w io.Writer) error { return g.file(w, narrow) }

func (g Graph) file(w io.Writer, f frame) error {
	_, err := io.WriteString(w, g.draw(f, ` xmlns="http://www.w3.org/2000/svg"`, "<style>\n"+style+"</style>\n"))
	return err
}

// canvas collects the elements of a picture.
type canvas struct {
	strings.Builder
	l layout
}

// draw is the picture in a frame. extra are more attributes of its root, and head
// what it begins with.
func (g Graph) draw(f frame, extra, head string) string {
	c := &canvas{}
	heading := f.paragraph("Every model call goes through one metered door", g.heading(), "", f.width-2*f.margin)
	c.l = f.place(g.Boxes, f.margin+heading.height+2.2*f.title)
	c.paragraph(heading, f.margin, f.margin)
	c.wall(outerWall, "around the platform")
	c.wall(innerWall, "around the models")
	numbers := c.flows(g)
	for _, b := range g.Boxes {
		c.box(b)
	}
	c.WriteString(numbers)
	y := c.l.bottom() + 2.8*f.title
	y = c.cards("The walls: what refuses every other way", "wall", g.Walls, y)
	y = c.cards("What it stands on", "ground", g.Ground, y)
	y = c.list(g, y)

	var out strings.Builder
	fmt.Fprintf(&out, `<svg%s class="onedoor" viewBox="0 0 %s %s" role="img" aria-label="%s">`+"\n", extra, num(f.width), num(y+f.margin), html.EscapeString(g.Summary()))
	out.WriteString(head)
	fmt.Fprintf(&out, `<rect class="paper" width="%s" height="%s" rx="8"/>`+"\n", num(f.width), num(y+f.margin))
	out.WriteString(c.String())
	out.WriteString("</svg>\n")
	return out.String()
}

// Summary is the picture in one sentence, for whoever does not see it.
func (g Graph) Summary() string {
	var doors, models []string
	for _, b := range g.Boxes {
		switch b.Role {
		case Door:
			doors = append(doors, strings.ToLower(b.Title))
		case Target:
			models = append(models, strings.ToLower(b.Title))
		}
	}
	return fmt.Sprintf("The platform of stack %s: tenants reach %s through %s alone.", g.Stack, strings.Join(models, ", "), strings.Join(doors, ", "))
}

// heading says what the picture is of.
func (g Graph) heading() []string {
	out := []string{fmt.Sprintf("Stack %s in %s, %d resources. An arrow shows who opens a connection to whom; its number is the row in the table of flows.", g.Stack, g.Location, g.Resources)}
	if !g.OK {
		out = append(out, "THE PLAN IS NOT WHAT IT MUST BE: onedoor reach says why.")
	}
	return out
}

// text writes one line.
func (c *canvas) text(class string, x, y, size float64, text string) {
	fmt.Fprintf(c, `<text class="%s" x="%s" y="%s" font-size="%s">%s</text>`+"\n", class, num(x), num(y), num(size), html.EscapeString(text))
}

// xy is a point on the page.
func (l layout) xy(p point) (x, y float64) {
	if l.narrow {
		return p.across, p.along
	}
	return p.along, p.across
}

// rect is an area on the page.
func (c *canvas) rect(class string, a area, more string) {
	x0, y0 := c.l.xy(point{a.along.from, a.across.from})
	x1, y1 := c.l.xy(point{a.along.to, a.across.to})
	fmt.Fprintf(c, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"%s/>`+"\n", class, num(x0), num(y0), num(x1-x0), num(y1-y0), more)
}

// beyond is how far walls reach past the lanes.
const beyond = 8

// wall draws a wall of bricks over all lanes, with its name where there is room.
func (c *canvas) wall(layer int, words string) {
	along, across := c.l.walls[layer], span{c.l.sides.from - beyond, c.l.sides.to + beyond}
	c.rect("wall", area{along, across}, "")
	if c.l.words {
		x, y := c.l.xy(point{along.mid(), across.from - 5})
		c.text("caption", x, y, c.l.text*0.88, words)
	}
	const brick = 18
	var d strings.Builder
	line := func(a, b point) {
		x0, y0 := c.l.xy(a)
		x1, y1 := c.l.xy(b)
		fmt.Fprintf(&d, "M%s %sL%s %s", num(x0), num(y0), num(x1), num(y1))
	}
	line(point{along.mid(), across.from}, point{along.mid(), across.to})
	for i, at := 0, across.from+brick/2; at < across.to; i, at = i+1, at+brick/2 {
		half := span{along.from, along.mid()}
		if i%2 == 1 {
			half = span{along.mid(), along.to}
		}
		line(point{half.from, at}, point{half.to, at})
	}
	fmt.Fprintf(c, `<path class="mortar" d="%s"/>`+"\n", d.String())
}

// opening is how wide a hole in a wall is.
const opening = 26

// flows draws the arrows, and returns their numbers, which come on top.
func (c *canvas) flows(g Graph) string {
	top := &canvas{l: c.l}
	for _, a := range arrows {
		var numbers []string
		var whys []string
		state := Connects
		for _, f := range g.Flows {
			if f.From != a.from || f.To != a.to {
				continue
			}
			numbers = append(numbers, strconv.Itoa(f.Number))
			whys = append(whys, fmt.Sprintf("flow %d, port %s: %s (%s)", f.Number, f.Ports, f.Why, f.State))
			if f.State != Connects {
				state = f.State
			}
		}
		if len(numbers) == 0 {
			continue
		}
		route := a.route(c.l.boxes[a.from], c.l.boxes[a.to], c.l)
		c.openings(route)
		fmt.Fprintf(c, `<g class="flow %s"><title>%s</title>`+"\n", state, html.EscapeString(strings.Join(whys, "\n")))
		fmt.Fprintf(c, `<path class="line" d="%s"/>`+"\n", c.line(route))
		fmt.Fprintf(c, `<path class="head" d="%s"/></g>`+"\n", c.head(route))
		top.badge(string(state), route, strings.Join(numbers, ","), a.words)
	}
	return top.String()
}

// openings break the wall of the models where a flow goes through it and no door
// stands. The outer wall has doors alone.
func (c *canvas) openings(route []point) {
	wall := c.l.walls[innerWall]
	for i, to := range route[1:] {
		from := route[i]
		if from.across != to.across || min(from.along, to.along) > wall.from || max(from.along, to.along) < wall.to {
			continue
		}
		c.rect("paper", area{span{wall.from - 1, wall.to + 1}, span{to.across - opening/2, to.across + opening/2}}, "")
		for _, side := range []float64{-opening / 2, opening / 2} {
			c.rect("post", area{span{wall.from - 2, wall.to + 2}, span{to.across + side - 2, to.across + side + 2}}, "")
		}
	}
}

// headSize is how long and half as wide the head of an arrow is.
const headSize = 8

// line is a way with rounded corners, up to the arrow's head.
func (c *canvas) line(route []point) string {
	const radius = 8
	var d strings.Builder
	for i, p := range route {
		x, y := c.l.xy(p)
		switch {
		case i == 0:
			fmt.Fprintf(&d, "M%s %s", num(x), num(y))
		case i == len(route)-1:
			x, y = c.l.xy(toward(p, route[i-1], headSize-1))
			fmt.Fprintf(&d, "L%s %s", num(x), num(y))
		default:
			ax, ay := c.l.xy(toward(p, route[i-1], radius))
			bx, by := c.l.xy(toward(p, route[i+1], radius))
			fmt.Fprintf(&d, "L%s %sQ%s %s %s %s", num(ax), num(ay), num(x), num(y), num(bx), num(by))
		}
	}
	return d.String()
}

// head is the head of the arrow at the end of a way.
func (c *canvas) head(route []point) string {
	end := route[len(route)-1]
	base := toward(end, route[len(route)-2], headSize)
	a, b := base, base
	if base.across == end.across {
		a.across, b.across = a.across-headSize/2, b.across+headSize/2
	} else {
		a.along, b.along = a.along-headSize/2, b.along+headSize/2
	}
	ex, ey := c.l.xy(end)
	ax, ay := c.l.xy(a)
	bx, by := c.l.xy(b)
	return fmt.Sprintf("M%s %sL%s %sL%s %sZ", num(ex), num(ey), num(ax), num(ay), num(bx), num(by))
}

// toward is the point a distance from p on the way to q.
func toward(p, q point, distance float64) point {
	length := math.Hypot(q.along-p.along, q.across-p.across)
	distance = min(distance, length/2)
	return point{p.along + (q.along-p.along)*distance/length, p.across + (q.across-p.across)*distance/length}
}

// badge puts a flow's number, and where there is room its words, on the longest
// part of its way.
func (c *canvas) badge(state string, route []point, number, words string) {
	f := c.l.frame
	best, at := -1.0, point{}
	level := true
	for i, to := range route[1:] {
		from := route[i]
		if length := math.Hypot(to.along-from.along, to.across-from.across); length > best {
			best, at = length, point{(from.along + to.along) / 2, (from.across + to.across) / 2}
			level = (from.across == to.across) != c.l.narrow
		}
	}
	if c.l.boxes[Gateway].along.to < at.along && best > 300 { // a long way is named where it begins
		at.along = c.l.boxes[Gateway].along.to + 76
	}
	x, y := c.l.xy(at)
	half := f.badge + 2*float64(len(number)-2)
	fmt.Fprintf(c, `<g class="flow %s"><rect class="badge" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, state, num(x-half-1), num(y-f.badge+1), num(2*half+2), num(2*f.badge-2), num(f.badge-1))
	fmt.Fprintf(c, `<text class="number" x="%s" y="%s" font-size="%s">%s</text></g>`+"\n", num(x), num(y+f.badge*0.4), num(f.badge*1.15), number)
	if f.words && level && words != "" {
		fmt.Fprintf(c, `<text class="words" x="%s" y="%s" font-size="%s">%s</text>`+"\n", num(x), num(y-f.badge-3), num(f.text*0.88), words)
	}
}

// box draws one box with its text.
func (c *canvas) box(b Box) {
	f, a, p := c.l.frame, c.l.boxes[b.ID], c.l.texts[b.ID]
	fmt.Fprintf(c, `<g class="%s"><title>%s</title>`+"\n", b.Role, html.EscapeString(strings.Join(append([]string{b.Title}, b.Facts...), "\n")))
	c.rect("box", a, ` rx="7"`)
	x0, y0 := c.l.xy(point{a.along.from, a.across.from})
	_, y1 := c.l.xy(point{a.along.to, a.across.to})
	c.paragraph(p, x0+f.pad, y0+(y1-y0-p.height)/2)
	c.WriteString("</g>\n")
}

// paragraph writes a title and facts below y.
func (c *canvas) paragraph(p paragraph, x, y float64) {
	f := c.l.frame
	for _, line := range p.title {
		y += f.title * leading
		c.text("title", x, y-0.28*f.title, f.title, line)
	}
	for _, fact := range p.facts {
		y += f.apart
		for _, line := range fact {
			y += f.text * leading
			c.text("fact", x, y-0.28*f.text, f.text, line)
		}
	}
	y += f.apart
	for _, line := range p.proof {
		y += f.text * leading
		c.text("proof", x, y-0.28*f.text, f.text, line)
	}
}

// cards draws a heading and cards in rows from y on, and returns where they end.
func (c *canvas) cards(heading, class string, cards []Card, y float64) float64 {
	f := c.l.frame
	const gap = 10
	c.text("h2", f.margin, y, f.title, heading)
	y += 0.6 * f.title
	for start := 0; start < len(cards); {
		row := cards[start:min(start+f.cards, len(cards))]
		start += len(row)
		width := (f.width - 2*f.margin - gap*float64(len(row)-1)) / float64(len(row))
		height := 0.0
		var texts []paragraph
		for _, card := range row {
			p := f.paragraph(card.Title, card.Facts, "", width-2*f.pad)
			texts, height = append(texts, p), max(height, p.height)
		}
		for i, p := range texts {
			x := f.margin + float64(i)*(width+gap)
			fmt.Fprintf(c, `<g class="%s"><rect class="box" x="%s" y="%s" width="%s" height="%s" rx="7"/>`+"\n", class, num(x), num(y), num(width), num(height+2*f.pad))
			c.paragraph(p, x+f.pad, y+f.pad)
			c.WriteString("</g>\n")
		}
		y += height + 2*f.pad + gap
	}
	return y + f.title*1.4
}

// list writes what each number of a flow is, and returns where it ends.
func (c *canvas) list(g Graph, y float64) float64 {
	f := c.l.frame
	c.text("h2", f.margin, y, f.title, "Flows between them; everything else is denied")
	y += 0.4 * f.title
	width := (f.width - 2*f.margin) / float64(f.flowCols)
	rows := (len(g.Flows) + f.flowCols - 1) / f.flowCols
	end := y
	for col := range f.flowCols {
		at := y
		for _, flow := range g.Flows[min(col*rows, len(g.Flows)):min((col+1)*rows, len(g.Flows))] {
			x := f.margin + float64(col)*width
			for i, line := range wrap(flow.Why+", port "+flow.Ports+mark(flow.State), width-28-f.pad, f.text*regular) {
				at += f.text * leading * 1.08
				if i == 0 {
					c.text("ref "+string(flow.State), x, at, f.text, strconv.Itoa(flow.Number))
				}
				c.text("fact", x+28, at, f.text, line)
			}
		}
		end = max(end, at)
	}
	return end
}

// mark says what is wrong with a flow.
func mark(s FlowState) string {
	switch s {
	case Blocked:
		return ": HELD BACK"
	case Unproven:
		return ": the plan cannot tell"
	default:
		return ""
	}
}

// num writes a number with at most one decimal.
func num(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

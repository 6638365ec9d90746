package graph

import "slices"

// A picture has two directions: along goes from the callers to the models, in
// layers, and across goes over the lanes beside one another. A wide picture goes
// along from left to right, a narrow one from top to bottom.

// slot is where a box stands: its layer, and its first and last lane.
type slot struct{ layer, first, last int }

var slots = map[ID]slot{
	Callers:      {0, 0, 3},
	Gateway:      {1, 0, 1},
	ControlPlane: {1, 3, 3},
	Queues:       {2, 2, 2},
	Workers:      {3, 2, 2},
	Edge:         {4, 1, 1},
	Accounts:     {5, 0, 0},
	Servers:      {5, 1, 1},
	BatchAccount: {5, 3, 3},
}

// The layers of the walls: the one around the platform, in which the doors stand,
// and the one around the models.
const (
	outerWall = 1
	innerWall = 4
)

// frame is the measures of one kind of picture, in pixels.
type frame struct {
	narrow bool
	width  float64 // of the picture
	margin float64
	text   float64 // size of facts
	title  float64 // size of titles
	apart  float64 // between facts
	pad    float64 // between a box and its text
	badge  float64 // radius of a flow's number
	words  bool    // arrows carry words

	layers   []float64 // extents along of each layer in a wide picture
	lanes    []float64 // extents across of each lane in a narrow picture
	between  []float64 // before each layer
	gaps     []float64 // before each lane
	cards    int       // beside one another
	flowCols int       // of the list of flows
}

var wide = frame{
	width: 1120, margin: 20, text: 14, title: 16, apart: 4, pad: 12, badge: 10, words: true,
	layers:  []float64{122, 184, 122, 146, 120, 210},
	between: []float64{0, 66, 54, 50, -40, 46},
	lanes:   []float64{0, 0, 0, 0},
	gaps:    []float64{0, 26, 58, 40},
	cards:   6, flowCols: 2,
}

var narrow = frame{
	narrow: true, width: 400, margin: 10, text: 10, title: 12, apart: 3, pad: 6, badge: 8,
	layers:  []float64{0, 0, 0, 0, 0, 0},
	between: []float64{0, 42, 34, 30, 30, 40},
	lanes:   []float64{92, 82, 78, 94},
	gaps:    []float64{0, 6, 22, 6},
	cards:   2, flowCols: 1,
}

// span is an extent in one direction.
type span struct{ from, to float64 }

func (s span) mid() float64            { return (s.from + s.to) / 2 }
func (s span) at(part float64) float64 { return s.from + (s.to-s.from)*part }

// area is a rectangle by direction.
type area struct{ along, across span }

// point is a point by direction.
type point struct{ along, across float64 }

// layout is where everything is, by direction.
type layout struct {
	frame
	boxes map[ID]area
	texts map[ID]paragraph
	walls map[int]span // along, by layer
	sides span         // across, of all lanes
	end   float64      // where the boxes end, along
}

// place lays out boxes whose text begins at top, the first pixel below the heading.
func (f frame) place(boxes []Box, top float64) layout {
	l := layout{frame: f, boxes: map[ID]area{}, texts: map[ID]paragraph{}, walls: map[int]span{}}
	layers, lanes := slices.Clone(f.layers), slices.Clone(f.lanes)
	if f.narrow {
		lanes = f.lanes
	}
	for _, b := range boxes {
		s := slots[b.ID]
		width := f.layers[s.layer]
		if f.narrow {
			width = sum(f.lanes[s.first:s.last+1]) + sum(f.gaps[s.first+1:s.last+1])
		}
		l.texts[b.ID] = f.paragraph(b.Title, b.Facts, b.Proof, width-2*f.pad)
		height := l.texts[b.ID].height + 2*f.pad
		if f.narrow {
			layers[s.layer] = max(layers[s.layer], height)
			continue
		}
		if short := height - sum(lanes[s.first:s.last+1]) - sum(f.gaps[s.first+1:s.last+1]); short > 0 {
			for lane := s.first; lane <= s.last; lane++ { // what a box of several lanes lacks, they share
				lanes[lane] += short / float64(s.last-s.first+1)
			}
		}
	}
	start, side := f.margin, top
	if f.narrow {
		start, side = top, f.margin
	}
	along, across := spans(start, layers, f.between), spans(side, lanes, f.gaps)
	l.sides = span{across[0].from, across[len(across)-1].to}
	l.end = along[len(along)-1].to
	for _, b := range boxes {
		s := slots[b.ID]
		l.boxes[b.ID] = area{along[s.layer], span{across[s.first].from, across[s.last].to}}
	}
	const thick = 16
	for _, layer := range []int{outerWall, innerWall} {
		l.walls[layer] = span{along[layer].mid() - thick/2, along[layer].mid() + thick/2}
	}
	return l
}

// bottom is the first pixel below the boxes.
func (l layout) bottom() float64 {
	if l.narrow {
		return l.end
	}
	return l.sides.to
}

// spans puts extents behind one another, each after its gap.
func spans(start float64, sizes, gaps []float64) []span {
	out := make([]span, len(sizes))
	for i, size := range sizes {
		start += gaps[i]
		out[i] = span{start, start + size}
		start += size
	}
	return out
}

func sum(of []float64) float64 {
	total := 0.0
	for _, x := range of {
		total += x
	}
	return total
}

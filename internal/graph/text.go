package graph

import "strings"

// paragraph is a title, facts and a proof, broken into lines.
type paragraph struct {
	title  []string
	facts  [][]string
	proof  []string
	height float64
}

// leading is the height of a line for a size of type.
const leading = 1.3

// paragraph breaks a title, facts and a proof to fit a width.
func (f frame) paragraph(title string, facts []string, proof string, width float64) paragraph {
	p := paragraph{title: wrap(title, width, f.title*bold), proof: wrap(proof, width, f.text*bold)}
	p.height = float64(len(p.title))*f.title*leading + float64(len(p.proof))*f.text*leading
	if proof != "" {
		p.height += f.apart
	}
	for _, fact := range facts {
		lines := wrap(fact, width, f.text*regular)
		p.facts = append(p.facts, lines)
		p.height += f.apart + float64(len(lines))*f.text*leading
	}
	return p
}

// How wide a character is on average, by size of type: a little more than the
// common sans-serif fonts have, since the reader's is not known.
const (
	regular = 0.56
	bold    = 0.61
)

// wrap breaks text between words, and after hyphens where a word alone is too long.
func wrap(text string, width, char float64) []string {
	most := max(int(width/char), 4)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for _, part := range parts(word, most) {
			switch {
			case line == "":
				line = part.text
			case len(line)+len(part.glue)+len(part.text) <= most:
				line += part.glue + part.text
			default:
				lines, line = append(lines, line), part.text
			}
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// part is a piece of text and what joins it to the one before.
type part struct{ glue, text string }

// parts breaks a word that is too long after its hyphens, or anywhere.
func parts(word string, most int) []part {
	if len(word) <= most {
		return []part{{" ", word}}
	}
	var out []part
	glue := " "
	for _, piece := range strings.SplitAfter(word, "-") {
		for len(piece) > most {
			out = append(out, part{glue, piece[:most]})
			piece, glue = piece[most:], ""
		}
		out = append(out, part{glue, piece})
		glue = ""
	}
	return out
}

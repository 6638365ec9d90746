package docs

import (
	"fmt"
	"strings"
)

// page is a page in Markdown.
type page struct{ strings.Builder }

// newPage begins a page. from says what it is made of.
func newPage(title, from string) *page {
	p := &page{}
	fmt.Fprintf(p, "# %s\n\n", title)
	p.say("Made by `onedoor docs` from %s. Do not edit it: the command writes it again, and a test compares.", from)
	return p
}

// say writes a paragraph.
func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format+"\n\n", args...) }

// head writes a heading below the title.
func (p *page) head(text string) { fmt.Fprintf(p, "## %s\n\n", text) }

// table writes a table; nothing where there are no rows.
func (p *page) table(columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.row(columns)
	p.row(slicesOf("---", len(columns)))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(cell), "|", `\|`), "\n", "<br>")
		}
		p.row(cells)
	}
	p.WriteString("\n")
}

func (p *page) row(cells []string) { p.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// bytes is the page as it is written to its file.
func (p *page) bytes() []byte { return []byte(strings.TrimRight(p.String(), "\n") + "\n") }

func slicesOf(text string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = text
	}
	return out
}

// code marks text as code; "" stays "".
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// plain keeps text from being read as HTML or emphasis.
func plain(text string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`).Replace(text)
}

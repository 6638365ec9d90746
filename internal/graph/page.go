package graph

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("page").Parse(page))

// HTML writes the picture as one page that needs nothing else. It shows the wide or
// the narrow one, as the screen is, and says all of it in words too.
func (g Graph) HTML(w io.Writer) error {
	return pageTemplate.Execute(w, struct {
		Graph
		Style        template.CSS
		Wide, Narrow template.HTML
	}{g, template.CSS(style), template.HTML(g.draw(wide, "", "")), template.HTML(g.draw(narrow, "", ""))})
}

// Title is the title of the box that a flow begins or ends at.
func (g Graph) Title(id ID) string {
	return g.box(id).Title
}

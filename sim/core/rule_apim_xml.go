package core

import (
	"strings"

	"onedoor/internal/apimpolicy"
)

// serviceForm renders a policy document as the service answers it: indented with
// tabs, lines ended by CR and LF, attributes in double quotes, C# escaped,
// comments dropped (A537).
func serviceForm(document *apimpolicy.Node) string {
	var out strings.Builder
	writeServiceForm(&out, document, 0)
	return strings.TrimSuffix(out.String(), "\r\n")
}

func writeServiceForm(out *strings.Builder, n *apimpolicy.Node, depth int) {
	indent := strings.Repeat("\t", depth)
	out.WriteString(indent + "<" + n.Name)
	for _, attr := range n.Attrs {
		out.WriteString(" " + attr.Name + `="` + xmlEscapes.Replace(attr.Value) + `"`)
	}
	switch {
	case len(n.Children) > 0:
		out.WriteString(">\r\n")
		for _, child := range n.Children {
			writeServiceForm(out, child, depth+1)
		}
		out.WriteString(indent + "</" + n.Name + ">\r\n")
	case n.Text != "":
		out.WriteString(">" + xmlEscapes.Replace(n.Text) + "</" + n.Name + ">\r\n")
	default:
		out.WriteString(" />\r\n")
	}
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

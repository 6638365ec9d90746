package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"onedoor/internal/policypack/results"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"shown": shown, "short": Short, "explain": explain,
	"class": func(state string) string { return strings.ReplaceAll(state, " ", "-") },
	"count": func(j judged, state results.State) int { return len(j.With(state)) },
	"of":    func(j judged, states ...results.State) []results.Result { return j.With(states...) },
}).Parse(pageSource))

// HTML is the document as one page that needs neither network nor script: the
// verdict, who can reach a model and by which layer, every control and every
// rule. What failed is linked from the top.
func HTML(d results.Document, c Catalog) ([]byte, error) {
	rules := byRule(d, c)
	type guardedDoor struct {
		Name   string
		Layers []guarded
	}
	var guards []guardedDoor
	for _, door := range doors {
		g := guardedDoor{Name: door.Name}
		for _, l := range door.Layers {
			g.Layers = append(g.Layers, l.guard(rules))
		}
		guards = append(guards, g)
	}
	var out bytes.Buffer
	err := page.Execute(&out, map[string]any{
		"Title": d.Subject.Project + "/" + d.Subject.Stack, "Azure": azure(d.Subject), "Verdict": verdict(d), "Refused": d.Summary.Blocking > 0,
		"Counts": counts(d), "Subject": subject(d), "Rules": rules, "Controls": byControl(rules), "Doors": guards,
	})
	return out.Bytes(), err
}

package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// bypass is a row of the list of ways round the doors: what of it readers need.
type bypass struct {
	Name      string `yaml:"name"`
	Models    bool   `yaml:"models"`
	RefusedBy struct {
		Packs   []string `yaml:"packs"`
		Network struct {
			Finding string `yaml:"finding"`
			Closed  []struct{ From, To string }
		} `yaml:"network"`
		AzurePolicy []string                        `yaml:"azurePolicy"`
		Roles       []yaml.Node                     `yaml:"roles"`
		Gateway     []struct{ Method, Path string } `yaml:"gateway"`
	} `yaml:"refusedBy"`
	Alone string `yaml:"alone"`
}

// bypasses lists the ways that were tried, with who stops each.
func bypasses(project string) ([]byte, error) {
	const file = "tests/bypass.yaml"
	raw, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	var ways []bypass
	if err := yaml.Unmarshal(raw, &ways); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := newPage("Ways round the doors, and who stops them", "`"+file+"`, which `tests/bypass` tries")
	p.say("Each way is a change of the recorded stack `prod`. A test asks every layer that is named here alone, with the others switched off. The packs stop a way before anything is made; " +
		"the other layers stop whoever uses neither this program nor its packs.")
	var rows [][]string
	for _, w := range ways {
		row := []string{plain(w.Name), "", "", "", "", "", plain(w.Alone)}
		if w.Models {
			row[0] += " (leads to a model)"
		}
		var rules []string
		for _, rule := range w.RefusedBy.Packs {
			rules = append(rules, fmt.Sprintf("[%s](../rules/%s.md)", rule, rule))
		}
		row[1] = strings.Join(rules, ", ")
		if len(w.RefusedBy.AzurePolicy) > 0 {
			row[2] = "denies it"
		}
		if len(w.RefusedBy.Roles) > 0 {
			row[3] = "no role"
		}
		row[4] = plain(w.RefusedBy.Network.Finding)
		for _, c := range w.RefusedBy.Network.Closed {
			row[4] = strings.TrimPrefix(row[4]+"; "+c.From+" to "+c.To+" stays closed", "; ")
		}
		for _, q := range w.RefusedBy.Gateway {
			row[5] = strings.TrimPrefix(row[5]+"; refuses "+code(q.Method+" "+q.Path), "; ")
		}
		rows = append(rows, row)
	}
	p.table([]string{"way", "packs", "Azure Policy", "roles", "network", "gateway", "why one layer must do"}, rows)
	return p.bytes(), nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

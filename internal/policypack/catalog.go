package policypack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// entry is a rule in the catalogue.
type entry struct {
	ID        string         `json:"id"`
	Pack      string         `json:"pack"`
	Title     string         `json:"title"`
	Severity  Severity       `json:"severity"`
	Rationale string         `json:"rationale"`
	Remedy    string         `json:"remedy"`
	Controls  []string       `json:"controls"`
	Sources   []string       `json:"sources,omitempty"`
	Types     []string       `json:"types"`
	Scope     string         `json:"scope"` // resource or stack
	Settings  map[string]any `json:"settings,omitempty"`
	Page      string         `json:"page"`
}

func (p Pack) entries() []entry {
	var out []entry
	for _, r := range p.Rules {
		scope := "resource"
		if r.Stack != nil {
			scope = "stack"
		}
		out = append(out, entry{r.ID, p.Name, r.Title, r.Severity, r.Rationale, r.Remedy, r.Controls, r.Sources, r.Types, scope, r.Schema, r.Page()})
	}
	return out
}

func entriesOf(packs []Pack) []entry {
	var all []entry
	for _, p := range packs {
		all = append(all, p.entries()...)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Catalog is docs/rules/rules.json: every rule of the packs, sorted by id.
func Catalog(packs ...Pack) ([]byte, error) {
	encoded, err := json.MarshalIndent(struct {
		Rules []entry `json:"rules"`
	}{entriesOf(packs)}, "", "  ")
	return append(encoded, '\n'), err
}

// Index is docs/rules/README.md: the rules, and the controls that they serve.
func Index(packs ...Pack) []byte {
	var b strings.Builder
	b.WriteString("# Rules\n\nGenerated from the packs in `policies/`; `go test ./policies -update` writes it again.\n\n| rule | pack | severity | what holds |\n|---|---|---|---|\n")
	byControl := map[string][]string{}
	for _, e := range entriesOf(packs) {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", e.ID, e.ID, e.Pack, e.Severity, e.Title)
		for _, control := range e.Controls {
			byControl[control] = append(byControl[control], e.ID)
		}
	}
	b.WriteString("\n## Controls\n\n| control | rules |\n|---|---|\n")
	for _, control := range sortedKeys(byControl) {
		fmt.Fprintf(&b, "| %s | %s |\n", control, strings.Join(byControl[control], ", "))
	}
	return []byte(b.String())
}

// Page is docs/rules/<id>.md.
func (p Pack) Page(r Rule) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", r.ID, r.Title)
	fmt.Fprintf(&b, "Pack `%s`, severity %s. ", p.Name, r.Severity)
	if r.Stack != nil {
		b.WriteString("Judged when the whole stack is known.\n\n")
	} else {
		b.WriteString("Judged by the resource's inputs alone.\n\n")
	}
	fmt.Fprintf(&b, "**Why.** %s\n\n**Fix.** %s\n\n", r.Rationale, r.Remedy)
	list(&b, "Applies to", r.Types, "`%s`")
	list(&b, "Controls", r.Controls, "%s")
	list(&b, "Sources", r.Sources, "<%s>")
	if r.Schema != nil {
		list(&b, "Settings", sortedKeys(r.Schema), "`%s`")
	}
	levels := make([]string, len(Profiles))
	for i, profile := range Profiles {
		levels[i] = fmt.Sprintf("%s: %s", profile, profile.Level(r.Severity))
	}
	list(&b, "Level by profile", levels, "%s")
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}

func list(b *strings.Builder, title string, items []string, format string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "- "+format+"\n", item)
	}
	b.WriteString("\n")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

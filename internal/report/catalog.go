package report

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Rule is what the catalogue says of a rule.
type Rule struct {
	ID        string   `json:"id"`
	Pack      string   `json:"pack"`
	Title     string   `json:"title"`
	Severity  string   `json:"severity"`
	Rationale string   `json:"rationale"`
	Remedy    string   `json:"remedy"`
	Controls  []string `json:"controls"`
	Page      string   `json:"page"` // path in the repository
}

// Catalog is every rule of the packs, sorted by id.
type Catalog []Rule

// ParseCatalog reads docs/rules/rules.json.
func ParseCatalog(raw []byte) (Catalog, error) {
	var file struct {
		Rules Catalog `json:"rules"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("catalogue of rules: %w", err)
	}
	return file.Rules, nil
}

// Rule is the rule with the id. An older document may hold one that is gone: it
// has no more than its id then.
func (c Catalog) Rule(id string) Rule {
	if i := slices.IndexFunc(c, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return c[i]
	}
	return Rule{ID: id, Title: id}
}

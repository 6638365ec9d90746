package armtypes

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agext/levenshtein"
)

// Catalog holds the resource types. It is safe for concurrent use.
type Catalog struct {
	byToken map[string]*Resource
	byType  map[string]*Resource // by lower-case ARM type and API version: "microsoft.network/virtualnetworks@2024-05-01"
}

var loaded = sync.OnceValues(load)

// Load returns the catalog of the embedded data, which is parsed once. An error
// means that the data files are wrong.
func Load() (*Catalog, error) { return loaded() }

// Tokens returns the sorted Pulumi type tokens of all resource types.
func (c *Catalog) Tokens() []string { return slices.Sorted(maps.Keys(c.byToken)) }

// ByToken returns a resource type by its versioned Pulumi type token,
// "azure-native:network/v20240501:Subnet".
func (c *Catalog) ByToken(token string) (*Resource, bool) {
	r, ok := c.byToken[token]
	return r, ok
}

// Nearest returns up to three known tokens that somebody who wrote token may
// have meant, best first. For a token without a version, or with an unknown
// one, these are the known versions of the type.
func (c *Catalog) Nearest(token string) []string {
	const most = 3
	all := c.Tokens()
	var same []string
	for _, t := range all {
		if strings.EqualFold(unversioned(t), unversioned(token)) {
			same = append(same, t)
		}
	}
	if len(same) > 0 {
		return same[:min(most, len(same))]
	}
	slices.SortStableFunc(all, func(a, b string) int {
		return levenshtein.Distance(unversioned(token), unversioned(a), nil) - levenshtein.Distance(unversioned(token), unversioned(b), nil)
	})
	return all[:min(most, len(all))]
}

// unversioned takes the API version out of a token.
func unversioned(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module, _, _ := strings.Cut(parts[1], "/")
	return parts[0] + ":" + module + ":" + parts[2]
}

// ByID returns the type of the resource that an ARM id names, at an API
// version. Letter case of the id does not matter.
func (c *Catalog) ByID(id, apiVersion string) (*Resource, bool) {
	parsed, ok := parseID(id)
	if !ok {
		return nil, false
	}
	r, ok := c.byType[strings.ToLower(parsed.armType()+"@"+apiVersion)]
	return r, ok
}

func (c *Catalog) add(r *Resource) {
	c.byToken[r.Token] = r
	for _, armType := range r.armTypes() {
		c.byType[strings.ToLower(armType+"@"+r.APIVersion)] = r
	}
}

package policyrule

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// plainFields are the fields that every resource has.
// https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-policy-rule#fields
var plainFields = []string{"id", "kind", "location", "name", "type"}

//go:embed aliases.json
var aliasFile []byte

// aliases are the paths in a resource's body by alias, in lower case. The aliases
// are Azure's: az provider show --expand resourceTypes/aliases lists them.
// https://learn.microsoft.com/azure/governance/policy/concepts/definition-structure-alias
var aliases = readAliases()

func readAliases() map[string]string {
	var file, out = map[string]string{}, map[string]string{}
	if err := json.Unmarshal(aliasFile, &file); err != nil {
		panic(err) // the file is a part of this package
	}
	for alias, path := range file {
		out[strings.ToLower(alias)] = path
	}
	return out
}

// KnownField tells whether a rule may speak of the field.
func KnownField(name string) bool {
	_, isAlias := aliases[strings.ToLower(name)]
	return isAlias || slices.Contains(plainFields, strings.ToLower(name))
}

// Aliases are the aliases that are known here, in lower case, sorted.
func Aliases() []string { return slices.Sorted(maps.Keys(aliases)) }

// Body is a resource as ARM has it.
type Body struct {
	ID      string
	Type    string // as in "Microsoft.CognitiveServices/accounts"
	Content map[string]any
	Unknown func(v any) bool // tells a value that is not known yet; nil where all are
}

// Field answers for the body. An alias of another type has no value.
func (b Body) Field(name string) any {
	lower := strings.ToLower(name)
	switch lower {
	case "id":
		return b.ID
	case "type":
		return b.Type
	case "name":
		return b.ID[strings.LastIndex(b.ID, "/")+1:]
	case "kind", "location":
		return b.at(lower)
	}
	path, isAlias := aliases[lower]
	rest, ours := strings.CutPrefix(lower, strings.ToLower(b.Type)+"/")
	if !isAlias || !ours || strings.Contains(rest, "/") {
		return nil
	}
	return b.at(path)
}

// at is what stands at a path of the content.
func (b Body) at(path string) any {
	var v any = b.Content
	for key := range strings.SplitSeq(path, ".") {
		if b.Unknown != nil && b.Unknown(v) {
			return Unknown
		}
		object, _ := v.(map[string]any)
		v = object[key]
	}
	if b.Unknown != nil && b.Unknown(v) {
		return Unknown
	}
	return v
}

package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"onedoor/internal/armtypes"
)

// catalog holds Microsoft's type data; it is embedded and never changes, so the
// core stays a pure function of its arguments.
var catalog = sync.OnceValues(func() (*types, error) {
	loaded, err := armtypes.Load()
	if err != nil {
		return nil, err
	}
	t := &types{Catalog: loaded}
	for _, token := range loaded.Tokens() {
		r, _ := loaded.ByToken(token)
		t.names = append(t.names, r.ARMType)
		if !slices.Contains(t.versions, r.APIVersion) {
			t.versions = append(t.versions, r.APIVersion)
		}
	}
	slices.Sort(t.versions)
	slices.Reverse(t.versions)
	return t, nil
})

// types is the type data with what lookups by id need.
type types struct {
	*armtypes.Catalog
	names    []string // ARM types
	versions []string // API versions, latest first
}

// pinned returns the type of an id at the latest version that the data has.
func (t *types) pinned(id string) (*armtypes.Resource, bool) {
	for _, version := range t.versions {
		if r, ok := t.ByID(id, version); ok {
			return r, true
		}
	}
	return nil, false
}

// lookup finds the type that an operation's id spells (A013).
func lookup(op Op) (*armtypes.Resource, *Error) {
	known, err := catalog()
	if err != nil {
		return nil, &Error{Code: BadRequest, Message: "type data of the simulator: " + err.Error()}
	}
	if typ, ok := known.ByID(op.ID, op.APIVersion); ok {
		return typ, nil
	}
	if typ, ok := known.pinned(op.ID); ok {
		if op.APIVersion == "" {
			return typ, nil
		}
		return nil, refuse(InvalidAPIVersion, op.ID, "api-version of "+typ.ARMType, strconv.Quote(op.APIVersion),
			typ.APIVersion+", the one this program pins", "ask for that version")
	}
	return nil, refuse(InvalidResourceType, op.ID, "resource type of "+op.ID, strconv.Quote(TypeOf(op.ID)),
		"a known type, nearest is "+closest(TypeOf(op.ID), known.names), "use that type, or add it to the type data")
}

// problems turns what the type data says into one refusal that lists it all.
func problems(r *Resource, found []armtypes.Problem) *Error {
	if len(found) == 0 {
		return nil
	}
	lines := make([]string, len(found))
	for i, p := range found {
		lines[i] = p.String()
	}
	code := InvalidRequestContent
	if found[0].Path == "name" {
		code = InvalidResourceName
	}
	return &Error{Code: code, Target: found[0].Path, Message: fmt.Sprintf("body of %s: %s; fix: correct it, the type data is Microsoft's", r.ID, strings.Join(lines, "; "))}
}

// armType is the type of id as the data spells it; where the data has one row
// for several types, such as DNS records, as the id does.
func armType(typ *armtypes.Resource, id string) string {
	if strings.Contains(typ.ARMType, "{") {
		return TypeOf(id)
	}
	return typ.ARMType
}

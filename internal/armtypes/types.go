package armtypes

import (
	"regexp"
	"sync"
)

type kind string

const (
	kindAny     kind = "any"
	kindArray   kind = "array"
	kindBool    kind = "bool"
	kindEnum    kind = "enum"
	kindInt     kind = "int"
	kindMap     kind = "map"
	kindNumber  kind = "number" // an int that may have a fraction; set by limits.json
	kindObject  kind = "object" // a ref in the data
	kindString  kind = "string"
	kindUnion   kind = "union" // several shapes; not checked
	kindNothing kind = "null"
)

// typ is the type of a value.
type typ struct {
	kind      kind
	object    *object  // of kindObject
	elem      *typ     // of kindArray and kindMap
	values    []string // of kindEnum, sorted
	open      bool     // an enum that takes other strings too
	sensitive bool     // never to be shown

	min, max             *int64 // of numbers
	minLength, maxLength *int64 // of strings, in characters, and of arrays
	pattern              *regexp.Regexp
}

// prop is a property of an object.
type prop struct {
	typ      *typ
	required bool
	readOnly bool
}

// object is an ARM object type. A discriminated one has variants: the value of
// one property, the discriminator, says which of them applies.
type object struct {
	key        string
	root       bool             // the body of a resource
	props      map[string]*prop // by ARM name; of a discriminated type, those of all variants together
	additional *typ             // of other properties, nil if there may be none

	discriminator string
	variants      map[string]*object

	rename map[string]string // Pulumi name to ARM name, or slash-separated path, where they differ
	nested bool              // Pulumi keeps the "properties" object
	keyed  []string          // ARM names of maps that Pulumi writes as arrays of their keys
	output []string          // Pulumi names of outputs, although ARM lets them be set

	identity []string // which of id, name and type are Pulumi inputs; of a root

	once       sync.Once         // of prepare, which computes what follows
	fields     map[string]*field // by Pulumi name
	required   []string          // sorted ARM names
	requiredIn []string          // sorted Pulumi names
}

// field is a property as Pulumi sees it.
type field struct {
	path   []string // in the ARM object, one name or more
	prop   *prop
	keyed  bool
	access access
}

// access says what comes of a field among the inputs.
type access int

const (
	sent    access = iota // it goes into the body
	dropped               // the provider takes it, and leaves it out
	refused               // it is an output
)

// Package dts reads the part of TypeScript's declaration language that Pulumi's
// Node.js generator writes: interfaces, classes, namespaces and constant enums.
package dts

// Kind says what a Type is.
type Kind string

// The kinds of types.
const (
	String    Kind = "string"
	Number    Kind = "number"
	Boolean   Kind = "boolean"
	Any       Kind = "any"
	Undefined Kind = "undefined"
	Array     Kind = "array"
	Map       Kind = "map"
	Union     Kind = "union"
	Named     Kind = "named"
	Literal   Kind = "literal"
)

// Type is a type expression. pulumi.Input<T> and pulumi.Output<T> are read as T.
type Type struct {
	Kind  Kind
	Elem  *Type   // of an Array or a Map
	Alts  []*Type // of a Union
	Name  string  // of a Named type, dotted: "inputs.network.v20240501.DelegationArgs"
	Value any     // of a Literal: string, float64 or bool
}

// Property is a member of an interface or a class.
type Property struct {
	Name       string
	Deprecated string // text of the @deprecated tag
	Optional   bool   // marked with "?", or "undefined" is an alternative
	Type       *Type
}

// Interface is an interface, or the properties of a class.
type Interface struct {
	Name       string
	Deprecated string
	Properties []Property
}

// EnumValue is one member of a constant enum.
type EnumValue struct {
	Name       string
	Deprecated string
	Value      any // string or float64
}

// File is what a declaration file declares, by name.
type File struct {
	Interfaces map[string]*Interface
	Classes    map[string]*Interface
	Enums      map[string][]EnumValue
	Namespaces map[string]map[string]*Interface // by slash-separated name: "network/v20240501"
}

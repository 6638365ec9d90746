// Package interp runs requests through policy documents, so that tests see what
// a gateway would do. It is a test kit: it knows exactly the policies and the C#
// that package apimpolicy writes, and refuses everything else when a gateway is
// made, or with a panic when an expression asks for more. It is no model of API
// Management beyond that; where the real one may act in two ways, as with odd
// spellings of paths, both can be chosen.
package interp

package apimpolicy

import "fmt"

// Scope is where a document is attached.
type Scope string

// The scopes.
const (
	GlobalScope    Scope = "global"
	ProductScope   Scope = "product"
	APIScope       Scope = "api"
	OperationScope Scope = "operation"
	FragmentScope  Scope = "fragment"
)

// Document is a policy document.
type Document struct {
	Name    string // for messages; of a fragment, its id
	Scope   Scope
	Raw     bool // format rawxml; the documents of this package are of format xml
	Streams bool // the API's answers may be server-sent events
	Text    string
	// Declared is what the document may refer to; nil when that is not known.
	Declared *Declared
}

// Declared are the names of what exists beside a document.
type Declared struct{ Fragments, Backends, NamedValues []string }

// Problem is one thing wrong with one element of a document.
type Problem struct {
	Path string // "inbound/choose[2]/when[1]/set-header@name"
	Got  string // what it is
	Want string // what it must be, and why
	// Silent is a problem that Azure takes, and that shows when calls come. Any other
	// one is refused.
	Silent bool
}

// Error is one sentence: where, what it is, what it must be.
func (p Problem) Error() string {
	if p.Got == "" {
		return fmt.Sprintf("%s: want %s", p.Path, p.Want)
	}
	return fmt.Sprintf("%s: got %s, want %s", p.Path, p.Got, p.Want)
}

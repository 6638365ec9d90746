package csharp

// Expr is an expression.
type Expr interface{ expr() }

// The expressions.
type (
	// Literal is a string, int, bool or null (nil).
	Literal struct{ Value any }
	// Ident is a local variable, a type or context.
	Ident struct{ Name string }
	// Member is X.Name, or X?.Name.
	Member struct {
		X        Expr
		Name     string
		Optional bool // null when X is
	}
	// Index is X[At].
	Index struct{ X, At Expr }
	// Call is Func<Types>(Args).
	Call struct {
		Func  Expr
		Types []string
		Args  []Arg
	}
	// New is new Type(Args).
	New struct {
		Type string
		Args []Arg
	}
	// Cast is (Type)X.
	Cast struct {
		Type string
		X    Expr
	}
	// As is X as Type: null when X is something else.
	As struct {
		X    Expr
		Type string
	}
	// Not is !X.
	Not struct{ X Expr }
	// Binary is X Op Y, with one of + - == != < <= > >= && || ??.
	Binary struct {
		Op   string
		X, Y Expr
	}
	// Choice is If ? Then : Else.
	Choice struct{ If, Then, Else Expr }
)

// Arg is an argument, with a name if it was given by name.
type Arg struct {
	Name string
	X    Expr
}

func (Literal) expr() {}
func (Ident) expr()   {}
func (Member) expr()  {}
func (Index) expr()   {}
func (Call) expr()    {}
func (New) expr()     {}
func (Cast) expr()    {}
func (As) expr()      {}
func (Not) expr()     {}
func (Binary) expr()  {}
func (Choice) expr()  {}

// Stmt is a statement.
type Stmt interface{ stmt() }

// The statements.
type (
	// Var declares a local variable.
	Var struct {
		Name string
		X    Expr
	}
	// Set assigns to a variable or to an element.
	Set struct{ Target, X Expr }
	// Do evaluates X for what it does.
	Do struct{ X Expr }
	// If has a nil Else when there is none.
	If struct {
		If         Expr
		Then, Else []Stmt
	}
	// ForEach runs Body with Name for each element of In.
	ForEach struct {
		Name string
		In   Expr
		Body []Stmt
	}
	// Return ends the block.
	Return struct{ X Expr }
	// Try runs Catch when something in Body is thrown.
	Try struct{ Body, Catch []Stmt }
)

func (Var) stmt()     {}
func (Set) stmt()     {}
func (Do) stmt()      {}
func (If) stmt()      {}
func (Return) stmt()  {}
func (ForEach) stmt() {}
func (Try) stmt()     {}

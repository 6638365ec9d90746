package interp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
)

// thrown is an exception of C#: a try catches it.
type thrown struct{ text string }

func (t *thrown) Error() string { return t.text }

func throw(format string, args ...any) (any, error) {
	return nil, &thrown{fmt.Sprintf(format, args...)}
}

// unknown stops the test: the interpreter lacks something.
func unknown(format string, args ...any) {
	panic(fmt.Sprintf("interp: "+format+" is not known here", args...))
}

// evaluate is the value of a text: of the expression that it is, or itself.
func (c *call) evaluate(text string) (any, error) {
	if !csharp.Is(text) {
		return text, nil
	}
	block, err := csharp.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("interp: %s: %v", text, err))
	}
	f := &frame{c: c, locals: map[string]any{}}
	v, _, err := f.run(block)
	return v, err
}

// frame holds the local variables of one block.
type frame struct {
	c      *call
	locals map[string]any
}

// run runs statements until one returns.
func (f *frame) run(block []csharp.Stmt) (value any, returned bool, err error) {
	for _, s := range block {
		switch s := s.(type) {
		case csharp.Var:
			if f.locals[s.Name], err = f.eval(s.X); err != nil {
				return nil, false, err
			}
		case csharp.Set:
			if err := f.set(s); err != nil {
				return nil, false, err
			}
		case csharp.If:
			met, err := f.truth(s.If)
			if err != nil {
				return nil, false, err
			}
			branch := s.Else
			if met {
				branch = s.Then
			}
			if v, returned, err := f.run(branch); returned || err != nil {
				return v, returned, err
			}
		case csharp.Try:
			v, returned, err := f.run(s.Body)
			if _, caught := errors.AsType[*thrown](err); caught {
				v, returned, err = f.run(s.Catch)
			}
			if returned || err != nil {
				return v, returned, err
			}
		case csharp.ForEach:
			v, returned, err := f.forEach(s)
			if returned || err != nil {
				return v, returned, err
			}
		case csharp.Return:
			v, err := f.eval(s.X)
			return v, true, err
		default:
			unknown("statement %T", s)
		}
	}
	return nil, false, nil
}

// forEach runs a block for each element of a JSON array.
func (f *frame) forEach(s csharp.ForEach) (value any, returned bool, err error) {
	x, err := f.eval(s.In)
	if err != nil {
		return nil, false, err
	}
	t, _ := x.(token)
	list, ok := t.v.([]any)
	if !ok {
		unknown("elements of %v", x)
	}
	for _, element := range list {
		f.locals[s.Name] = token{element}
		if v, returned, err := f.run(s.Body); returned || err != nil {
			return v, returned, err
		}
	}
	return nil, false, nil
}

// set assigns to a member of a JSON object.
func (f *frame) set(s csharp.Set) error {
	target, ok := s.Target.(csharp.Index)
	if !ok {
		unknown("assignment to %T", s.Target)
	}
	x, err := f.eval(target.X)
	if err != nil {
		return err
	}
	key, err := f.eval(target.At)
	if err != nil {
		return err
	}
	v, err := f.eval(s.X)
	if err != nil {
		return err
	}
	object, _ := x.(token).v.(map[string]any)
	name, _ := key.(string)
	if object == nil || name == "" {
		unknown("assignment to %v of %v", key, x)
	}
	switch assigned := v.(type) {
	case token:
		v = assigned.v
	case int:
		v = json.Number(strconv.Itoa(assigned))
	}
	object[name] = v
	return nil
}

func (f *frame) truth(x csharp.Expr) (bool, error) {
	v, err := f.eval(x)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		unknown("condition %v", v)
	}
	return b, nil
}

// token is a JToken: an object, array, string, number, date, bool or null.
type token struct{ v any }

// parseObject is JObject.Parse.
func parseObject(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil || decoder.More() {
		return throw("JsonReaderException")
	}
	if _, err := dates(object); err != nil {
		return nil, err
	}
	return token{object}, nil
}

// text is what C# makes of a value in a string.
func (t token) text() (any, error) {
	switch v := t.v.(type) {
	case nil:
		return nil, nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case date:
		return v.at.Format("01/02/2006 15:04:05"), nil
	case bool:
		if v {
			return "True", nil
		}
		return "False", nil
	default:
		return throw("cannot convert to string")
	}
}

// eval is the value of an expression.
func (f *frame) eval(x csharp.Expr) (any, error) {
	switch x := x.(type) {
	case csharp.Literal:
		return x.Value, nil
	case csharp.Ident:
		if v, local := f.locals[x.Name]; local {
			return v, nil
		}
		if x.Name == "context" {
			return f.c, nil
		}
		unknown("name %q", x.Name)
	case csharp.Not:
		b, err := f.truth(x.X)
		return !b, err
	case csharp.Choice:
		met, err := f.truth(x.If)
		if err != nil {
			return nil, err
		}
		if met {
			return f.eval(x.Then)
		}
		return f.eval(x.Else)
	case csharp.Cast:
		return f.cast(x)
	case csharp.As:
		v, err := f.eval(x.X)
		if err != nil {
			return nil, err
		}
		t, _ := v.(token)
		_, object := t.v.(map[string]any)
		_, array := t.v.([]any)
		switch x.Type {
		case "JObject":
			array = false
		case "JArray":
			object = false
		default:
			unknown("as %s", x.Type)
		}
		if object || array {
			return v, nil
		}
		return nil, nil
	case csharp.New:
		switch {
		case x.Type == "JObject" && len(x.Args) == 0:
			return token{map[string]any{}}, nil
		case x.Type == "JArray" && len(x.Args) == 0:
			return token{[]any{}}, nil
		}
		unknown("new %s", x.Type)
	case csharp.Binary:
		return f.binary(x)
	case csharp.Member:
		return f.member(x)
	case csharp.Index:
		return f.index(x)
	case csharp.Call:
		return f.call(x)
	}
	unknown("expression %T", x)
	return nil, nil
}

func (f *frame) cast(x csharp.Cast) (any, error) {
	v, err := f.eval(x.X)
	if err != nil {
		return nil, err
	}
	if v == nil && x.Type != "int" { // these can be null
		return nil, nil
	}
	switch x.Type {
	case "string":
		if t, ok := v.(token); ok {
			return t.text()
		}
		if _, ok := v.(string); !ok {
			return throw("InvalidCastException")
		}
		return v, nil
	case "bool?":
		t, ok := v.(token)
		if !ok {
			unknown("(bool?)%T", v)
		}
		switch b := t.v.(type) {
		case nil, bool:
			return b, nil
		case json.Number:
			return b.String() != "0", nil
		case string:
			if strings.EqualFold(b, "true") || strings.EqualFold(b, "false") {
				return strings.EqualFold(b, "true"), nil
			}
		}
		return throw("cannot convert to bool")
	case "long?":
		t, ok := v.(token)
		if !ok {
			unknown("(long?)%T", v)
		}
		switch n := t.v.(type) {
		case nil:
			return nil, nil
		case json.Number:
			if whole, err := n.Int64(); err == nil {
				return int(whole), nil
			}
			if part, err := n.Float64(); err == nil && math.Abs(part) < 1<<62 {
				return int(math.RoundToEven(part)), nil
			}
		case string:
			if whole, err := strconv.ParseInt(strings.TrimSpace(n), 10, 64); err == nil {
				return int(whole), nil
			}
		case bool:
			if n {
				return 1, nil
			}
			return 0, nil
		}
		return throw("cannot convert to long")
	case "Jwt":
		if _, ok := v.(Token); !ok {
			return throw("InvalidCastException")
		}
		return v, nil
	}
	unknown("cast to %s", x.Type)
	return nil, nil
}

func (f *frame) binary(x csharp.Binary) (any, error) {
	a, err := f.eval(x.X)
	if err != nil {
		return nil, err
	}
	switch x.Op { // these look at the second only if they must
	case "??":
		if a != nil {
			return a, nil
		}
		return f.eval(x.Y)
	case "||", "&&":
		first, ok := a.(bool)
		if !ok {
			unknown("%v %s", a, x.Op)
		}
		if first == (x.Op == "||") {
			return first, nil
		}
		return f.truth(x.Y)
	}
	b, err := f.eval(x.Y)
	if err != nil {
		return nil, err
	}
	switch x.Op {
	case "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	}
	if (a == nil || b == nil) && x.Op == ">" { // no number is more than none
		return false, nil
	}
	m, isInt := a.(int)
	n, bothInt := b.(int)
	if isInt && bothInt {
		switch x.Op {
		case "+":
			return m + n, nil
		case "-":
			return m - n, nil
		case "<":
			return m < n, nil
		case ">":
			return m > n, nil
		case ">=":
			return m >= n, nil
		}
	}
	s, isText := a.(string)
	t, bothText := b.(string)
	if x.Op == "+" && isText && bothText {
		return s + t, nil
	}
	unknown("%T %s %T", a, x.Op, b)
	return nil, nil
}

func (f *frame) index(x csharp.Index) (any, error) {
	v, err := f.eval(x.X)
	if err != nil {
		return nil, err
	}
	at, err := f.eval(x.At)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return throw("NullReferenceException")
	case token:
		object, ok := v.v.(map[string]any)
		if !ok {
			return throw("InvalidOperationException")
		}
		member, there := object[at.(string)]
		if !there {
			return nil, nil
		}
		return token{member}, nil
	case []string:
		i := at.(int)
		if i < 0 || i >= len(v) {
			return throw("IndexOutOfRangeException")
		}
		return v[i], nil
	case groups:
		if i := at.(int); i < len(v) {
			return group(v[i]), nil
		}
		return group(""), nil
	case dictionary:
		value, there := v[at.(string)]
		if !there {
			return throw("KeyNotFoundException: %v", at)
		}
		return value, nil
	}
	unknown("element of %T", v)
	return nil, nil
}

// dictionary is a read-only dictionary of C#.
type dictionary map[string]any

// headers are looked up without regard to case.
type headers http.Header

// groups are those of a match, the whole first; none when nothing matched.
type groups []string

type group string

// match is the result of Regex.Match.
type match groups

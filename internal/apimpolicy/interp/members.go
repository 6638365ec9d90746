package interp

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
)

// What members of context are. Each holds the call or a part of it.
type (
	request      struct{ *call }
	messageBody  string
	answered     struct{ *response }
	subscription struct{ *Key }
	product      string
	operation    string
	claims       map[string]string
	failed       struct{ *failure }
	method       struct {
		of   any // nil for a static one
		name string
	}
)

// statics are the types whose methods are called without an object.
var statics = map[string]bool{"Regex": true, "JObject": true, "int": true}

func (f *frame) member(x csharp.Member) (any, error) {
	if dotted(x) == "Newtonsoft.Json.Formatting.None" {
		return "None", nil
	}
	if id, ok := x.X.(csharp.Ident); ok && statics[id.Name] {
		return method{name: id.Name + "." + x.Name}, nil
	}
	of, err := f.eval(x.X)
	if err != nil {
		return nil, err
	}
	if of == nil {
		if x.Optional {
			return nil, nil
		}
		return throw("NullReferenceException: .%s", x.Name)
	}
	switch of := of.(type) {
	case *call:
		return of.member(x.Name), nil
	case request:
		switch x.Name {
		case "Body":
			if of.body == "" {
				return nil, nil
			}
			return messageBody(of.body), nil
		case "Headers":
			return headers(of.header), nil
		case "MatchedParameters":
			d := dictionary{}
			for k, v := range of.parameters {
				d[k] = v
			}
			return d, nil
		}
	case answered:
		switch x.Name {
		case "StatusCode":
			return of.status, nil
		case "Headers":
			return headers(of.header), nil
		}
	case subscription:
		switch x.Name {
		case "Id":
			return of.ID, nil
		case "Name":
			return of.Name, nil
		}
	case product:
		if x.Name == "Id" {
			return string(of), nil
		}
	case operation:
		if x.Name == "Id" {
			return string(of), nil
		}
	case failed:
		if x.Name == "Source" {
			return of.source, nil
		}
	case Token:
		if x.Name == "Claims" {
			return claims(of.Claims), nil
		}
	case match:
		if x.Name == "Groups" {
			return groups(of), nil
		}
	case group:
		if x.Name == "Value" {
			return string(of), nil
		}
	case []string:
		if x.Name == "Length" {
			return len(of), nil
		}
	}
	return method{of, x.Name}, nil
}

// member is a member of context.
func (c *call) member(name string) any {
	switch name {
	case "Request":
		return request{c}
	case "Response":
		if c.response == nil {
			return nil
		}
		return answered{c.response}
	case "Subscription":
		if c.key == nil {
			return nil
		}
		return subscription{c.key}
	case "Product":
		if c.key == nil || c.key.Product == "" {
			return nil
		}
		return product(c.key.Product)
	case "Operation":
		return operation(c.operation.ID)
	case "Variables":
		return dictionary(c.variables)
	case "LastError":
		if c.lastError == nil {
			return nil
		}
		return failed{c.lastError}
	}
	unknown("context.%s", name)
	return nil
}

// dotted is the text of a chain of names, "" for anything else.
func dotted(x csharp.Expr) string {
	switch x := x.(type) {
	case csharp.Ident:
		return x.Name
	case csharp.Member:
		if left := dotted(x.X); left != "" {
			return left + "." + x.Name
		}
	}
	return ""
}

// call calls a method.
func (f *frame) call(x csharp.Call) (any, error) {
	target, err := f.eval(x.Func)
	if err != nil {
		return nil, err
	}
	m, ok := target.(method)
	if !ok {
		unknown("call of %T", target)
	}
	var args []any
	for _, a := range x.Args {
		v, err := f.eval(a.X)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	text := func(i int) string {
		s, ok := args[i].(string)
		if !ok {
			unknown("argument %v of %s", args[i], m.name)
		}
		return s
	}
	switch of := m.of.(type) {
	case nil:
		switch m.name {
		case "Regex.IsMatch":
			return regexp.MustCompile(text(1)).MatchString(text(0)), nil
		case "Regex.Replace":
			return regexp.MustCompile(text(1)).ReplaceAllString(text(0), text(2)), nil
		case "Regex.Match":
			return match(regexp.MustCompile(text(1)).FindStringSubmatch(text(0))), nil
		case "int.Parse":
			n, err := strconv.Atoi(text(0))
			if err != nil {
				return throw("FormatException")
			}
			return n, nil
		case "JObject.Parse":
			return parseObject(text(0))
		}
	case string:
		switch m.name {
		case "Contains":
			return strings.Contains(of, text(0)), nil
		case "Split":
			return strings.Split(of, text(0)), nil
		case "Replace":
			return strings.ReplaceAll(of, text(0), text(1)), nil
		}
	case dictionary:
		switch m.name {
		case "ContainsKey":
			_, there := of[text(0)]
			return there, nil
		case "GetValueOrDefault":
			if v, there := of[text(0)]; there {
				return v, nil
			}
			return args[1], nil
		}
	case headers:
		if m.name == "GetValueOrDefault" {
			if values := http.Header(of).Values(text(0)); len(values) > 0 {
				return strings.Join(values, ","), nil
			}
			return args[1], nil
		}
	case claims:
		if m.name == "GetValueOrDefault" {
			if v, there := of[text(0)]; there {
				return v, nil
			}
			return args[1], nil
		}
	case messageBody:
		// Without preserveContent the body would be gone for what follows.
		if m.name == "As" && len(x.Types) == 1 && x.Types[0] == "string" && len(x.Args) == 1 && x.Args[0].Name == "preserveContent" && args[0] == true {
			return string(of), nil
		}
	case token:
		if m.name == "ToString" {
			out, err := json.Marshal(of.v)
			return string(out), err
		}
	}
	unknown("%T.%s", m.of, m.name)
	return nil, nil
}

package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/engine"
	"onedoor/services/controlplane/apierror"
)

// Trouble is the page, written by hand, that says what to do about each code.
const Trouble = "docs/troubleshooting.md"

// Code is something that a program says no by.
type Code struct {
	Text   string
	Status int    // of HTTP; 0 where there is none
	Says   string // what the program says, or what the code means
}

// Codes are those of this project, and those of Azure that it knows to pass, by who
// says them, each list in the order of the source.
type Codes struct {
	Gateway      []Code
	ControlPlane []Code
	Command      []Code // kinds of failures of an update
	Azure        []Code // that pass
}

// ReadCodes reads the codes from the source of the project.
func ReadCodes(project string) (Codes, error) {
	var out Codes
	var err error
	if out.Gateway, err = gatewayCodes(filepath.Join(project, "internal", "apimpolicy")); err != nil {
		return out, err
	}
	if out.Azure, err = passing(filepath.Join(project, "internal", "retry", "retry.go")); err != nil {
		return out, err
	}
	src := newSource(project)
	own, err := src.of(reflect.TypeFor[apierror.Code]())
	if err != nil {
		return out, err
	}
	for _, v := range own.values {
		status := apierror.New(apierror.Code(v.text), "", "").Status()
		_, says, more := strings.Cut(v.doc, ": ")
		if !more {
			says = strings.ToLower(http.StatusText(status))
		}
		out.ControlPlane = append(out.ControlPlane, Code{v.text, status, says})
	}
	kinds, err := src.of(reflect.TypeFor[engine.Kind]())
	if err != nil {
		return out, err
	}
	for _, v := range kinds.values {
		_, says, _ := strings.Cut(v.doc, ": ")
		out.Command = append(out.Command, Code{Text: v.text, Says: strings.TrimSuffix(says, ".")})
	}
	return out, nil
}

// refusals is the page of all codes.
func refusals(project string) ([]byte, error) {
	codes, err := ReadCodes(project)
	if err != nil {
		return nil, err
	}
	p := newPage("Codes of refusals", "the source of the gateway's policies, the control plane, the engine's failures and `internal/retry`")
	p.say("What each program says no by. Every code links to [what to do about it](../troubleshooting.md). Why a message became a dead letter is in [the contract of messages](../contracts/messages.md#dead-letters).")
	for _, part := range []struct {
		title, who string
		codes      []Code
	}{
		{"The gateway", "In `error.code` of the answer, which has the shape of OpenAI's errors.", codes.Gateway},
		{"The control plane", "In `error.code` of the answer, which has the shape of OpenAI's errors. The text of the error names the key, line or allowance.", codes.ControlPlane},
		{"The command", "How an update or a preview failed. The first four are yours to mend, and `onedoor` ends with 1.", codes.Command},
		{"Azure, for a while", "Refusals that pass by themselves: the program sits them out for about twelve minutes, and says so.", codes.Azure},
	} {
		p.head(part.title)
		p.say("%s", part.who)
		var rows [][]string
		for _, c := range part.codes {
			status := ""
			if c.Status > 0 {
				status = strconv.Itoa(c.Status)
			}
			rows = append(rows, []string{fmt.Sprintf("[%s](../troubleshooting.md#%s)", code(c.Text), anchor(c.Text)), status, plain(c.Says)})
		}
		p.table([]string{"code", "status", "says"}, rows)
	}
	return p.bytes(), nil
}

// gatewayCodes are what the policies answer: the calls of refuse(status, reason, code,
// message). What one says twice is one row.
func gatewayCodes(dir string) ([]Code, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	constants, calls := map[string]string{}, []*ast.CallExpr{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, v := range n.Values {
					if text, ok := literal(v); ok && i < len(n.Names) {
						constants[n.Names[i].Name] = text
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "refuse" && len(n.Args) == 4 {
					calls = append(calls, n)
				}
			}
			return true
		})
	}
	var out []Code
	for _, call := range calls {
		status, _ := call.Args[0].(*ast.BasicLit)
		name, _ := call.Args[2].(*ast.Ident)
		if status == nil || name == nil {
			return nil, fmt.Errorf("%s: a call of refuse whose status or code is no constant", dir)
		}
		n, err := strconv.Atoi(status.Value)
		if err != nil {
			return nil, err
		}
		says, _ := literal(call.Args[3])
		c := Code{constants[name.Name], n, says}
		if !slices.ContainsFunc(out, func(have Code) bool { return have.Text == c.Text }) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no call of refuse", dir)
	}
	return out, nil
}

// passing are the refusals of Azure that the program sits out: the rows of the list of
// that name.
func passing(file string) ([]Code, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		return nil, err
	}
	var out []Code
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || spec.Names[0].Name != "passing" {
			return true
		}
		list, ok := spec.Values[0].(*ast.CompositeLit)
		if !ok {
			return false
		}
		for _, e := range list.Elts {
			if row, ok := e.(*ast.CompositeLit); ok && len(row.Elts) == 3 {
				text, _ := literal(row.Elts[0])
				says, _ := literal(row.Elts[2])
				out = append(out, Code{Text: text, Says: says})
			}
		}
		return false
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no list of passing refusals", file)
	}
	return out, nil
}

// literal is the text of an expression, as far as it is one: what is joined to it at
// run time stands as "...".
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		if !ok {
			left = "..."
		}
		if !also {
			right = "..."
		}
		return left + right, ok || also
	default:
		return "", false
	}
}

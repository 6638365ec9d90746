package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// module is the path of the module whose source is read.
const module = "onedoor/"

// source finds what comments in the source say of types and their fields.
type source struct {
	root     string
	packages map[string]map[string]declared // by import path, then by type
}

// declared is what the source says of one type.
type declared struct {
	doc    string
	fields map[string]string // comments of a struct's fields
	values []value           // constants of the type, in their order
}

// value is one constant of an enumeration.
type value struct{ text, doc string }

func newSource(root string) *source {
	return &source{root: root, packages: map[string]map[string]declared{}}
}

// of is what the source says of a type of this module; nothing of others.
func (s *source) of(t reflect.Type) (declared, error) {
	path, ours := strings.CutPrefix(t.PkgPath(), module)
	if !ours {
		return declared{}, nil
	}
	if s.packages[path] == nil {
		types, err := parse(filepath.Join(s.root, filepath.FromSlash(path)))
		if err != nil {
			return declared{}, fmt.Errorf("comments of %s: %w", t, err)
		}
		s.packages[path] = types
	}
	return s.packages[path][t.Name()], nil
}

// parse reads the types of the package in dir.
func parse(dir string) (map[string]declared, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	out := map[string]declared{}
	var values []*ast.GenDecl
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			general, ok := decl.(*ast.GenDecl)
			switch {
			case ok && general.Tok == token.TYPE:
				for _, spec := range general.Specs {
					readType(out, general, spec.(*ast.TypeSpec))
				}
			case ok && general.Tok == token.CONST:
				values = append(values, general)
			}
		}
	}
	for _, decl := range values {
		readValues(out, decl)
	}
	return out, nil
}

func readType(out map[string]declared, decl *ast.GenDecl, spec *ast.TypeSpec) {
	d := declared{doc: spec.Doc.Text(), fields: map[string]string{}}
	if d.doc == "" {
		d.doc = decl.Doc.Text()
	}
	if body, ok := spec.Type.(*ast.StructType); ok {
		for _, field := range body.Fields.List {
			for _, name := range field.Names {
				d.fields[name.Name] = oneLine(field.Comment.Text() + " " + field.Doc.Text())
			}
		}
	}
	out[spec.Name.Name] = d
}

// readValues reads the constants that name their type and are texts.
func readValues(out map[string]declared, decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		constant := spec.(*ast.ValueSpec)
		typ, named := constant.Type.(*ast.Ident)
		if !named || len(constant.Values) != 1 {
			continue
		}
		literal, ok := constant.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			continue
		}
		text, err := strconv.Unquote(literal.Value)
		if d, known := out[typ.Name]; known && err == nil {
			d.values = append(d.values, value{text, oneLine(constant.Comment.Text() + " " + constant.Doc.Text())})
			out[typ.Name] = d
		}
	}
}

// oneLine is text without line breaks and without blanks around it.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

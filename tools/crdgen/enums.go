package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// enumerations reads from the source of k8s.io/api which properties take only
// certain values: those whose type is marked +enum. Kubernetes publishes them in
// the words of a description alone. The result is by the name of the schema and
// of the property.
func enumerations(api string) (map[string]map[string][]any, error) {
	packages := map[string][]*ast.File{} // by path, "core/v1"
	err := filepath.WalkDir(api, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "types.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(api, filepath.Dir(path))
		packages[filepath.ToSlash(dir)] = append(packages[filepath.ToSlash(dir)], file)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		return nil, os.ErrNotExist
	}
	values := map[string][]any{} // by "core/v1.Protocol"
	for path, files := range packages {
		for _, file := range files {
			marked(path, file, values)
		}
	}
	out := map[string]map[string][]any{}
	for path, files := range packages {
		for _, file := range files {
			fields(path, file, values, out)
		}
	}
	return out, nil
}

// marked gathers the constants of types that are marked +enum.
func marked(path string, file *ast.File, values map[string][]any) {
	types := map[string]bool{}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			t := spec.(*ast.TypeSpec)
			if hasMarker(general.Doc) || hasMarker(t.Doc) {
				types[t.Name.Name] = true
			}
		}
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			v := spec.(*ast.ValueSpec)
			t, ok := v.Type.(*ast.Ident)
			if !ok || !types[t.Name] {
				continue
			}
			for _, expression := range v.Values {
				if literal, ok := expression.(*ast.BasicLit); ok {
					if text, err := strconv.Unquote(literal.Value); err == nil {
						key := path + "." + t.Name
						values[key] = append(values[key], text)
					}
				}
			}
		}
	}
}

func hasMarker(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, comment := range doc.List {
		if strings.TrimSpace(strings.TrimPrefix(comment.Text, "//")) == "+enum" {
			return true
		}
	}
	return false
}

// fields finds the properties whose type is one of those with values.
func fields(path string, file *ast.File, values map[string][]any, out map[string]map[string][]any) {
	imports := map[string]string{} // "v1" -> "core/v1"
	for _, i := range file.Imports {
		full, _ := strconv.Unquote(i.Path.Value)
		if rest, ok := strings.CutPrefix(full, "k8s.io/api/"); ok {
			name := rest[strings.LastIndexByte(rest, '/')+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = rest
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		structure, ok := t.Type.(*ast.StructType)
		if !ok {
			return false
		}
		for _, field := range structure.Fields.List {
			if field.Tag == nil {
				continue
			}
			name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			found := values[typeName(path, imports, field.Type)]
			if name == "" || len(found) == 0 {
				continue
			}
			schema := "io.k8s.api." + strings.ReplaceAll(path, "/", ".") + "." + t.Name.Name
			if out[schema] == nil {
				out[schema] = map[string][]any{}
			}
			out[schema][name] = found
		}
		return false
	})
}

// typeName returns "core/v1.Protocol" for a type, a pointer to it or a list of it.
func typeName(path string, imports map[string]string, t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(path, imports, t.X)
	case *ast.ArrayType:
		return typeName(path, imports, t.Elt)
	case *ast.SelectorExpr:
		if p, ok := t.X.(*ast.Ident); ok {
			return imports[p.Name] + "." + t.Sel.Name
		}
	case *ast.Ident:
		return path + "." + t.Name
	}
	return ""
}

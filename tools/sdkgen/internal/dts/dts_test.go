package dts

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestParseReadsTheGeneratorsForms(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/forms.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse("forms.d.ts", string(src))
	if err != nil {
		t.Fatal(err)
	}
	text, number := &Type{Kind: String}, &Type{Kind: Number}
	class := f.Classes["Subnet"]
	if class == nil || class.Deprecated != "Use another." {
		t.Fatalf("class: %+v", class)
	}
	for i, want := range []Property{
		{Name: "addressPrefix", Optional: true, Type: &Type{Kind: Union, Alts: []*Type{text, {Kind: Undefined}}}},
		{Name: "name", Type: text},
	} {
		if got := class.Properties[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("class property %d: got %+v, want %+v", i, got, want)
		}
	}
	if n := len(class.Properties); n != 2 {
		t.Errorf("class: %d properties, want 2 (methods and statics are none)", n)
	}
	args := f.Interfaces["SubnetArgs"]
	for i, want := range []Property{
		{Name: "delegations", Optional: true, Type: &Type{Kind: Array, Elem: &Type{Kind: Named, Name: "inputs.network.v1.DelegationArgs"}}},
		{Name: "tags", Type: &Type{Kind: Map, Elem: text}},
		{Name: "sku", Deprecated: "Old.", Type: &Type{Kind: Union, Alts: []*Type{text, {Kind: Named, Name: "enums.network.v1.Sku"}}}},
		{Name: "odata.type", Type: &Type{Kind: Literal, Value: "A's \"kind\""}},
		{Name: "lists", Type: &Type{Kind: Array, Elem: &Type{Kind: Array, Elem: &Type{Kind: Union, Alts: []*Type{number, {Kind: Literal, Value: true}}}}}},
	} {
		if got := args.Properties[i]; !reflect.DeepEqual(got, want) {
			t.Errorf("argument %d: got %+v, want %+v", i, got, want)
		}
	}
	wantEnum := []EnumValue{{Name: "Basic", Value: "Basic"}, {Name: "Two", Deprecated: "Gone.", Value: -2.0}}
	if got := f.Enums["Sku"]; !reflect.DeepEqual(got, wantEnum) {
		t.Errorf("enum: got %+v, want %+v", got, wantEnum)
	}
	if i := f.Namespaces["network/v1"]["DelegationArgs"]; i == nil || len(i.Properties) != 1 {
		t.Errorf("namespaces: got %+v", f.Namespaces)
	}
}

func TestParseReportsTheLine(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"export interface A {\n  b: string\n}":  `line 3: at "}": want ;`,
		"\nexport interface A {\n":              `line 3: at "": want }`,
		"export interface A { b: { c: string }": `want [`,
		"/* no end":                             "comment without end",
		`export interface A { b: "no end`:       "string without end",
		"export class A":                        "want extends",
		"export const A: { readonly B: C; };":   "want a literal value",
		"surprise;":                             "want a declaration",
		"export namespace a {\n surprise; }":    "line 2",
		"export interface A { b: string; } }":   "want a declaration",
		"export interface A { b: 1.2.3; }":      "invalid syntax",
	} {
		_, err := Parse("x.d.ts", src)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.d.ts: ") {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	src, err := os.ReadFile("testdata/forms.d.ts")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Fuzz(func(t *testing.T, src string) {
		if file, err := Parse("x", src); (file == nil) == (err == nil) {
			t.Errorf("got %v and %v", file, err)
		}
	})
}

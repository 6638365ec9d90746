package armtypes

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed data
var data embed.FS

// The files of the data folder, as they are written.
type (
	typesFile struct {
		Source    string                  `json:"source"`
		Resources map[string]resourceData `json:"resources"`
		Types     map[string]typeData     `json:"types"`
	}
	resourceData struct {
		APIVersion string `json:"apiVersion"`
		ARMType    string `json:"armType"`
		Body       string `json:"body"`
		ID         string `json:"id"`
		Source     string `json:"source"`
	}
	typeData struct {
		Kind          string              `json:"kind"`
		Ref           string              `json:"ref"`
		Props         map[string]propData `json:"props"`
		Additional    *typeData           `json:"additional"`
		Item          *typeData           `json:"item"`
		Discriminator string              `json:"discriminator"`
		Elements      map[string]string   `json:"elements"`
		Values        []string            `json:"values"`
		Open          bool                `json:"open"`
		Sensitive     bool                `json:"sensitive"`
		Pattern       string              `json:"pattern"`
		Min           *int64              `json:"min"`
		Max           *int64              `json:"max"`
		MinLength     *int64              `json:"minLength"`
		MaxLength     *int64              `json:"maxLength"`
	}
	propData struct {
		Type       typeData `json:"type"`
		Required   bool     `json:"required"`
		ReadOnly   bool     `json:"readOnly"`
		WriteOnly  bool     `json:"writeOnly"`
		DeployTime bool     `json:"deployTimeConstant"` // id, name, type and API version
		Identifier bool     `json:"identifier"`         // tells the elements of an array apart
	}
	namesFile struct {
		Comment  string                       `json:"comment"`
		Rename   map[string]map[string]string `json:"rename"`   // type: Pulumi name: ARM name or slash-separated path
		Nested   []string                     `json:"nested"`   // types whose "properties" Pulumi keeps
		Keyed    map[string][]string          `json:"keyed"`    // type: maps that Pulumi writes as arrays of keys
		Output   map[string][]string          `json:"output"`   // type: Pulumi names that are outputs only, although ARM lets them be set
		Query    map[string][]string          `json:"query"`    // resource: inputs that are parameters of the request
		Identity map[string][]string          `json:"identity"` // resource: which of id, name and type are inputs
	}
	limitsFile struct {
		Comment string      `json:"comment"`
		Limits  []limitData `json:"limits"`
	}
	limitData struct {
		Type      string `json:"type"`
		Property  string `json:"property"`
		Source    string `json:"source"`
		Fraction  bool   `json:"fraction"` // a number that need not be whole; the type data has whole ones only
		Pattern   string `json:"pattern"`
		Min       *int64 `json:"min"`
		Max       *int64 `json:"max"`
		MinLength *int64 `json:"minLength"`
		MaxLength *int64 `json:"maxLength"`
	}
)

// read parses one file of the data folder. An unknown key is an error.
func read(name string, into any) error {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func load() (*Catalog, error) {
	var (
		types  typesFile
		names  namesFile
		limits limitsFile
	)
	for name, into := range map[string]any{"arm-types.json": &types, "names.json": &names, "limits.json": &limits} {
		if err := read(name, into); err != nil {
			return nil, fmt.Errorf("armtypes: %w", err)
		}
	}
	b := builder{data: types.Types, objects: map[string]*object{}}
	for _, step := range []func() error{
		func() error { return limits.merge(types.Types) },
		b.build,
		func() error { return names.apply(b.objects) },
		b.join,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("armtypes: %w", err)
		}
	}
	c := &Catalog{byToken: map[string]*Resource{}, byType: map[string]*Resource{}}
	for _, token := range slices.Sorted(maps.Keys(types.Resources)) {
		r := types.Resources[token]
		body := b.objects[r.Body]
		if body == nil {
			return nil, fmt.Errorf("armtypes: arm-types.json: %s: no type %s", token, r.Body)
		}
		body.root = true
		body.identity = names.Identity[token]
		c.add(newResource(token, r, body, names.Query[token]))
	}
	return c, nil
}

// merge writes the limits over the types.
func (f limitsFile) merge(types map[string]typeData) error {
	for _, l := range f.Limits {
		p, ok := types[l.Type].Props[l.Property]
		switch {
		case !ok:
			return fmt.Errorf("limits.json: no property %s of %s", l.Property, l.Type)
		case l.Source == "":
			return fmt.Errorf("limits.json: %s of %s: no source", l.Property, l.Type)
		}
		if l.Fraction {
			p.Type.Kind = string(kindNumber)
		}
		if l.Pattern != "" {
			p.Type.Pattern = l.Pattern
		}
		for _, m := range []struct{ from, to **int64 }{
			{&l.Min, &p.Type.Min}, {&l.Max, &p.Type.Max}, {&l.MinLength, &p.Type.MinLength}, {&l.MaxLength, &p.Type.MaxLength},
		} {
			if *m.from != nil {
				*m.to = *m.from
			}
		}
		types[l.Type].Props[l.Property] = p
	}
	return nil
}

// apply attaches the names to the objects.
func (f namesFile) apply(objects map[string]*object) error {
	for key, rename := range f.Rename {
		o := objects[key]
		if o == nil {
			return fmt.Errorf("names.json: rename: no type %s", key)
		}
		o.rename = rename
		for name, path := range rename {
			if path != o.discriminator && o.find(strings.Split(path, "/")) == nil {
				return fmt.Errorf("names.json: %s: %s is renamed to %s, which is no property", key, name, path)
			}
		}
	}
	for _, key := range f.Nested {
		if objects[key] == nil {
			return fmt.Errorf("names.json: nested: no type %s", key)
		}
		objects[key].nested = true
	}
	for key, output := range f.Output {
		if objects[key] == nil {
			return fmt.Errorf("names.json: output: no type %s", key)
		}
		objects[key].output = output
	}
	for key, keyed := range f.Keyed {
		o := objects[key]
		if o == nil {
			return fmt.Errorf("names.json: keyed: no type %s", key)
		}
		for _, name := range keyed {
			if p := o.props[name]; p == nil || p.typ.kind != kindMap {
				return fmt.Errorf("names.json: keyed: %s of %s is no map", name, key)
			}
		}
		o.keyed = keyed
	}
	return nil
}

// builder turns type data into linked objects.
type builder struct {
	data    map[string]typeData
	objects map[string]*object
}

func (b *builder) build() error {
	for key := range b.data {
		b.objects[key] = &object{key: key}
	}
	for key, d := range b.data {
		o := b.objects[key]
		var err error
		if o.props, err = b.props(d.Props); err != nil {
			return fmt.Errorf("arm-types.json: %s: %w", key, err)
		}
		if d.Additional != nil {
			if o.additional, err = b.typ(*d.Additional); err != nil {
				return fmt.Errorf("arm-types.json: %s: %w", key, err)
			}
		}
		switch d.Kind {
		case "object":
		case "discriminated":
			o.discriminator = d.Discriminator
		default:
			return fmt.Errorf("arm-types.json: %s: unexpected kind %q", key, d.Kind)
		}
	}
	return nil
}

// join gives each discriminated object its variants, which have the common
// properties too, and the properties of all variants.
func (b *builder) join() error {
	for key, d := range b.data {
		if d.Kind != "discriminated" {
			continue
		}
		o := b.objects[key]
		common := maps.Clone(o.props)
		o.variants = map[string]*object{}
		for _, value := range slices.Sorted(maps.Keys(d.Elements)) {
			element := b.objects[d.Elements[value]]
			if element == nil {
				return fmt.Errorf("arm-types.json: %s: no type %s", key, d.Elements[value])
			}
			v := &object{
				key: element.key, props: maps.Clone(element.props), additional: element.additional,
				rename: maps.Clone(element.rename), nested: element.nested, keyed: element.keyed,
			}
			if v.rename == nil {
				v.rename = map[string]string{}
			}
			maps.Copy(v.rename, o.rename)
			maps.Copy(v.props, common)
			if v.props[d.Discriminator] == nil {
				v.props[d.Discriminator] = &prop{typ: &typ{kind: kindEnum, values: []string{value}}, required: true}
			}
			o.variants[value] = v
			for name, p := range v.props {
				if _, known := o.props[name]; !known {
					o.props[name] = p
				}
			}
			if o.additional == nil {
				o.additional = v.additional
			}
		}
	}
	return nil
}

func (b *builder) props(list map[string]propData) (map[string]*prop, error) {
	props := map[string]*prop{}
	for name, d := range list {
		t, err := b.typ(d.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		props[name] = &prop{typ: t, required: d.Required, readOnly: d.ReadOnly}
	}
	return props, nil
}

func (b *builder) typ(d typeData) (*typ, error) {
	t := &typ{
		kind: kind(d.Kind), values: d.Values, open: d.Open, sensitive: d.Sensitive,
		min: d.Min, max: d.Max, minLength: d.MinLength, maxLength: d.MaxLength,
	}
	slices.Sort(t.values)
	var err error
	if d.Pattern != "" {
		if t.pattern, err = regexp.Compile(d.Pattern); err != nil {
			return nil, fmt.Errorf("%w (write it without what Go's regexp lacks, in limits.json)", err)
		}
	}
	switch elem := d.Item; t.kind {
	case "ref":
		t.kind = kindObject
		if t.object = b.objects[d.Ref]; t.object == nil {
			return nil, fmt.Errorf("no type %s", d.Ref)
		}
	case kindMap:
		elem = d.Additional
		fallthrough
	case kindArray:
		if elem == nil {
			return nil, fmt.Errorf("a %s without the type of its elements", t.kind)
		}
		if t.elem, err = b.typ(*elem); err != nil {
			return nil, err
		}
	case kindAny, kindBool, kindEnum, kindInt, kindNumber, kindString, kindUnion, kindNothing:
	default:
		return nil, fmt.Errorf("unexpected kind %q", d.Kind)
	}
	return t, nil
}

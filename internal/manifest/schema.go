package manifest

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
	"k8s.io/apimachinery/pkg/api/resource"
)

//go:embed schemas/*.json
var files embed.FS

// Kind is what is known about one kind of objects.
type Kind struct {
	APIVersion string // "apps/v1", "v1"
	Name       string // "Deployment"
	Namespaced bool
	Plural     string // "deployments"
	// Origin is who brings the kind: Builtin, or what has to be installed.
	Origin Origin

	schema string // URL of the schema
}

// Origin is who brings a kind to a cluster: the file of its schema.
type Origin string

// The origins.
const (
	Builtin      Origin = "kubernetes"
	KEDA         Origin = "keda"         // AKS's add-on, or the chart keda
	KubeRay      Origin = "kuberay"      // the chart kuberay-operator
	Cilium       Origin = "cilium"       // the Cilium dataplane
	SecretsStore Origin = "secretsstore" // AKS's add-on azureKeyvaultSecretsProvider
	AzMonitoring Origin = "azmonitoring" // AKS's managed Prometheus
)

// catalog is all schemas. It never changes once loaded.
type catalog struct {
	kinds map[string]*Kind // by "apps/v1/Deployment"
	names []string         // sorted
	docs  map[string]any   // by URL
	meta  *jsonschema.Schema

	mu       sync.Mutex // guards the compiler and what it has made
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// load reads the schemas once. They are part of the program, so a mistake in
// them is a mistake of the program.
var load = sync.OnceValue(func() *catalog {
	c, err := newCatalog()
	if err != nil {
		panic(fmt.Sprintf("schemas of Kubernetes objects: %v", err))
	}
	return c
})

const metaSchema = "kubernetes.json#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

func newCatalog() (*catalog, error) {
	c := &catalog{kinds: map[string]*Kind{}, docs: map[string]any{}, compiled: map[string]*jsonschema.Schema{}, compiler: jsonschema.NewCompiler()}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	for _, format := range formats {
		c.compiler.RegisterFormat(format)
	}
	vocabulary, err := listKeysVocabulary()
	if err != nil {
		return nil, err
	}
	c.compiler.RegisterVocabulary(vocabulary)
	c.compiler.AssertVocabs()
	entries, err := files.ReadDir("schemas")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := c.add(entry.Name()); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
	}
	c.names = slices.Sorted(maps.Keys(c.kinds))
	c.meta, err = c.compile(metaSchema)
	return c, err
}

func (c *catalog) add(file string) error {
	text, err := files.ReadFile("schemas/" + file)
	if err != nil {
		return err
	}
	var table struct {
		Kinds map[string]struct {
			Namespaced bool
			Plural     string
		}
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := c.compiler.AddResource(file, doc); err != nil {
		return err
	}
	c.docs[file] = doc
	for name, k := range table.Kinds {
		i := strings.LastIndexByte(name, '/')
		c.kinds[name] = &Kind{
			APIVersion: name[:i], Name: name[i+1:], Namespaced: k.Namespaced, Plural: k.Plural,
			Origin: Origin(strings.TrimSuffix(file, ".json")),
			schema: file + "#/kinds/" + strings.ReplaceAll(name, "/", "~1") + "/schema",
		}
	}
	return nil
}

// compile returns the schema at a URL, made at first use.
func (c *catalog) compile(url string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if schema, ok := c.compiled[url]; ok {
		return schema, nil
	}
	schema, err := c.compiler.Compile(url)
	if err != nil {
		return nil, err
	}
	c.compiled[url] = schema
	return schema, nil
}

// Lookup returns the kind of this name and version.
func Lookup(apiVersion, kind string) (Kind, bool) {
	k, ok := load().kinds[apiVersion+"/"+kind]
	if !ok {
		return Kind{}, false
	}
	return *k, true
}

// Kinds returns all kinds, sorted by version and name.
func Kinds() []Kind {
	c := load()
	out := make([]Kind, len(c.names))
	for i, name := range c.names {
		out[i] = *c.kinds[name]
	}
	return out
}

// formats are those of the schemas that JSON Schema does not have.
var formats = []*jsonschema.Format{
	{Name: "int32", Validate: within(math.MinInt32, math.MaxInt32)},
	{Name: "int64", Validate: within(math.MinInt64, math.MaxInt64)},
	{Name: "byte", Validate: encoded},
	{Name: "quantity", Validate: quantity},
}

func within(low, high float64) func(any) error {
	return func(v any) error {
		if n, ok := (node{v: v}).number(); ok && (n < low || n > high) {
			return fmt.Errorf("a whole number from %.0f to %.0f", low, high)
		}
		return nil
	}
}

var errQuantity = errors.New(`a quantity such as "500m", "2", "1.5Gi"`)

func quantity(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil // a number
	}
	if _, err := resource.ParseQuantity(text); err != nil {
		return errQuantity
	}
	return nil
}

// listKeys refuses two elements of a list with the same key, as Kubernetes does
// for lists that are maps by key (x-kubernetes-list-type: map).
// https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
type listKeys []string

// duplicate is the error of listKeys.
type duplicate struct {
	keys  []string
	index int // of the second one
	value any // its keys
}

// KeywordPath implements jsonschema.ErrorKind.
func (*duplicate) KeywordPath() []string { return []string{listKeysKeyword} }

// LocalizedString implements jsonschema.ErrorKind.
func (d *duplicate) LocalizedString(*message.Printer) string {
	return "two elements with the same " + strings.Join(d.keys, " and ")
}

const listKeysKeyword = "x-kubernetes-list-map-keys"

// Validate implements jsonschema.SchemaExt.
func (keys listKeys) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, _ := v.([]any)
	seen := map[string]bool{}
	for i, item := range items {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		key, decided := map[string]any{}, true
		for _, name := range keys {
			value, has := fields[name]
			decided = decided && (!has || value != nil) // null is an unknown here
			if has {
				key[name] = value
			}
		}
		text := show(key)
		if decided && len(key) > 0 && seen[text] {
			ctx.AddError(&duplicate{keys: keys, index: i, value: key})
		}
		seen[text] = true
	}
}

func listKeysVocabulary() (*jsonschema.Vocabulary, error) {
	const url = "onedoor:list-map-keys"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, map[string]any{}); err != nil {
		return nil, err
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, err
	}
	return &jsonschema.Vocabulary{URL: url, Schema: schema, Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
		names, ok := schema[listKeysKeyword].([]any)
		if !ok {
			return nil, nil
		}
		keys := make(listKeys, len(names))
		for i, name := range names {
			keys[i] = name.(string)
		}
		return keys, nil
	}}, nil
}

// Package extract rebuilds a part of the azure-native provider's package schema
// from the provider's published Node.js SDK. The SDK holds every name and type
// that the schema holds, but not whether a number is an integer: that comes
// from a list of the exceptions. Descriptions are left out.
package extract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/dts"
)

// Package is the name of the provider, and the first part of every token.
const Package = "azure-native"

// Source is what Schema reads.
type Source struct {
	Files  map[string]string // files of the Node.js SDK, at least those that Needs names
	Floats []string          // numbers that are not integers: "consumption/v20231101:Budget.amount"
}

// Schema returns the schema of the resource types named ("network/v20240501:Subnet")
// with all types that they refer to, and all resources that share their name
// with such a type. A type that the SDK lacks is an error; all of them are reported.
func Schema(src Source, types []string) (*schema.PackageSpec, error) {
	x := &extractor{
		files:     src.Files,
		enums:     map[string]map[string][]dts.EnumValue{},
		queued:    map[string]kind{},
		resources: map[string]schema.ResourceSpec{},
		types:     map[string]schema.ComplexTypeSpec{},
		floats:    map[string]bool{},
	}
	for _, f := range src.Floats {
		x.floats[f] = true
	}
	version, err := packageVersion(src.Files)
	if err != nil {
		return nil, err
	}
	if err := x.namespaces(services(types)); err != nil {
		return nil, err
	}
	for _, t := range slices.Sorted(slices.Values(types)) {
		x.resource(t)
	}
	x.drain()
	if err := errors.Join(x.problems...); err != nil {
		return nil, err
	}
	return x.spec(version), nil
}

// Needs returns the filter for the SDK's files that Schema reads for the types named.
func Needs(types []string) func(path string) bool {
	wanted := map[string]bool{}
	for _, s := range services(types) {
		wanted[s] = true
	}
	return func(path string) bool {
		parts := strings.Split(path, "/")
		switch {
		case path == "package.json", path == inputTypes+declared, path == inputTypes+compiled, path == outputTypes+declared, path == outputTypes+compiled:
			return true
		case parts[0] == "types":
			return len(parts) > 3 && parts[1] == "enums" && wanted[parts[2]] && strings.HasSuffix(path, declared)
		default:
			return wanted[parts[0]] && (strings.HasSuffix(path, declared) || strings.HasSuffix(path, compiled))
		}
	}
}

const (
	inputTypes  = "types/input"
	outputTypes = "types/output"
	declared    = ".d.ts"
	compiled    = ".js"
)

// services returns the service modules of resource types: "network".
func services(types []string) []string {
	set := map[string]bool{}
	for _, t := range types {
		service, _, _ := strings.Cut(t, "/")
		set[service] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// kind says which of the SDK's three name spaces a type is from.
type kind string

const (
	inputs  kind = "inputs"
	outputs kind = "outputs"
	enums   kind = "enums"
)

type extractor struct {
	files  map[string]string
	floats map[string]bool
	shapes map[kind]map[string]map[string]*dts.Interface // kind, "network/v20240501", name
	preset map[kind]map[string]any                       // default values, by "network/v20240501:subnet.name"
	enums  map[string]map[string][]dts.EnumValue         // by "network/v20240501", name

	queue     []string
	queued    map[string]kind
	resources map[string]schema.ResourceSpec
	types     map[string]schema.ComplexTypeSpec
	problems  []error
}

func (x *extractor) problem(format string, args ...any) {
	x.problems = append(x.problems, fmt.Errorf(format, args...))
}

// drain converts the queued types, and the resources that share a name with
// one, until nothing new turns up. The namesakes matter because the Go
// generator renames a type X to XType where a resource X exists.
func (x *extractor) drain() {
	for len(x.queue) > 0 {
		t := x.queue[0]
		x.queue = x.queue[1:]
		if x.queued[t] == enums {
			x.types[token(t)] = x.enum(t)
		} else {
			x.types[token(t)] = x.object(x.queued[t], t)
		}
		if _, exists := x.files[resourceFile(t)+declared]; exists {
			x.resource(t)
		}
	}
}

func token(t string) string { return Package + ":" + t }

func (x *extractor) spec(version string) *schema.PackageSpec {
	return &schema.PackageSpec{
		Name:        Package,
		DisplayName: "Azure Native (subset)",
		Version:     version,
		Description: "A subset of the azure-native package schema, rebuilt from the published Node.js SDK.",
		License:     "Apache-2.0",
		Repository:  "https://github.com/pulumi/pulumi-azure-native",
		Meta:        &schema.MetadataSpec{ModuleFormat: "(.*)"},
		Language:    map[string]schema.RawMessage{"go": schema.RawMessage(goSettings)},
		Provider: &schema.ResourceSpec{ObjectTypeSpec: schema.ObjectTypeSpec{
			Description: "The provider type for the native Azure package.",
			Type:        "object",
		}},
		Resources: x.resources,
		Types:     x.types,
	}
}

// goSettings are the provider's own settings for the Go generator.
const goSettings = `{
 "disableInputTypeRegistrations": true,
 "generateResourceContainerTypes": false,
 "importBasePath": "github.com/pulumi/pulumi-azure-native-sdk/v2",
 "importPathPattern": "github.com/pulumi/pulumi-azure-native-sdk/{module}/v2",
 "internalModuleName": "utilities",
 "respectSchemaVersion": true,
 "rootPackageName": "pulumiazurenativesdk"
}`

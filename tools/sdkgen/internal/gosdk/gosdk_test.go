package gosdk

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func TestGenerateWritesWholeModules(t *testing.T) {
	t.Parallel()
	text := schema.PropertySpec{TypeSpec: schema.TypeSpec{Type: "string"}}
	thing := schema.ResourceSpec{
		ObjectTypeSpec:  schema.ObjectTypeSpec{Properties: map[string]schema.PropertySpec{"name": text}},
		InputProperties: map[string]schema.PropertySpec{"color": text},
	}
	spec := schema.PackageSpec{
		Name: "azure-native", Version: "9.8.7", Meta: &schema.MetadataSpec{ModuleFormat: "(.*)"},
		Language: map[string]schema.RawMessage{"go": schema.RawMessage(`{
			"importBasePath": "github.com/pulumi/pulumi-azure-native-sdk/v2", "importPathPattern": "github.com/pulumi/pulumi-azure-native-sdk/{module}/v2",
			"internalModuleName": "utilities", "rootPackageName": "pulumiazurenativesdk", "respectSchemaVersion": true}`)},
		Resources: map[string]schema.ResourceSpec{
			"azure-native:one/v20240101:Thing": thing,
			"azure-native:two/v20240101:Thing": thing,
		},
	}
	files, err := Generate(spec, []string{"one"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"one/go.mod", "one/pulumi-plugin.json", "one/v20240101/init.go", "one/v20240101/thing.go"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	for name, part := range map[string]string{
		"one/go.mod":             "module github.com/pulumi/pulumi-azure-native-sdk/one/v2\n",
		"one/pulumi-plugin.json": `"version": "9.8.7"`,
		"one/v20240101/thing.go": `"azure-native:one/v20240101:Thing"`,
	} {
		if !strings.Contains(string(files[name]), part) {
			t.Errorf("%s lacks %q:\n%s", name, part, files[name])
		}
	}
	if !strings.Contains(string(files["one/go.mod"]), "github.com/pulumi/pulumi-azure-native-sdk/v2 v9.8.7\n") {
		t.Errorf("go.mod pins another core module:\n%s", files["one/go.mod"])
	}
}

func TestGenerateRefusesOtherPackages(t *testing.T) {
	t.Parallel()
	spec := schema.PackageSpec{
		Name: "azure-native", Version: "1.0.0",
		Resources: map[string]schema.ResourceSpec{"azure-native:one/v20240101:Thing": {
			InputProperties: map[string]schema.PropertySpec{"x": {TypeSpec: schema.TypeSpec{Ref: "/random/v4.0.0/schema.json#/types/random:index:X"}}},
		}},
	}
	if _, err := Generate(spec, nil); err == nil || !strings.Contains(err.Error(), "must stand alone") {
		t.Errorf("got %v, want a refusal", err)
	}
}

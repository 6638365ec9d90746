package prune

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"

	"onedoor/tools/sdkgen/internal/wanted"
)

func ref(name string) schema.PropertySpec {
	return schema.PropertySpec{TypeSpec: schema.TypeSpec{Ref: "#/types/azure-native:n/v20240101:" + name}}
}

func object(properties map[string]schema.PropertySpec) schema.ComplexTypeSpec {
	return schema.ComplexTypeSpec{ObjectTypeSpec: schema.ObjectTypeSpec{Type: "object", Properties: properties}}
}

func properties(inputs, outputs map[string]schema.PropertySpec, required ...string) schema.ResourceSpec {
	return schema.ResourceSpec{
		ObjectTypeSpec:  schema.ObjectTypeSpec{Properties: outputs, Required: required},
		InputProperties: inputs,
	}
}

type props = map[string]schema.PropertySpec

// small has a net, whose inputs refer to a type that shares its name with the
// resource Rule, whose inputs refer to another type.
func small() schema.PackageSpec {
	text := schema.PropertySpec{TypeSpec: schema.TypeSpec{Type: "string"}}
	deep := schema.PropertySpec{TypeSpec: schema.TypeSpec{Type: "array", Items: &schema.TypeSpec{
		Type: "object", AdditionalProperties: &schema.TypeSpec{OneOf: []schema.TypeSpec{{Type: "string"}, ref("Deep").TypeSpec}},
	}}}
	return schema.PackageSpec{
		Name: "azure-native",
		Resources: map[string]schema.ResourceSpec{
			"azure-native:n/v20240101:Net":   properties(props{"rule": ref("Rule"), "deep": deep}, props{"name": text, "etag": text, "state": ref("NetResponse")}, "etag", "name"),
			"azure-native:n/v20240101:Rule":  properties(props{"action": ref("Action")}, props{"name": text}, "name"),
			"azure-native:n/v20240101:Other": properties(props{"x": ref("OtherType")}, props{"name": text}),
		},
		Types: map[string]schema.ComplexTypeSpec{
			"azure-native:n/v20240101:Rule":        object(props{"name": text}),
			"azure-native:n/v20240101:Deep":        object(props{"again": ref("Deep")}),
			"azure-native:n/v20240101:Action":      object(nil),
			"azure-native:n/v20240101:NetResponse": object(nil),
			"azure-native:n/v20240101:OtherType":   object(nil),
		},
	}
}

func TestPruneKeepsInputsWholeAndListedOutputs(t *testing.T) {
	t.Parallel()
	full := small()
	slim, err := Prune(full, []wanted.Resource{{Type: "n/v20240101:Net", Outputs: []string{"name"}}})
	if err != nil {
		t.Fatal(err)
	}
	net := slim.Resources["azure-native:n/v20240101:Net"]
	if got := slices.Sorted(maps.Keys(net.Properties)); !slices.Equal(got, []string{"name"}) || !slices.Equal(net.Required, []string{"name"}) {
		t.Errorf("outputs %q, required %q, want name alone", got, net.Required)
	}
	if len(net.InputProperties) != 2 {
		t.Errorf("inputs %v, want all", net.InputProperties)
	}
	for what, test := range map[string]struct{ got, want []string }{
		"resources": {slices.Sorted(maps.Keys(slim.Resources)), []string{"Net", "Rule"}}, // Rule is there for its name
		"types":     {slices.Sorted(maps.Keys(slim.Types)), []string{"Action", "Deep", "Rule"}},
	} {
		for i := range test.got {
			test.got[i] = strings.TrimPrefix(test.got[i], "azure-native:n/v20240101:")
		}
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s %q, want %q", what, test.got, test.want)
		}
	}
	if outputs := slim.Resources["azure-native:n/v20240101:Rule"].Properties; len(outputs) > 0 {
		t.Errorf("a namesake has outputs %v", outputs)
	}
	if !reflect.DeepEqual(full, small()) {
		t.Error("Prune changed its argument")
	}
}

func TestPruneNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	full := small()
	delete(full.Types, "azure-native:n/v20240101:Deep")
	_, err := Prune(full, []wanted.Resource{{Type: "n/v20240101:Net", Outputs: []string{"etags"}}, {Type: "n/v20240101:Otter"}})
	for _, want := range []string{
		`azure-native:n/v20240101:Net: no output "etags", nearest is "etag"`,
		"azure-native:n/v20240101:Otter: not in the schema, nearest is azure-native:n/v20240101:Other",
		"azure-native:n/v20240101:Deep: the schema refers to this type but lacks it",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

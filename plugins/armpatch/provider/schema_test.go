package provider

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/emptypb"

	armpatch "onedoor/plugins/armpatch/sdk"
)

// schemaType is as much of a type as this package uses.
type schemaType struct {
	Type, Description    string
	Ref                  string `json:"$ref"`
	Items                *schemaType
	AdditionalProperties *schemaType
	Default              any
	WillReplaceOnChanges bool
}

type packageSchema struct {
	Name, Version string
	Config        struct{ Variables map[string]schemaType }
	Provider      struct{ InputProperties map[string]schemaType }
	Resources     map[string]struct {
		InputProperties, Properties map[string]schemaType
		RequiredInputs, Required    []string
	}
}

func readSchema(t *testing.T) packageSchema {
	t.Helper()
	resp, err := New(Options{}).GetSchema(t.Context(), &pulumirpc.GetSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var s packageSchema
	if err := json.Unmarshal([]byte(resp.GetSchema()), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// The schema, the provider and the SDK speak of the same package.
func TestSchemaAgreesWithTheCode(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	info, err := New(Options{}).GetPluginInfo(t.Context(), &emptypb.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"schema": s.Version, "SDK": armpatch.Version, "plugin": info.GetVersion()} {
		if got != Version {
			t.Errorf("version of the %s: got %s, want %s", what, got, Version)
		}
	}
	if s.Name != Name || armpatch.Token != Token || armpatch.Keep != Keep || armpatch.Restore != Restore || !slices.Equal(sorted(s.Resources), []string{Token}) {
		t.Errorf("name %s, resources %v, SDK's token %s", s.Name, sorted(s.Resources), armpatch.Token)
	}
	for _, m := range []map[string]schemaType{s.Config.Variables, s.Provider.InputProperties} {
		if !slices.Equal(sorted(m), []string{configEnvironment}) {
			t.Errorf("configuration: %v", sorted(m))
		}
	}
	r := s.Resources[Token]
	if !slices.Equal(sorted(r.InputProperties), inputNames) {
		t.Errorf("inputs: got %v, want %v", sorted(r.InputProperties), inputNames)
	}
	outputs := slices.Concat(inputNames, []string{outPrevious, outAbsent, outResourceUID, outPatchedUID, outAlreadyHeld})
	slices.Sort(outputs)
	if !slices.Equal(sorted(r.Properties), outputs) {
		t.Errorf("outputs: got %v, want %v", sorted(r.Properties), outputs)
	}
	for name, want := range map[string]any{inOnDelete: DefaultOnDelete, inPoll: float64(DefaultPollSeconds), inTimeout: float64(DefaultTimeoutSeconds)} {
		if got := r.InputProperties[name].Default; got != want {
			t.Errorf("default of %s: got %v, want %v", name, got, want)
		}
	}
	for name, in := range r.InputProperties {
		if in.WillReplaceOnChanges != (name == inResourceID) {
			t.Errorf("%s replaces: %v", name, in.WillReplaceOnChanges)
		}
		out := r.Properties[name]
		if in.Description == "" || out.Description == "" || !sameType(in, out) {
			t.Errorf("%s: an input of %+v and an output of %+v", name, in, out)
		}
	}
	// What Check asks for is what the schema says is required.
	_, problems := parse(nil)
	var required []string
	for _, p := range problems {
		required = append(required, p.property)
	}
	slices.Sort(required)
	if !slices.Equal(r.RequiredInputs, required) {
		t.Errorf("required inputs: got %v, want %v", r.RequiredInputs, required)
	}
}

func sameType(a, b schemaType) bool {
	return a.Type == b.Type && a.Ref == b.Ref && reflect.DeepEqual(a.Items, b.Items) && reflect.DeepEqual(a.AdditionalProperties, b.AdditionalProperties)
}

// typeName is what the SDK has for a type of the schema.
func (s schemaType) typeName() string {
	switch {
	case s.Type == "array":
		return s.Items.typeName() + "Array"
	case s.Type == "object" && s.AdditionalProperties.Ref != "":
		return "Map"
	case s.Type == "object":
		return s.AdditionalProperties.typeName() + "Map"
	}
	return map[string]string{"string": "String", "integer": "Int", "boolean": "Bool"}[s.Type]
}

// goName writes a property as Go does, initialisms in capitals.
func goName(property string) string {
	name := strings.ToUpper(property[:1]) + property[1:]
	for _, word := range []string{"Api", "Uid"} {
		name = strings.Replace(name, word, strings.ToUpper(word), 1)
	}
	if base, ok := strings.CutSuffix(name, "Id"); ok {
		name = base + "ID"
	}
	return name
}

func TestSDKAgreesWithTheSchema(t *testing.T) {
	t.Parallel()
	r := readSchema(t).Resources[Token]
	want := func(properties map[string]schemaType, required []string, suffix string) map[string]string {
		out := map[string]string{}
		for name, p := range properties {
			typeName := p.typeName()
			if !slices.Contains(required, name) && p.Items == nil && p.AdditionalProperties == nil {
				typeName += "Ptr"
			}
			out[goName(name)] = "pulumi." + typeName + suffix
		}
		return out
	}
	fields := func(of reflect.Type) (types, tags map[string]string) {
		types, tags = map[string]string{}, map[string]string{}
		for f := range of.Fields() {
			if !f.Anonymous {
				types[f.Name], tags[f.Name] = f.Type.String(), f.Tag.Get("pulumi")
			}
		}
		return types, tags
	}
	compare := func(what string, got, want map[string]string) {
		t.Helper()
		for _, name := range slices.Compact(slices.Sorted(maps.Keys(merged(got, want)))) {
			if got[name] != want[name] {
				t.Errorf("%s: %s: got %q, want %q", what, name, got[name], want[name])
			}
		}
	}
	types, tags := fields(reflect.TypeFor[armpatch.Patch]())
	compare("outputs", types, want(r.Properties, r.Required, "Output"))
	for name, tag := range tags {
		if goName(tag) != name {
			t.Errorf("tag of %s: %q", name, tag)
		}
	}
	types, _ = fields(reflect.TypeFor[armpatch.PatchArgs]())
	compare("inputs", types, want(r.InputProperties, r.RequiredInputs, "Input"))
	// What the SDK sends is decided by the plain struct behind the inputs.
	plainFields, tags := fields(armpatch.PatchArgs{}.ElementType())
	for name, tag := range tags {
		if goName(tag) != name {
			t.Errorf("tag of %s: %q", name, tag)
		}
	}
	if !slices.Equal(sorted(plainFields), sorted(types)) {
		t.Errorf("plain inputs: got %v, want %v", sorted(plainFields), sorted(types))
	}
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

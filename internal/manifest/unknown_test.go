package manifest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever part of an object is not known yet, no rule speaks about it, and what
// is known is still judged.
func TestCheckSkipsWhatIsUnknown(t *testing.T) {
	t.Parallel()
	for name, text := range legal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := object(t, text)
			for _, at := range places(whole, nil) {
				object := object(t, text)
				replace(object, at, Unknown{})
				assert.Empty(t, lines(Check(object)), "with %v unknown", at)
			}
		})
	}
}

// A known mistake beside an unknown value is still found.
func TestCheckJudgesWhatIsKnownBesideUnknown(t *testing.T) {
	t.Parallel()
	body := object(t, deployment)
	replace(body, []any{"spec", "template", "spec", "containers", 0, "image"}, Unknown{})
	replace(body, []any{"spec", "replicas"}, "2")
	assert.Equal(t, "spec.replicas: got \"2\", want a whole number\n", lines(Check(body)))
}

// places returns the paths of all values, containers too.
func places(v any, base []any) [][]any {
	var out [][]any
	if len(base) > 0 {
		out = append(out, base)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			out = append(out, places(item, append(slices.Clip(base), key))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, places(item, append(slices.Clip(base), i))...)
		}
	}
	return out
}

func replace(v any, path []any, with any) {
	for _, step := range path[:len(path)-1] {
		switch s := step.(type) {
		case string:
			v = v.(map[string]any)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	switch s := path[len(path)-1].(type) {
	case string:
		v.(map[string]any)[s] = with
	case int:
		v.([]any)[s] = with
	default:
		panic(fmt.Sprint(s))
	}
}

// A condition that a value inside decides is not judged while that value is
// unknown.
func TestConditionsWaitForUnknowns(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("x.json", map[string]any{"anyOf": []any{
		map[string]any{"properties": map[string]any{"a": map[string]any{"type": "string"}}, "required": []any{"a"}},
		map[string]any{"required": []any{"b"}},
	}}))
	schema, err := compiler.Compile("x.json")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"unknown": {map[string]any{"a": Unknown{}}, ""},
		"wrong":   {map[string]any{"a": 1.0}, "x: got {\"a\":1}, want an object with b\n"},
		"right":   {map[string]any{"a": "a"}, ""},
	} {
		c2 := &checker{catalog: load()}
		c2.structure(schema, node{"x", c.value})
		assert.Equal(t, c.want, lines(c2.problems), name)
	}
}

// Null is absent, as it is to the API server.
func TestNullIsAbsent(t *testing.T) {
	t.Parallel()
	body := object(t, deployment)
	replace(body, []any{"spec", "replicas"}, nil)
	assert.Empty(t, lines(Check(body)))
	replace(body, []any{"spec", "selector"}, nil)
	assert.Equal(t, "spec.selector: got nothing, want a value: it is required\n", lines(Check(body)))
}

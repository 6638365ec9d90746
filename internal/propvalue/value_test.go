package propvalue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func tree(t testing.TB, members map[string]any) Value {
	t.Helper()
	s, err := structpb.NewStruct(members)
	require.NoError(t, err)
	return Of(s)
}

func secret(v any) map[string]any { return map[string]any{sig.Key: sig.Secret, "value": v} }

func TestStates(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]any{
		"on": true, "text": "a", "none": nil, "unknown": sig.UnknownStringValue,
		"partly": `{"id":"` + sig.UnknownStringValue + `"}`,
		"secret": secret(map[string]any{"inner": true}),
		"output": map[string]any{sig.Key: sig.OutputValue, "value": secret(false)},
		"later":  map[string]any{sig.Key: sig.OutputValue, "secret": true},
		"ref":    map[string]any{sig.Key: sig.ResourceReference, "urn": "urn:x"},
		"list":   []any{map[string]any{"name": "first"}, sig.UnknownObjectValue},
	})
	for path, want := range map[string]struct {
		state  State
		secret bool
	}{
		"on": {Known, false}, "none": {Absent, false}, "missing": {Absent, false}, "missing.below": {Absent, false},
		"unknown": {Unknown, false}, "unknown.below": {Unknown, false}, "partly": {Unknown, false},
		"text.below": {Mistyped, false}, "secret": {Known, true}, "secret.inner": {Known, true},
		"output": {Known, true}, "later": {Unknown, true}, "ref": {Known, false},
	} {
		got := root.At(strings.Split(path, ".")...)
		assert.Equal(t, want.state, got.State(), path)
		assert.Equal(t, want.secret, got.Secret(), path)
		assert.Equal(t, path, got.Path())
	}
	_, state := root.At("text").Bool()
	assert.Equal(t, Mistyped, state, "a text is not false")
	_, state = root.At("unknown").Bool()
	assert.Equal(t, Unknown, state, "an unknown value is not false")
	items, state := root.At("list").Items()
	require.Equal(t, Known, state)
	require.Len(t, items, 2)
	assert.Equal(t, "list[0].name", items[0].At("name").Path())
	assert.Equal(t, Unknown, items[1].At("name").State())
	urn, _ := root.At("ref").Text()
	assert.Equal(t, "urn:x", urn)
}

func TestShownHidesWhatGivesAccess(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]any{
		"marked":     secret("hunter2"),
		"nested":     map[string]any{"a": secret("hunter2"), "b": sig.UnknownBoolValue, "c": 1},
		"primaryKey": "hunter2", "adminPassword": "hunter2", "keyVault": "https://kv.example",
		"url":  "https://x.example/?sv=1&sig=hunter2",
		"long": strings.Repeat("é", 400),
	})
	for path, want := range map[string]string{
		"marked": ShownSecret, "nested": `{"a":"[secret]","b":"[unknown]","c":1}`,
		"primaryKey": ShownSecret, "adminPassword": ShownSecret, "keyVault": "https://kv.example",
		"url": ShownSecret, "missing": ShownAbsent, "url.below": ShownOther,
	} {
		assert.Equal(t, want, root.At(strings.Split(path, ".")...).Shown(), path)
	}
	assert.NotContains(t, root.Shown(), "hunter2")
	long := root.At("long").Shown()
	assert.LessOrEqual(t, len(long), maxShown+len("..."))
	assert.NotContains(t, long, "\uFFFD", "a rune was cut")
}

// Whatever arrives, reading ends, and a value that is not known is never given as known.
func FuzzReadersAreTotal(f *testing.F) {
	f.Add(`{"a":{"`+sig.Key+`":"`+sig.Secret+`","value":{"b":[1,null,"x"]}}}`, "a", "b")
	f.Add(`{"a":{"`+sig.Key+`":"`+sig.Secret+`"}}`, "a", "value")
	f.Add(`{"a":"`+sig.UnknownStringValue+`"}`, "a", "b")
	f.Fuzz(func(t *testing.T, document, first, second string) {
		var members map[string]any
		if json.Unmarshal([]byte(document), &members) != nil {
			t.Skip()
		}
		s, err := structpb.NewStruct(members)
		if err != nil {
			t.Skip()
		}
		v := Of(s).At(first, second)
		_, isBool := v.Bool()
		_, isText := v.Text()
		_, isNumber := v.Number()
		items, isList := v.Items()
		isObject := v.Object()
		known := 0
		for _, state := range []State{isBool, isText, isNumber, isList, isObject} {
			if state == Known {
				known++
			}
		}
		if v.State() == Known {
			assert.Equal(t, 1, known, "a known value is of one kind")
		} else {
			assert.Zero(t, known)
		}
		for _, item := range items {
			_ = item.Shown()
		}
		assert.LessOrEqual(t, len(v.Shown()), maxShown+3)
		_ = v.Plain(nil)
	})
}

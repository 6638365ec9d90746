package propvalue

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestARecordIsReadLikeWhatTheEngineSends(t *testing.T) {
	t.Parallel()
	root := OfRecord(map[string]any{
		"text": "a", "number": 2.0, "on": true, "none": nil, "list": []any{map[string]any{"name": "first"}},
		"unknown": ShownUnknown, "partly": "id-" + ShownUnknown, "secret": ShownSecret, "odd": struct{}{},
	})
	for key, want := range map[string]State{
		"text": Known, "number": Known, "on": Known, "list": Known, "none": Absent, "missing": Absent, "odd": Absent,
		"unknown": Unknown, "partly": Unknown, "secret": Unknown,
	} {
		assert.Equal(t, want, root.At(key).State(), key)
	}
	items, state := root.At("list").Items()
	assert.Equal(t, Known, state)
	name, _ := items[0].At("name").Text()
	assert.Equal(t, "first", name)
	assert.Equal(t, "list[0].name", items[0].At("name").Path())
	assert.Equal(t, Absent, OfRecord(nil).At("x").State())
}

func TestCountSaysWhetherItIsSure(t *testing.T) {
	t.Parallel()
	root := OfRecord(map[string]any{"n": 7.0, "unknown": ShownUnknown, "text": "7"})
	for key, want := range map[string]struct {
		n    int
		sure bool
	}{"n": {7, true}, "missing": {3, true}, "unknown": {3, false}, "text": {3, false}} {
		n, sure := root.At(key).Count(3)
		assert.Equal(t, want.n, n, key)
		assert.Equal(t, want.sure, sure, key)
	}
}

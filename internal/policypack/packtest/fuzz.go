package packtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
)

// Fuzz gives every rule of the pack arbitrary inputs in place of its fixture's.
// No rule may panic. And no rule may pass what it cannot know: if a rule passes
// while some value is unknown, it must not fail for the value itself.
func Fuzz(f *testing.F, pack func() policypack.Pack, settings, dir string) {
	f.Helper()
	rules := pack().Rules
	fixtures := map[int]Fixture{}
	for i, rule := range rules {
		if rule.ID == settings {
			continue
		}
		fixture := Load(f, dir, rule.ID)
		subject := fixture.Resources[fixture.Subject]
		subject.From, subject.After = nil, nil // or what an unknown value was made from could contradict the value
		fixture.Resources[fixture.Subject] = subject
		fixtures[i] = fixture
		worlds := []Fixture{fixture}
		for _, c := range fixture.Cases {
			if world := fixture.changed(f, c); world.Resources[fixture.Subject].Type == subject.Type {
				worlds = append(worlds, world)
			}
		}
		for _, world := range worlds {
			encoded, err := json.Marshal(normal(world.Resources[world.Subject].Inputs))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(i, string(encoded))
		}
	}
	f.Fuzz(func(t *testing.T, n int, document string) {
		fixture, tested := fixtures[n]
		var inputs map[string]any
		if !tested || json.Unmarshal([]byte(document), &inputs) != nil {
			t.Skip()
		}
		if _, err := structpb.NewStruct(inputs); err != nil {
			t.Skip()
		}
		fresh := pack()
		state := func(inputs map[string]any) results.State {
			world := fixture
			world.Resources = maps.Clone(fixture.Resources)
			subject := world.Resources[world.Subject]
			subject.Inputs = inputs
			world.Resources[world.Subject] = subject
			return Judge(t, &fresh.Rules[n], world).State()
		}
		known := state(inputs)
		if known != results.Fail {
			return
		}
		for at, blurred := range blurs(inputs) {
			if state(blurred.(map[string]any)) == results.Pass {
				t.Errorf("%s passes while %s is unknown, and fails when it is known: %s", fresh.Rules[n].ID, at, document)
			}
		}
	})
}

// maxBlurs bounds how many values of a document are tried.
const maxBlurs = 60

// blurs are copies of v in each of which one value is unknown, by its path.
func blurs(v any) map[string]any {
	out := map[string]any{}
	each(v, "", func(path string, replaced any) {
		if len(out) < maxBlurs {
			out[path] = replaced
		}
	})
	return out
}

// each calls yield with v for every value below it, with that value unknown.
func each(v any, path string, yield func(path string, replaced any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			put := func(at string, inner any) {
				c := maps.Clone(v)
				c[key] = inner
				yield(at, c)
			}
			put(path+"."+key, sig.UnknownStringValue)
			each(v[key], path+"."+key, put)
		}
	case []any:
		for i := range v {
			put := func(at string, inner any) {
				c := slices.Clone(v)
				c[i] = inner
				yield(at, c)
			}
			put(fmt.Sprintf("%s[%d]", path, i), sig.UnknownStringValue)
			each(v[i], fmt.Sprintf("%s[%d]", path, i), put)
		}
	}
}

package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"onedoor/stacks"
)

// sample is the configuration of a stack file below the project's namespace.
type sample struct {
	stack  string
	values map[string]any
}

func readSample(stack, file string) (sample, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return sample{}, err
	}
	var parsed struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(raw, &parsed); err != nil {
		return sample{}, fmt.Errorf("%s: %w", file, err)
	}
	s := sample{stack, map[string]any{}}
	for key, v := range parsed.Config {
		if root, ours := strings.CutPrefix(key, "onedoor:"); ours {
			s.values[root] = v
		}
	}
	return s, nil
}

// at is where path leads in the sample, with the first name, in alphabetical order,
// for each that the configuration chooses, and what is there; ok is false where the
// sample has nothing.
func (s sample) at(path string) (real string, v any, ok bool) {
	v = s.values
	var steps []string
	for step := range strings.SplitSeq(path, ".") {
		m, isMap := v.(map[string]any)
		if step == stacks.EntryName {
			step = exampleName
			if isMap && len(m) > 0 {
				step = first(m, path)
			}
		}
		steps = append(steps, step)
		v, ok = m[step]
	}
	return strings.Join(steps, "."), v, ok
}

// exampleName is a name where a sample chooses none.
const exampleName = "example"

// first is the first name of m that has the rest of path, else the first one.
func first(m map[string]any, path string) string {
	names := slices.Sorted(maps.Keys(m))
	last := path[strings.LastIndex(path, ".")+1:]
	for _, name := range names {
		if entry, ok := m[name].(map[string]any); ok && entry[last] != nil {
			return name
		}
	}
	return names[0]
}

// with is the sample as Parse reads it, with v at a path.
func (s sample) with(path string, v any) (map[string]string, error) {
	var tree map[string]any
	raw, err := json.Marshal(s.values) // a deep copy
	if err == nil {
		err = json.Unmarshal(raw, &tree)
	}
	if err != nil {
		return nil, err
	}
	steps := strings.Split(path, ".")
	at := tree
	for _, step := range steps[:len(steps)-1] {
		below, ok := at[step].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[step] = below
		}
		at = below
	}
	at[steps[len(steps)-1]] = v
	out := map[string]string{}
	for root, value := range tree {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		out[root] = string(text)
	}
	return out, nil
}

// refusal is what the checks of the configuration say of a wrong value.
type refusal struct {
	want    string
	example string // a value that would do, "" where the check names none
}

// refusals tries values that cannot be right at a key, and returns what the checks
// say, each once.
func (s sample) refusals(key stacks.Key) ([]refusal, error) {
	path, _, _ := s.at(key.Path)
	var out []refusal
	for _, wrong := range wrongs(key.Type) {
		values, err := s.with(path, wrong)
		if err != nil {
			return nil, err
		}
		_, err = stacks.Parse(s.stack, values)
		config, refused := errors.AsType[*stacks.ConfigError](err)
		if !refused {
			continue
		}
		for _, p := range config.Problems {
			if p.Key != path {
				continue
			}
			r := refusal{want: strings.TrimPrefix(p.Want, "want ")}
			if _, after, ok := strings.Cut(p.Fix, "--path 'onedoor:"+path+"' "); ok {
				r.example = strings.Trim(after, "'")
			}
			if !slices.ContainsFunc(out, func(have refusal) bool { return have.want == r.want }) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// wrongs are values that are wrong for most keys of a type: too small, too large, or
// of no legal form.
func wrongs(t reflect.Type) []any {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return []any{"-1s", "999999h"}
	case t == reflect.TypeFor[netip.Prefix]():
		return []any{"203.0.113.7/32", "::/0"}
	case t == reflect.TypeFor[netip.Addr]():
		return []any{"::1"}
	}
	switch t.Kind() {
	case reflect.String:
		return []any{"", "?!"}
	case reflect.Int:
		return []any{-2, math.MaxInt32}
	case reflect.Float64:
		return []any{-2.5, 1e9}
	case reflect.Bool:
		return []any{true, false}
	case reflect.Slice:
		return []any{[]any{}, []any{"?!"}}
	case reflect.Map:
		return []any{map[string]any{}}
	default:
		return nil
	}
}

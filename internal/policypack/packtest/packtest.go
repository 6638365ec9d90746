// Package packtest tests the rules of a policy pack by fixtures: one YAML file
// for each rule, with a stack that keeps the rule and the changes that break it.
// From every fixture it also derives what must hold for all rules: a token with
// a version is judged alike, an unknown value never passes, a secret one is
// judged and not shown.
package packtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/sig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/armtypes"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/results"
	"onedoor/internal/propvalue"
)

// Resource is a resource of a fixture.
type Resource struct {
	Type   string              `yaml:"type"`
	Inputs map[string]any      `yaml:"inputs"`
	From   map[string][]string `yaml:"from"`  // resources that an input was made from
	After  []string            `yaml:"after"` // resources that it depends on otherwise
}

// Case is a change of the fixture and what becomes of the rule.
type Case struct {
	Name     string            `yaml:"name"`
	Set      map[string]any    `yaml:"set"`      // "resource:path" to value, "[unknown]" for one that is not known; "resource:from" to what its inputs are made from
	Drop     []string          `yaml:"drop"`     // resources, or "resource:path"
	Settings map[string]any    `yaml:"settings"` // of the rule that carries the pack's
	Config   map[string]string `yaml:"config"`   // of the stack, by full key
	Want     results.State     `yaml:"want"`
	Says     string            `yaml:"says"` // part of the reason
}

// Fixture is what a file holds.
type Fixture struct {
	Subject   string              `yaml:"subject"` // the resource that is judged
	Resources map[string]Resource `yaml:"resources"`
	Settings  map[string]any      `yaml:"settings"`
	Config    map[string]string   `yaml:"config"` // of the stack, by full key
	// Decides are the properties of the subject that decide, each with the state
	// of the rule when the property is absent.
	Decides map[string]results.State `yaml:"decides"`
	Cases   []Case                   `yaml:"cases"`
}

// Run tests every rule of the pack with its fixture in dir. settings is the id of
// the rule that carries the pack's settings.
func Run(t *testing.T, pack func() policypack.Pack, settings, dir string) {
	t.Helper()
	require.NoError(t, pack().Check())
	ids := map[string]bool{}
	for _, rule := range pack().Rules {
		ids[rule.ID] = true
		if rule.ID == settings {
			continue
		}
		t.Run(rule.ID, func(t *testing.T) {
			t.Parallel()
			runner{pack, settings, rule.ID, Load(t, dir, rule.ID)}.all(t)
		})
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		assert.True(t, ids[strings.TrimSuffix(filepath.Base(file), ".yaml")], "%s is the fixture of no rule", file)
	}
}

// Load reads the fixture of a rule.
func Load(t testing.TB, dir, rule string) Fixture {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, rule+".yaml"))
	require.NoError(t, err, "every rule has a fixture")
	defer file.Close()
	var f Fixture
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&f), rule)
	return f
}

type runner struct {
	pack     func() policypack.Pack
	settings string
	id       string
	fixture  Fixture
}

func (r runner) all(t *testing.T) {
	f := r.fixture
	require.Contains(t, f.Resources, f.Subject)
	require.NotEmpty(t, f.Decides, "no property decides: nothing is tested with absent and unknown values")
	require.True(t, slices.ContainsFunc(f.Cases, func(c Case) bool { return c.Want == results.Fail }), "no case violates the rule")

	f.checkNames(t, "the fixture")
	c := r.judge(t, f, nil)
	require.Equal(t, results.Pass, c.State(), "the fixture itself: %v", c.Findings())

	versioned := f.clone(t)
	for name, res := range versioned.Resources {
		at := strings.LastIndex(res.Type, ":")
		if strings.HasPrefix(res.Type, "azure-native:") {
			res.Type = res.Type[:at] + "/v20991231preview" + res.Type[at:]
		}
		versioned.Resources[name] = res
	}
	assert.Equal(t, results.Pass, r.judge(t, versioned, nil).State(), "versioned tokens are judged alike")

	for _, path := range slices.Sorted(maps.Keys(f.Decides)) {
		at := f.Subject + ":" + path
		absent := r.judge(t, f.changed(t, Case{Drop: []string{at}}), nil)
		assert.Equal(t, f.Decides[path], absent.State(), "%s absent: %v", path, absent.Findings())
		unknown := r.judge(t, f.changed(t, Case{Set: map[string]any{at: sig.UnknownStringValue}}), nil)
		assert.Equal(t, results.NotChecked, unknown.State(), "%s unknown: %v", path, unknown.Findings())
		const canary = "canary-of-a-secret"
		secret := r.judge(t, f.changed(t, Case{Set: map[string]any{at: map[string]any{sig.Key: sig.Secret, "value": canary}}}), nil)
		assert.NotContains(t, fmt.Sprint(secret.Findings()), canary, "a secret is never shown")
		right := r.judge(t, f.wrapped(t, path), nil)
		assert.Equal(t, results.Pass, right.State(), "%s right and secret: %v", path, right.Findings())
	}
	r.hides(t, f, nil)
	for _, c := range f.Cases {
		r.hides(t, f.changed(t, c), c.Settings)
		f.changed(t, c).only(f, c).checkNames(t, c.Name)
		got := r.judge(t, f.changed(t, c), c.Settings)
		assert.Equal(t, c.Want, got.State(), "%s: %v", c.Name, got.Findings())
		assert.Contains(t, fmt.Sprint(got.Findings()), c.Says, c.Name)
		hidden := r.judge(t, f.changed(t, c.secret()), c.Settings)
		assert.Equal(t, c.Want, hidden.State(), "%s, secret: %v", c.Name, hidden.Findings())
		for _, finding := range hidden.Findings() {
			for _, value := range c.Set {
				// What the fixture says in the clear elsewhere is no secret.
				if text, isText := value.(string); isText && len(text) > 3 && value != "[unknown]" && !strings.Contains(fmt.Sprint(f.Resources), text) {
					assert.NotContains(t, finding.Evidence.Value, text, "%s: a secret is never shown", c.Name)
				}
			}
		}
		for _, finding := range got.Findings() {
			if finding.State == results.Fail {
				assert.NotEmpty(t, finding.Evidence.Expected, c.Name)
				assert.NotEmpty(t, finding.Evidence.Value, c.Name)
			}
		}
	}
}

// hides demands that evidence shows nothing of a stack in which every text is secret.
func (r runner) hides(t *testing.T, f Fixture, settings map[string]any) {
	t.Helper()
	secret := f.clone(t)
	var texts []string
	for name, res := range secret.Resources {
		for key, value := range res.Inputs {
			res.Inputs[key] = hidden(value, &texts)
		}
		secret.Resources[name] = res
	}
	for _, finding := range r.judge(t, secret, settings).Findings() {
		for _, text := range texts {
			if !strings.Contains(finding.Evidence.Path+finding.Evidence.Value, text) {
				continue
			}
			word := regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(text) + `([^\w-]|$)`)
			assert.NotRegexp(t, word, finding.Evidence.Path+" "+finding.Evidence.Value, "a secret is never shown")
		}
	}
}

// shortest is how long a text must be to be told from words of a rule, in bytes.
const shortest = 8

// hidden is v with every text marked secret; long ones are added to texts.
func hidden(v any, texts *[]string) any {
	switch v := v.(type) {
	case string:
		if v == sig.UnknownStringValue {
			return v
		}
		if len(v) >= shortest {
			*texts = append(*texts, v)
		}
		return map[string]any{sig.Key: sig.Secret, "value": v}
	case []any:
		for i := range v {
			v[i] = hidden(v[i], texts)
		}
	case map[string]any:
		if v[sig.Key] != nil {
			return v
		}
		for key := range v {
			v[key] = hidden(v[key], texts)
		}
	}
	return v
}

// checkNames demands that the fixture's resources have the inputs of their types:
// a rule that reads a property which does not exist would judge its absence.
func (f Fixture) checkNames(t *testing.T, where string) {
	t.Helper()
	catalog, err := armtypes.Load()
	require.NoError(t, err)
	known := map[string]*armtypes.Resource{}
	for _, token := range catalog.Tokens() {
		known[policypack.TypeOf(token)], _ = catalog.ByToken(token)
	}
	for name, res := range f.Resources {
		typ, ok := known[policypack.TypeOf(res.Type)]
		if !ok {
			continue
		}
		inputs := normal(res.Inputs).(map[string]any)
		for _, problem := range typ.CheckInputs(inputs) {
			assert.NotEqual(t, armtypes.UnknownProperty, problem.Code, "%s: %s: %v", where, name, problem)
		}
	}
}

// only drops from resources of another type than the original's the inputs that
// the case did not set: they are of that other type.
func (f Fixture) only(original Fixture, c Case) Fixture {
	for name, res := range f.Resources {
		if policypack.TypeOf(res.Type) == policypack.TypeOf(original.Resources[name].Type) {
			continue
		}
		for key := range res.Inputs {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(c.Set)), func(at string) bool { return steps(strings.TrimPrefix(at, name+":"))[0] == key }) {
				delete(res.Inputs, key)
			}
		}
	}
	return f
}

func (r runner) judge(t *testing.T, f Fixture, settings map[string]any) *policypack.Case {
	t.Helper()
	pack := r.pack()
	if settings == nil {
		settings = f.Settings
	}
	if settings != nil {
		i := slices.IndexFunc(pack.Rules, func(rule policypack.Rule) bool { return rule.ID == r.settings })
		encoded, err := json.Marshal(settings)
		require.NoError(t, err)
		require.NoError(t, pack.Rules[i].Configure(encoded))
	}
	i := slices.IndexFunc(pack.Rules, func(rule policypack.Rule) bool { return rule.ID == r.id })
	return Judge(t, &pack.Rules[i], f)
}

// Judge runs the rule over the fixture's subject. Its panics are not caught.
func Judge(t testing.TB, rule *policypack.Rule, f Fixture) *policypack.Case {
	t.Helper()
	made := map[string]*policypack.Resource{}
	for name, res := range f.Resources {
		inputs, err := structpb.NewStruct(normal(res.Inputs).(map[string]any))
		require.NoError(t, err, name)
		made[name] = &policypack.Resource{
			URN: urn(name), Token: res.Type, Type: policypack.TypeOf(res.Type), Name: name, Inputs: propvalue.Of(inputs), ByProperty: map[string][]string{},
		}
	}
	var all []*policypack.Resource
	for _, name := range slices.Sorted(maps.Keys(made)) {
		for property, others := range f.Resources[name].From {
			for _, other := range others {
				require.Contains(t, made, other)
				made[name].ByProperty[property] = append(made[name].ByProperty[property], urn(other))
				made[name].Dependencies = append(made[name].Dependencies, urn(other))
			}
		}
		for _, other := range f.Resources[name].After {
			require.Contains(t, made, other)
			made[name].Dependencies = append(made[name].Dependencies, urn(other))
		}
		all = append(all, made[name])
	}
	subject := made[f.Subject]
	require.True(t, rule.Judges(subject.Type), "%s does not judge %s", rule.ID, subject.Type)
	c := policypack.NewCase(subject)
	if rule.Resource != nil {
		rule.Resource(c)
	} else {
		stack := policypack.NewStack(all)
		stack.Config = f.Config
		rule.Stack(stack, c)
	}
	return c
}

func urn(name string) string { return "urn:pulumi:test::test::" + name }

// normal makes what YAML gives fit for structpb.
func normal(v any) any {
	switch v := v.(type) {
	case nil:
		return map[string]any{}
	case int:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = normal(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = normal(e)
		}
		return out
	default:
		return v
	}
}

// secret is the case with every value that it sets marked secret.
func (c Case) secret() Case {
	out := c
	out.Set = map[string]any{}
	for at, value := range c.Set {
		if _, path, _ := strings.Cut(at, ":"); path != "type" && path != "from" && value != "[unknown]" {
			value = map[string]any{sig.Key: sig.Secret, "value": value}
		}
		out.Set[at] = value
	}
	return out
}

func (f Fixture) clone(t testing.TB) Fixture {
	t.Helper()
	encoded, err := yaml.Marshal(f)
	require.NoError(t, err)
	var out Fixture
	require.NoError(t, yaml.Unmarshal(encoded, &out))
	return out
}

// changed is the fixture after a case's changes.
func (f Fixture) changed(t testing.TB, c Case) Fixture {
	t.Helper()
	out := f.clone(t)
	for _, at := range c.Drop {
		name, path, within := strings.Cut(at, ":")
		require.Contains(t, out.Resources, name, c.Name)
		if !within {
			delete(out.Resources, name)
			for _, res := range out.Resources {
				for property := range res.From {
					res.From[property] = slices.DeleteFunc(res.From[property], func(s string) bool { return s == name })
				}
			}
			continue
		}
		edit(t, out.Resources[name].Inputs, path, nil)
	}
	for _, at := range slices.Sorted(maps.Keys(c.Set)) {
		name, path, _ := strings.Cut(at, ":")
		require.Contains(t, out.Resources, name, c.Name)
		res := out.Resources[name]
		switch path {
		case "type":
			res.Type = c.Set[at].(string)
			out.Resources[name] = res
		case "from":
			var from map[string][]string
			encoded, err := yaml.Marshal(c.Set[at])
			require.NoError(t, err)
			require.NoError(t, yaml.Unmarshal(encoded, &from))
			res.From, res.After = from, nil
			out.Resources[name] = res
		default:
			value := c.Set[at]
			if value == "[unknown]" {
				value = sig.UnknownStringValue
			}
			edit(t, res.Inputs, path, value)
		}
	}
	if c.Config != nil {
		out.Config = c.Config
	}
	return out
}

// wrapped is the fixture with one value of the subject marked secret.
func (f Fixture) wrapped(t testing.TB, path string) Fixture {
	t.Helper()
	out := f.clone(t)
	inputs := out.Resources[f.Subject].Inputs
	edit(t, inputs, path, map[string]any{sig.Key: sig.Secret, "value": read(t, inputs, path)})
	return out
}

// steps takes a path apart: members by dots, items by [n]; a key with dots in it
// is written in quotes.
func steps(path string) []string {
	var out []string
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		if rest, quoted := strings.CutPrefix(path, `"`); quoted {
			key, after, _ := strings.Cut(rest, `"`)
			out, path = append(out, key), after
			continue
		}
		end := strings.IndexAny(path, ".[")
		switch {
		case end == 0: // [n]
			closing := strings.Index(path, "]")
			out, path = append(out, path[:closing+1]), path[closing+1:]
		case end < 0:
			return append(out, path)
		default:
			out, path = append(out, path[:end]), path[end:]
		}
	}
	return out
}

func index(step string) (int, bool) {
	if !strings.HasPrefix(step, "[") {
		return 0, false
	}
	n, err := strconv.Atoi(strings.Trim(step, "[]"))
	return n, err == nil
}

func read(t testing.TB, at any, path string) any {
	t.Helper()
	for _, step := range steps(path) {
		if n, isIndex := index(step); isIndex {
			at = at.([]any)[n]
		} else {
			at = at.(map[string]any)[step]
		}
		require.NotNil(t, at, "the fixture has no %s", path)
	}
	return at
}

// edit sets a value, or removes it if value is nil. Objects on the way are made.
func edit(t testing.TB, at any, path string, value any) {
	t.Helper()
	all := steps(path)
	for i, step := range all {
		last := i == len(all)-1
		if n, isIndex := index(step); isIndex {
			list, ok := at.([]any)
			require.True(t, ok && n < len(list), "%s: no such item", path)
			if last {
				list[n] = value
				return
			}
			at = list[n]
			continue
		}
		object, ok := at.(map[string]any)
		require.True(t, ok, "%s: %s is in no object", path, step)
		switch {
		case last && value == nil:
			delete(object, step)
		case last:
			object[step] = value
		case object[step] == nil:
			object[step] = map[string]any{}
		}
		at = object[step]
	}
}

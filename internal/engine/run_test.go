package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run `go test ./internal/engine -update`")
	assert.Equal(t, string(want), string(got))
}

func render(t *testing.T, r *Result) []byte {
	t.Helper()
	data, err := r.JSON()
	require.NoError(t, err)
	return data
}

const (
	urnStack  = "urn:pulumi:dev::engine-test::pulumi:pulumi:Stack::engine-test-dev"
	urnBox    = "urn:pulumi:dev::engine-test::test:index:Box::box"
	urnThings = "urn:pulumi:dev::engine-test::test:index:Box$fake:index:Thing::"
	urnFirst  = urnThings + "first"
	urnSecond = urnThings + "second"
	urnThird  = urnThings + "third"
)

func TestPreviewGolden(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	var events int
	r.OnEvent = func(apitype.EngineEvent) { events++ }
	first, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.True(t, first.Complete)
	assert.Positive(t, events)
	golden(t, "preview.golden.json", render(t, first))

	second, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.Equal(t, string(render(t, first)), string(render(t, second)), "two previews are equal bytes")

	r.Recorder = ""
	without, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.False(t, without.Complete, "dependencies are not known without the recorder")
	left, err := os.ReadDir(filepath.Join(r.Home, "record"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestPulumiRunsTheProgram: commands that are typed run the program as operations do.
func TestPulumiRunsTheProgram(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	_, err := r.Pulumi(t.Context(), "up", "--stack", "dev", "--yes")
	require.NoError(t, err)
	assert.Equal(t, 3, f.made())
	same, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.False(t, same.HasChanges())

	r.Program = func(*pulumi.Context) error { return errors.New("the program does not want to") }
	_, err = r.Pulumi(t.Context(), "preview", "--stack", "dev")
	require.ErrorContains(t, err, "the program does not want to")
}

// TestLifeCycle is up, refresh, preview, update, replacement, removal, destroy on one stack.
func TestLifeCycle(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	ctx := t.Context()

	up, err := r.Up(ctx)
	require.NoError(t, err)
	golden(t, "up.golden.json", render(t, up))
	assert.Equal(t, map[string]any{"address": "10.0.0.1", "password": Secret}, up.Outputs)
	assert.Equal(t, 3, f.made())

	refresh, err := r.Refresh(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": 6}, refresh.Changes)
	assert.Equal(t, up.Outputs, refresh.Outputs)

	same, err := r.Preview(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": 6}, same.Changes)
	assert.False(t, same.HasChanges())
	second, ok := same.Find(urnSecond)
	require.True(t, ok)
	assert.Equal(t, []string{urnFirst}, second.Dependencies)

	r.Program = tiny(knobs{size: 2})
	changed, err := r.Preview(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": 5, "update": 1}, changed.Changes)
	assert.True(t, changed.HasChanges())

	r.Program = tiny(knobs{name: "renamed", extra: true})
	for _, op := range []func() (*Result, error){
		func() (*Result, error) { return r.Preview(ctx) },
		func() (*Result, error) { return r.Up(ctx) },
	} {
		replaced, err := op()
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"same": 5, "replace": 1, "create": 1}, replaced.Changes, "the steps of a replacement are one operation")
		second, _ = replaced.Find(urnSecond)
		assert.Equal(t, "replace", second.Op)
		assert.Equal(t, "renamed", second.Inputs["name"], "the inputs are those of the new one")
	}

	r.Program = tiny(knobs{name: "renamed"})
	removed, err := r.Preview(ctx)
	require.NoError(t, err)
	extra, ok := removed.Find(urnThings + "extra")
	require.True(t, ok, "what will be deleted is listed")
	assert.Equal(t, "delete", extra.Op)
	assert.Equal(t, urnBox, extra.Parent)
	assert.Equal(t, map[string]any{"name": "extra"}, extra.Inputs)

	destroyed, err := r.Destroy(ctx, DestroyOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"delete": 7}, destroyed.Changes)
	assert.Zero(t, f.made())
	l, err := r.layout()
	require.NoError(t, err)
	st, err := l.readState()
	require.NoError(t, err)
	assert.Empty(t, st.Resources)
	empty, err := r.Refresh(ctx)
	require.NoError(t, err)
	assert.Empty(t, empty.Resources)
}

func TestRefreshFindsDrift(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	_, err := r.Up(t.Context())
	require.NoError(t, err)
	f.mu.Lock()
	for id := range f.things {
		if strings.HasPrefix(id, "third-") {
			delete(f.things, id)
		}
	}
	f.mu.Unlock()
	refresh, err := r.Refresh(t.Context())
	require.NoError(t, err)
	third, ok := refresh.Find(urnThird)
	require.True(t, ok)
	assert.Equal(t, "delete", third.Op)
	assert.Equal(t, map[string]int{"same": 5, "delete": 1}, refresh.Changes)
}

// tree is every file below dir, by path, as a hash of mode and content; without Home.
func tree(t *testing.T, dir, home string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == home {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		out[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%s %s %s", info.Mode(), info.ModTime(), hex.EncodeToString(sum[:]))
		return err
	}))
	return out
}

func TestUserFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	r := project(t, newFake(), tiny(knobs{}))
	r.Home = filepath.Join(r.Dir, ".onedoor")
	before := tree(t, r.Dir, r.Home)
	require.Len(t, before, 3, "project file, stack file, recorder link of the other home")
	for _, op := range []func() (*Result, error){
		func() (*Result, error) { return r.Preview(t.Context()) },
		func() (*Result, error) { return r.Up(t.Context()) },
		func() (*Result, error) { return r.Refresh(t.Context()) },
		func() (*Result, error) { return r.Destroy(t.Context(), DestroyOptions{}) },
	} {
		res, err := op()
		require.NoError(t, err)
		assert.Equal(t, before, tree(t, r.Dir, r.Home), res.Operation)
	}
	ignore, err := os.ReadFile(filepath.Join(r.Home, ".gitignore"))
	require.NoError(t, err)
	assert.Equal(t, "*\n", string(ignore))
}

// TestSecretsOfTheStackFile: the program reads placeholders, and still as secrets.
func TestSecretsOfTheStackFile(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var token, mode string
	var object struct{ List []string }
	r := project(t, newFake(), func(ctx *pulumi.Context) error {
		c := config.New(ctx, "")
		mu.Lock()
		token, mode = c.Require("token"), c.Require("mode")
		c.RequireObject("object", &object)
		mu.Unlock()
		if !ctx.IsConfigSecret("engine-test:token") || !ctx.IsConfigSecret("engine-test:object") || ctx.IsConfigSecret("engine-test:mode") {
			return errors.New("the secrets of the stack file are no secrets any more, or others became secrets")
		}
		return nil
	})
	_, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Placeholder, token)
	assert.Equal(t, "dev", mode)
	assert.Equal(t, []string{"plain", Placeholder}, object.List)
}

func TestProgramErrorsKeepTheirWords(t *testing.T) {
	t.Parallel()
	type custom struct{ error }
	text := "stack config of \"dev\" is wrong in 2 places:\n  a: got 0\n  b: unknown key"
	for name, test := range map[string]struct {
		program pulumi.RunFunc
		want    string
		as      bool // errors.As finds the program's own error
	}{
		"returned": {func(*pulumi.Context) error { return custom{errors.New(text)} }, text, true},
		"joined": {func(*pulumi.Context) error { return errors.Join(custom{errors.New("one")}, errors.New("two")) },
			"one\ntwo", true},
		"panic": {func(*pulumi.Context) error { panic(custom{errors.New("boom")}) }, "the program panicked: boom", true},
		"apply": {func(ctx *pulumi.Context) error {
			ctx.Export("x", pulumi.String("a").ToStringOutput().ApplyT(func(string) (string, error) { return "", errors.New("cannot apply") }))
			return nil
		}, "cannot apply", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var progress bytes.Buffer
			r := project(t, newFake(), test.program)
			r.Progress = &progress
			res, err := r.Preview(t.Context())
			var f *Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, KindProgram, f.Kind)
			assert.False(t, f.Internal())
			assert.Equal(t, "preview of dev: "+test.want, f.Error())
			var own custom
			assert.Equal(t, test.as, errors.As(err, &own))
			require.NotNil(t, res)
			assert.False(t, res.Complete)
			assert.NotContains(t, progress.String(), "unhandled error")
		})
	}
}

func TestRefusedResource(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.onMake = func(name string) error {
		if name == "second" {
			return errors.New("409 Conflict: busy")
		}
		return nil
	}
	var progress bytes.Buffer
	r := project(t, f, tiny(knobs{}))
	r.Progress = &progress
	res, err := r.Up(t.Context())
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindResource, failure.Kind)
	assert.Equal(t, []Diagnostic{{URN: urnSecond, Severity: "error", Message: "409 Conflict: busy"}}, failure.Diagnostics)
	assert.Equal(t, []string{urnSecond}, res.Failed)
	assert.False(t, res.Complete)
	assert.Equal(t, 1, strings.Count(progress.String(), "409 Conflict: busy"), progress.String())
	assert.Contains(t, progress.String(), "error: second (fake:index:Thing): 409 Conflict: busy")

	f.onMake = nil
	res, err = r.Up(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": 4, "create": 2}, res.Changes)
}

func TestRefusedByCheckInPreview(t *testing.T) {
	t.Parallel()
	r := project(t, newFake(), func(ctx *pulumi.Context) error {
		var x thing
		return ctx.RegisterResource("fake:index:Thing", "x", pulumi.Map{"bad": pulumi.String("v")}, &x, pulumi.Version("1.0.0"))
	})
	res, err := r.Preview(t.Context())
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindResource, failure.Kind)
	require.Len(t, failure.Diagnostics, 1)
	assert.Contains(t, failure.Diagnostics[0].Message, "is not allowed: v")
	assert.False(t, res.Complete)
}

func TestMissingProviderIsNotFetched(t *testing.T) {
	t.Parallel()
	r := project(t, newFake(), func(ctx *pulumi.Context) error {
		var x thing
		return ctx.RegisterResource("other:index:Thing", "x", nil, &x, pulumi.Version("1.0.0"))
	})
	_, err := r.Preview(t.Context())
	assert.ErrorContains(t, err, "no resource plugin 'pulumi-resource-other' found")
}

func TestPolicyRefusal(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	pack, err := Link(r.Home, refusingPack)
	require.NoError(t, err)
	r.Packs = []string{pack}

	res, err := r.Preview(t.Context())
	require.NoError(t, err, "an advisory policy stops nothing")
	advisory := PolicyViolation{Pack: refusingPack, Version: "2.0.0", Policy: "HM-01", URN: urnStack, Enforcement: "advisory", Message: "6 resources"}
	require.Len(t, res.PolicyViolations, 1)
	assert.Equal(t, []PolicyViolation{advisory}, res.PolicyViolations)
	assert.NotEmpty(t, res.PolicySummaries)
	for _, s := range res.PolicySummaries {
		assert.Equal(t, refusingPack, s.Pack, "the recorder is not a pack of the user")
	}

	r.Env = map[string]string{refuseEnv: "second"}
	res, err = r.Preview(t.Context())
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindPolicy, failure.Kind)
	require.Len(t, failure.Violations, 1, "only mandatory ones")
	assert.Equal(t, "NO-01", failure.Violations[0].Policy)
	assert.Equal(t, urnSecond, failure.Violations[0].URN)
	assert.Equal(t, "second is refused", failure.Violations[0].Message)
	assert.Empty(t, failure.Diagnostics, "`preview failed` says nothing")
	assert.Len(t, res.PolicyViolations, 2)
	assert.True(t, res.Complete, "a policy refuses after all has been seen")

	res, err = r.Up(t.Context())
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindPolicy, failure.Kind)
	assert.False(t, res.Complete)
	assert.Equal(t, 1, f.made(), "first came before the refused second")
}

func TestBrokenPackIsAnEngineFailure(t *testing.T) {
	t.Parallel()
	r := project(t, newFake(), tiny(knobs{}))
	r.Packs = []string{filepath.Join(r.Dir, "no-such-pack")}
	_, err := r.Preview(t.Context())
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindEngine, failure.Kind)
	assert.True(t, failure.Internal())
	assert.ErrorContains(t, err, "no-such-pack")
	assert.Equal(t, 1, strings.Count(failure.Error(), "PulumiPolicy.yaml: no such file"), failure.Error())
}

func TestDestroyRefusesProtected(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{protect: true}))
	_, err := r.Up(t.Context())
	require.NoError(t, err)

	_, err = r.Destroy(t.Context(), DestroyOptions{})
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindProtected, failure.Kind)
	assert.Equal(t, []string{urnFirst, urnSecond}, failure.Protected)
	assert.ErrorContains(t, err, urnFirst)
	assert.ErrorContains(t, err, urnSecond)
	assert.Equal(t, 3, f.made(), "nothing was deleted, not even what is not protected")

	r.Program = tiny(knobs{protect: true, name: "renamed"})
	_, err = r.Preview(t.Context())
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindProtected, failure.Kind)
	assert.Equal(t, []string{urnSecond}, failure.Protected)

	r.Program = tiny(knobs{protect: true})
	res, err := r.Destroy(t.Context(), DestroyOptions{IgnoreProtect: true})
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"delete": 6}, res.Changes)
	assert.Zero(t, f.made())
}

// The program runs during a destroy, and registers what was never made.
func TestDestroyTellsOnlyOfWhatExisted(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := project(t, f, tiny(knobs{}))
	f.onMake = func(name string) error {
		if name == "second" {
			return errors.New("no room")
		}
		return nil
	}
	partly, err := r.Up(t.Context())
	require.Error(t, err)
	require.NotContains(t, partly.Changes, "same")

	res, err := r.Destroy(t.Context(), DestroyOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"delete"}, slices.Sorted(maps.Keys(res.Changes)))
	assert.Zero(t, f.made())
}

func TestDestroyRunsDeleteHooks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var ran []string
	r := project(t, newFake(), func(ctx *pulumi.Context) error {
		hook, err := ctx.RegisterResourceHook("before", func(a *pulumi.ResourceHookArgs) error {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, a.Name)
			return nil
		}, nil)
		if err != nil {
			return err
		}
		var x thing
		return ctx.RegisterResource("fake:index:Thing", "x", pulumi.Map{"name": pulumi.String("x")}, &x, pulumi.Version("1.0.0"),
			pulumi.ResourceHooks(&pulumi.ResourceHookBinding{BeforeDelete: []*pulumi.ResourceHook{hook}}))
	})
	_, err := r.Up(t.Context())
	require.NoError(t, err)
	_, err = r.Destroy(t.Context(), DestroyOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"x"}, ran)
}

func TestWrongInputIsRefusedBeforeTheEngineRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*testing.T, *Run)
		want   string
	}{
		"no project":     {func(_ *testing.T, r *Run) { r.Dir = r.Home }, "is not the directory of a Pulumi project"},
		"no stack file":  {func(_ *testing.T, r *Run) { r.StackFile += "x" }, "Pulumi.dev.yamlx"},
		"bad stack name": {func(_ *testing.T, r *Run) { r.Stack = "../dev" }, `stack name "../dev"`},
		"no cli":         {func(_ *testing.T, r *Run) { r.CLI = CLI{} }, "Run.CLI"},
		"esc": {func(t *testing.T, r *Run) {
			require.NoError(t, os.WriteFile(r.StackFile, []byte("environment: [a]\n"), 0o644))
		}, "Pulumi ESC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte(projectYAML), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.dev.yaml"), []byte(stackYAML), 0o644))
			r := &Run{CLI: CLI{Path: "/no/such/pulumi", Version: Version}, Dir: dir, StackFile: filepath.Join(dir, "Pulumi.dev.yaml"), Stack: "dev",
				Home: filepath.Join(dir, ".onedoor"), Program: tiny(knobs{})}
			test.change(t, r)
			res, err := r.Preview(t.Context())
			assert.Nil(t, res)
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestAnyStackFileServesAnyStack(t *testing.T) {
	t.Parallel()
	r := project(t, newFake(), tiny(knobs{}))
	other := filepath.Join(r.Dir, "other.yaml")
	require.NoError(t, os.Rename(r.StackFile, other))
	r.StackFile, r.Stack = other, "pr-17"
	res, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "pr-17", res.Stack)
	assert.True(t, strings.HasPrefix(res.Resources[0].URN, "urn:pulumi:pr-17::"))
}

// BenchmarkPreview measures a warm preview of 100 resources, with the recorder.
func BenchmarkPreview(b *testing.B) {
	r := project(b, newFake(), many(100))
	for b.Loop() {
		_, err := r.Preview(b.Context())
		require.NoError(b, err)
	}
}

func many(n int) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		for i := range n {
			var x thing
			if err := ctx.RegisterResource("fake:index:Thing", fmt.Sprintf("x%d", i), pulumi.Map{
				"name": pulumi.Sprintf("x%d", i), "text": pulumi.String(strings.Repeat("y", 500)),
			}, &x, pulumi.Version("1.0.0")); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestResultJSONNeverHasNull(t *testing.T) {
	t.Parallel()
	r := &Result{Resources: []Resource{{URN: "a"}}}
	r.finish()
	data := render(t, r)
	assert.NotContains(t, string(data), "null")
	assert.NotContains(t, string(data), `"outputs": {},`+"\n    }", "a preview's resources have no outputs")
	var back map[string]any
	require.NoError(t, json.Unmarshal(data, &back))
}

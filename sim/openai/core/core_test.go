package core

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The core reads no clock, draws nothing at random, does no input or output.
func TestCoreIsPure(t *testing.T) {
	t.Parallel()
	allowed := strings.Fields(`bytes cmp crypto/sha256 encoding/base64 encoding/binary encoding/hex encoding/json
		fmt iter maps math net/http net/url slices strconv strings time onedoor/internal/az/openai`)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			assert.Contains(t, allowed, strings.Trim(spec.Path.Value, `"`), name)
		}
		// http is here for the names of status codes.
		for _, call := range []string{"time.Now", "time.Since", "time.Sleep", "http.Get", "http.Client", "go func"} {
			assert.NotContains(t, string(text), call, name)
		}
	}
}

const owner = "owner"

func testState() State {
	return New(Config{
		Start: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), Behaviour: DefaultBehaviour(),
		Accounts: []Account{{Name: "a", Region: "swedencentral", Deployments: []Deployment{{Name: "d", Model: "gpt-4o", SKU: "GlobalBatch", Capacity: 1}}}},
	})
}

// step is a random request or a move of the clock.
func step(s State, draw *rand.Rand) State {
	r := Request{Account: "a", Caller: &Principal{ID: owner, Actions: []string{"*"}}}
	pick := func(n int, id func(int) string) string {
		if n == 0 {
			return "nobody"
		}
		return id(draw.Intn(n))
	}
	file := pick(s.Files.Len(), func(i int) string { return s.Files.At(i).ID })
	job := pick(s.Jobs.Len(), func(i int) string { return s.Jobs.At(i).ID })
	switch draw.Intn(8) {
	case 0, 1:
		scanner := NewScanner(s.Limits, Rules{})
		for i := range draw.Intn(4) {
			scanner.Line(fmt.Appendf(nil, `{"custom_id":"%d","method":"POST","url":"/chat/completions","body":{"model":"d","messages":[]}}`, i), false)
		}
		r.Operation, r.File = CreateFile, &NewFile{Purpose: "batch", Content: strconv.Itoa(s.Files.Len()), Scan: scanner.Done(10)}
		if draw.Intn(2) == 0 {
			r.File.Expiry, r.File.Anchor = s.Limits.MinExpiry, "created_at"
		}
	case 2, 3:
		r.Operation, r.Batch = CreateBatch, &NewBatch{InputFileID: file, Endpoint: "/chat/completions", CompletionWindow: "24h"}
	case 4:
		r.Operation, r.ID = CancelBatch, job
	case 5:
		r.Operation, r.ID = DeleteFile, file
	case 6:
		next, _ := Advance(s, s.Now.Add(time.Duration(draw.Intn(int(20*24*time.Hour)))))
		return next
	default:
		next, _ := Advance(s, s.Now.Add(time.Duration(draw.Intn(int(10*time.Minute)))))
		return next
	}
	next, _, _ := Apply(s, Rules{}, r)
	return next
}

// dump is all that a state holds.
func dump(t *testing.T, s State) string {
	var b strings.Builder
	for _, v := range []any{s.Now, slices.Collect(s.Files.All()), slices.Collect(s.Jobs.All()), s.Blobs, s.Denied, s.Accounts} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		b.Write(text)
	}
	fmt.Fprint(&b, s.held, s.pooled, s.spent, s.inputs, s.scheduled)
	for a := s.agenda; a != nil; a = merge(a.left, a.right) {
		fmt.Fprint(&b, a.event)
	}
	return b.String()
}

// No step changes the state it was given, and the same steps end in the same state.
func TestStatesAreValues(t *testing.T) {
	t.Parallel()
	for seed := range int64(20) {
		draw, again := rand.New(rand.NewSource(seed)), rand.New(rand.NewSource(seed))
		s, twin := testState(), testState()
		for range 60 {
			before := dump(t, s)
			next := step(s, draw)
			require.Equal(t, before, dump(t, s), "seed %d", seed)
			s, twin = next, step(twin, again)
			require.Equal(t, dump(t, s), dump(t, twin), "seed %d", seed)
		}
	}
}

// Whatever happens in whatever order, the tokens held are those of the jobs that have not
// ended (A829), and files are counted as they are (A812).
func TestTokensAddUp(t *testing.T) {
	t.Parallel()
	jobs := 0
	for seed := range int64(50) {
		draw, s := rand.New(rand.NewSource(seed)), testState()
		for range 100 {
			s = step(s, draw)
			var sum int64
			readers := map[string]int{}
			for j := range s.Jobs.All() {
				sum += j.Held
				if j.Terminal() {
					require.Zero(t, j.Held, "seed %d: %s has ended as %s", seed, j.ID, j.Status)
				} else {
					readers[j.InputFile]++
				}
			}
			require.Equal(t, sum, s.held[holder{"a", "d"}], "seed %d", seed)
			require.Equal(t, sum, s.pooled[Pool{"swedencentral", "gpt-4o", "GlobalBatch"}], "seed %d", seed)
			require.LessOrEqual(t, sum, int64(1000), "seed %d: the capacity", seed)
			var count inputs
			for f := range s.Files.All() {
				require.Equal(t, readers[f.ID], f.Readers, "seed %d: %s", seed, f.ID)
				if !f.Gone && f.Purpose == purposeInput && f.Expires.IsZero() {
					count.plain++
				} else if !f.Gone && f.Purpose == purposeInput {
					count.expiring++
				}
			}
			require.Equal(t, count, s.inputs["a"], "seed %d", seed)
		}
		jobs += s.Jobs.Len()
	}
	assert.Greater(t, jobs, 200, "the steps made jobs")
}

// The agenda gives events by time, and those of one time in the order in which they came.
func TestAgendaIsInOrder(t *testing.T) {
	t.Parallel()
	draw, s := rand.New(rand.NewSource(1)), testState()
	for range 1000 {
		s.schedule(s.Now.Add(time.Duration(draw.Intn(50))), fileReady, 0)
	}
	n, last := 0, event{}
	for a := s.agenda; a != nil; a = merge(a.left, a.right) {
		require.True(t, last.before(a.event))
		last = a.event
		n++
	}
	assert.Equal(t, 1000, n)
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"a/b/c": true, "a/*/c": true, "*": true, "a/*": true, "*/c": true, "a*c": true,
		"a/b": false, "a/b/*/c": false, "b/*": false, "*/b": false, "": false,
	} {
		assert.Equal(t, want, glob(pattern, "a/b/c"), pattern)
	}
}

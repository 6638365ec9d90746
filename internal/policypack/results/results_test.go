package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rules = []Rule{
	{ID: "AB-01", Severity: "high", Level: Mandatory, Controls: []string{"MCSB NS-1"}},
	{ID: "AB-02", Severity: "low", Level: Advisory, Controls: []string{"MCSB NS-2"}},
}

var judgements = []Judgement{
	{Rule: "AB-02", State: NotApplicable, Reason: "none"},
	{Rule: "AB-01", URN: "urn:b", State: Fail, Reason: "x is 1", Evidence: Evidence{Path: "x", Value: "1", Expected: "2"}},
	{Rule: "AB-01", URN: "urn:a", State: Pass},
}

func written(t *testing.T, end bool, lines ...Judgement) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Open(dir, Pack{Name: "ab", Version: "1.0.0"}, "standard", rules)
	require.NoError(t, err)
	w.Write(lines...)
	require.NoError(t, w.Flush())
	if end {
		require.NoError(t, w.End())
	}
	return dir
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := written(t, true, judgements...)
	runs, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	assert.Equal(t, "standard", runs[0].Profile)
	assert.Equal(t, rules, runs[0].Rules)
	assert.Equal(t, []Judgement{judgements[2], judgements[1], judgements[0]}, runs[0].Judgements, "sorted")

	w, err := Open(dir, Pack{Name: "ab", Version: "1.0.1"}, "strict", rules)
	require.NoError(t, err)
	w.Write(judgements[0], judgements[2])
	require.NoError(t, w.End())
	runs, err = Read(dir)
	require.NoError(t, err)
	assert.Equal(t, "1.0.1", runs[0].Pack.Version, "the last run counts")
	assert.Len(t, runs[0].Judgements, 2)
}

func TestSilenceIsNoPass(t *testing.T) {
	t.Parallel()
	_, err := Read(t.TempDir())
	require.ErrorContains(t, err, "no pack ran")
	_, err = Read(written(t, false, judgements...))
	require.ErrorContains(t, err, "the summary is missing")
	_, err = Read(written(t, true, judgements[0]))
	require.ErrorContains(t, err, "rule AB-01 said nothing")

	empty := t.TempDir()
	w, err := Open(empty, Pack{Name: "ab"}, "standard", nil)
	require.NoError(t, err)
	require.NoError(t, w.End())
	_, err = Read(empty)
	require.ErrorContains(t, err, "no rules")

	cut := written(t, true, judgements...)
	file := filepath.Join(cut, "ab.jsonl")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, broken := range map[string]string{
		"a line in two":     string(raw[:len(raw)-10]),
		"without beginning": string(raw[200:]),
	} {
		require.NoError(t, os.WriteFile(file, []byte(broken), 0o644))
		_, err = Read(cut)
		require.Error(t, err, name)
	}
}

// Whoever names a directory need not make it first.
func TestTheDirectoryIsMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "judged", "dev")
	w, err := Open(dir, Pack{Name: "ab", Version: "1.0.0"}, "standard", nil)
	require.NoError(t, err)
	require.NoError(t, w.End())
	assert.FileExists(t, filepath.Join(dir, "ab.jsonl"))
}

func TestANilWriterWritesNothing(t *testing.T) {
	t.Parallel()
	w, err := Open("", Pack{}, "", nil)
	require.NoError(t, err)
	w.Write(judgements...)
	require.NoError(t, w.Flush())
	require.NoError(t, w.End())
}

func TestDocument(t *testing.T) {
	t.Parallel()
	runs, err := Read(written(t, true, judgements...))
	require.NoError(t, err)
	subject := Subject{Project: "p", Stack: "s", Commit: "c", Simulated: true}
	d, err := Make(subject, runs, nil)
	require.NoError(t, err)
	assert.Equal(t, Summary{Rules: 2, Pass: 1, Fail: 1, NotApplicable: 1, Blocking: 1}, d.Summary)
	assert.Equal(t, subject, d.Subject)
	failed := d.Results[1]
	assert.Equal(t, Result{"AB-01", "urn:b", Fail, "high", Mandatory, "x is 1", Evidence{"x", "1", "2"}, []string{"MCSB NS-1"}, nil}, failed)

	waiver := Waiver{ID: "w", Rule: "AB-01", URN: "urn:b", Owner: "a@example.com", Approver: "b@example.com", Ticket: "T-1", Reason: "r", Expires: "2027-01-31"}
	d, err = Make(subject, runs, []Waiver{waiver})
	require.NoError(t, err)
	assert.Equal(t, Waived, d.Results[1].State)
	assert.Equal(t, "T-1", d.Results[1].Waiver.Ticket)
	assert.Equal(t, Summary{Rules: 2, Pass: 1, Waived: 1, NotApplicable: 1}, d.Summary)

	void := waiver
	void.Approver, void.Void = "", "unapproved"
	d, err = Make(subject, runs, []Waiver{void})
	require.NoError(t, err)
	assert.Equal(t, Fail, d.Results[1].State, "what does not count excuses nothing")
	assert.Equal(t, "unapproved", d.Results[1].Waiver.Void)
	assert.Equal(t, 1, d.Summary.Blocking)

	for problem, change := range map[string]func(*Waiver){
		"does not fail":       func(w *Waiver) { w.URN = "urn:a" },
		"two people":          func(w *Waiver) { w.Approver = w.Owner },
		"expiry are required": func(w *Waiver) { w.Expires = "" },
	} {
		wrong := waiver
		change(&wrong)
		_, err := Make(subject, runs, []Waiver{wrong})
		require.ErrorContains(t, err, problem)
	}
	_, err = Make(subject, nil, nil)
	require.Error(t, err)
}

package waiver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/policypack/results"
	"onedoor/internal/waiver"
)

const (
	blobs  = "urn:pulumi:prod::platform::azure-native:storage:StorageAccount::results"
	blobs2 = "urn:pulumi:prod::platform::azure-native:storage:StorageAccount::results2"
	vault  = "urn:pulumi:prod::platform::onedoor:a:B$azure-native:keyvault:Vault::keys"
)

// good is a waiver that is right in every point.
const good = `waivers:
  - id: SEC-7
    rules: [ST-01]
    targets: ["urn:pulumi:prod::platform::*:StorageAccount::results"]
    owner: ann@example.com
    approver: bob@example.com
    ticket: SEC-7
    reason: the old reader still uses keys
    created: 2026-11-01
    expires: 2027-01-31
    compensatingControl: keys rotate daily
`

// changed is good with texts replaced, in pairs.
func changed(t *testing.T, pairs ...string) []byte {
	t.Helper()
	out := good
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, out, pairs[i])
		out = strings.Replace(out, pairs[i], pairs[i+1], 1)
	}
	return []byte(out)
}

func parse(t *testing.T, raw []byte) waiver.File {
	t.Helper()
	f, err := waiver.Parse(raw, []string{"ST-01", "KV-01"})
	require.NoError(t, err)
	return f
}

func on(t *testing.T, day string) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	require.NoError(t, err)
	return at.Add(17 * time.Hour) // whatever the time of day
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pairs []string
		want  string // "" if the file is right
	}{
		"right":                {nil, ""},
		"no approver yet":      {[]string{"approver: bob@example.com", "approver:"}, ""},
		"180 days":             {[]string{"2027-01-31", "2027-04-30"}, ""},
		"181 days":             {[]string{"2027-01-31", "2027-05-01"}, "line 10: expires: got 2027-05-01, want 1 to 180 days after created, 2026-11-01\n    fix: take an earlier day, at the latest 2027-04-30"},
		"one day":              {[]string{"2027-01-31", "2026-11-02"}, ""},
		"ends as it begins":    {[]string{"2027-01-31", "2026-11-01"}, "expires: got 2026-11-01"},
		"no day":               {[]string{"2027-01-31", "soon"}, `line 10: expires: got "soon", want a day`},
		"no expiry":            {[]string{"    expires: 2027-01-31\n", ""}, "line 2: expires: got nothing"},
		"no owner":             {[]string{"owner: ann@example.com", "owner: ''"}, "line 5: owner: got nothing"},
		"no ticket":            {[]string{"ticket: SEC-7", "ticket: ~"}, "line 7: ticket: got nothing"},
		"no reason":            {[]string{"reason: the old reader still uses keys", "reason:"}, "line 8: reason: got nothing"},
		"no control":           {[]string{"    compensatingControl: keys rotate daily\n", ""}, "compensatingControl: got nothing"},
		"no rules":             {[]string{"rules: [ST-01]", "rules: []"}, "rules: got nothing, want a list"},
		"rules as text":        {[]string{"rules: [ST-01]", "rules: ST-01"}, `line 3: rules: got "ST-01", want a list`},
		"two rules":            {[]string{"[ST-01]", "[ST-01, KV-01]"}, ""},
		"one rule twice":       {[]string{"[ST-01]", "[ST-01, ST-01]"}, `"ST-01" twice`},
		"unknown rule":         {[]string{"[ST-01]", "[ST-99]"}, `rules: got "ST-99", want the id of a rule`},
		"all rules":            {[]string{"[ST-01]", "[all]"}, `rules: got "all"`},
		"unknown key":          {[]string{"ticket:", "tiket:"}, "line 7: tiket: got an unknown key"},
		"a key twice":          {[]string{"    ticket: SEC-7\n", "    ticket: SEC-7\n    ticket: SEC-8\n"}, "line 8: ticket: got the key twice"},
		"bad id":               {[]string{"id: SEC-7", "id: SEC 7"}, `id: got "SEC 7", want letters`},
		"any name of a type":   {[]string{"::results", "::*"}, ""},
		"any type of a name":   {[]string{"*:StorageAccount", "*"}, ""},
		"every resource":       {[]string{"*:StorageAccount::results", "*::*"}, "a waiver for every resource"},
		"any stack":            {[]string{"pulumi:prod", "pulumi:*"}, "who excused dev has not excused prod"},
		"two targets":          {[]string{`results"]`, `results", "urn:pulumi:prod::platform::*::more"]`}, ""},
		"two stacks":           {[]string{`results"]`, `results", "urn:pulumi:dev::platform::*::more"]`}, "want the stack and project of the first target, prod and platform"},
		"no URN":               {[]string{"urn:pulumi:prod::platform::*:StorageAccount::results", "results"}, "want urn:pulumi:STACK::PROJECT::TYPE::NAME"},
		"no list":              {[]string{good, "waivers: {}\n"}, "waivers: got keys and values, want a list"},
		"no waivers":           {[]string{good, "waivers: []\n"}, ""},
		"nothing":              {[]string{good, ""}, "file: got what is no YAML"},
		"another document":     {[]string{"daily\n", "daily\n---\nwaivers: []\n"}, "more than one document"},
		"another key":          {[]string{"waivers:", "off: true\nwaivers:"}, "line 1: off: got an unknown key"},
		"the same id twice":    {[]string{good, good + strings.TrimPrefix(good, "waivers:\n")}, "line 12: id: got \"SEC-7\", want an id of its own; line 2 has the same"},
		"an alias for an item": {[]string{"owner: ann@example.com", "owner: &a ann@example.com", "approver: bob@example.com", "approver: *a"}, "approver: got an alias"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := waiver.Parse(changed(t, c.pairs...), []string{"ST-01", "KV-01"})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, f.Waivers, "a wrong file excuses nothing")
		})
	}
	_, err := waiver.Parse(changed(t, "ticket:", "tiket:", "[ST-01]", "[ST-99]", "2027-01-31", "2028-01-31"), []string{"ST-01"})
	var all *waiver.Error
	require.ErrorAs(t, err, &all)
	assert.Len(t, all.Problems, 4, "all at once: rule, unknown key, no ticket, too long")
	_, err = waiver.Parse(changed(t, "[ST-01]", "[ST-99]"), nil)
	require.NoError(t, err, "a base may know rules that are gone")
}

// The whole life of a waiver.
func TestLife(t *testing.T) {
	t.Parallel()
	fails := []waiver.Failure{{Rule: "ST-01", URN: blobs}}
	base := func(pairs ...string) *waiver.File { f := parse(t, changed(t, pairs...)); return &f }
	none := &waiver.File{}
	for name, c := range map[string]struct {
		pairs    []string
		failures []waiver.Failure
		base     *waiver.File
		day      string
		want     waiver.Status
		excuses  bool
		err      string
		warns    bool
	}{
		"unapproved":                       {[]string{"bob@example.com", ""}, fails, nil, "2026-11-02", waiver.Unapproved, false, "nobody approved", false},
		"approved by its owner":            {[]string{"bob@example.com", "Ann@example.com"}, fails, nil, "2026-11-02", waiver.SelfApproved, false, "another person has to", false},
		"added in the change":              {nil, fails, none, "2026-11-02", waiver.New, false, "", true},
		"added, nothing fails yet":         {nil, nil, none, "2026-11-02", waiver.New, false, "", true},
		"approved in the change":           {nil, fails, base("bob@example.com", ""), "2026-11-02", waiver.New, false, "", true},
		"longer in the change":             {[]string{"2027-01-31", "2027-02-01"}, fails, base(), "2026-11-02", waiver.New, false, "", true},
		"wider in the change":              {[]string{"::results", "::*"}, fails, base(), "2026-11-02", waiver.New, false, "", true},
		"more rules in the change":         {[]string{"[ST-01]", "[ST-01, KV-01]"}, fails, base(), "2026-11-02", waiver.New, false, "", true},
		"shorter in the change":            {[]string{"2027-01-31", "2027-01-30"}, fails, base(), "2026-11-02", waiver.Active, true, "", false},
		"fewer rules in the change":        {nil, fails, base("[ST-01]", "[ST-01, KV-01]"), "2026-11-02", waiver.Active, true, "", false},
		"approved":                         {nil, fails, base(), "2026-11-02", waiver.Active, true, "", false},
		"where new ones count at once":     {nil, fails, nil, "2026-11-02", waiver.Active, true, "", false},
		"on its first day":                 {nil, fails, base(), "2026-11-01", waiver.Active, true, "", false},
		"before its first day":             {nil, fails, base(), "2026-10-31", waiver.Early, false, "a day to come", false},
		"15 days before its end":           {nil, fails, base(), "2027-01-16", waiver.Active, true, "", false},
		"14 days before its end":           {nil, fails, base(), "2027-01-17", waiver.Expiring, true, "", true},
		"on its last day":                  {nil, fails, base(), "2027-01-31", waiver.Expiring, true, "", true},
		"the day after":                    {nil, fails, base(), "2027-02-01", waiver.Expired, false, "it ended on 2027-01-31", false},
		"expired, and nothing fails":       {nil, nil, base(), "2027-02-01", waiver.Expired, false, "it ended on", false},
		"orphan":                           {nil, nil, base(), "2026-11-02", waiver.Orphan, false, "nothing fails for ST-01", false},
		"orphan: another resource fails":   {nil, []waiver.Failure{{Rule: "ST-01", URN: blobs2}}, base(), "2026-11-02", waiver.Orphan, false, "nothing fails", false},
		"orphan in one of its rules":       {[]string{"[ST-01]", "[ST-01, KV-01]"}, fails, nil, "2026-11-02", waiver.Orphan, true, "nothing fails for KV-01;", false},
		"of another stack, that is nobody": {[]string{"pulumi:prod", "pulumi:dev"}, fails, nil, "2026-11-02", waiver.Active, false, "", false},
		"of another stack, and expired":    {[]string{"pulumi:prod", "pulumi:dev"}, fails, nil, "2027-02-01", waiver.Expired, false, "it ended on", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			review := parse(t, changed(t, c.pairs...)).Review(waiver.Run{
				Project: "platform", Stack: "prod", Failures: c.failures, Base: c.base, Today: on(t, c.day),
			})
			require.Len(t, review, 1)
			assert.Equal(t, c.want, review[0].Status)
			if c.err == "" {
				require.NoError(t, review.Err())
			} else {
				require.ErrorContains(t, review.Err(), c.err)
			}
			assert.Equal(t, c.warns, len(review.Warnings()) > 0)
			compiled, err := review.Compile([]byte(`{"version": 2, "policies": {"ST-01": "mandatory"}}`), []string{"ST-01", "KV-01"})
			require.NoError(t, err)
			assert.Equal(t, c.excuses, strings.Contains(string(compiled), blobs), "the engine sees what counts, and nothing else")
			excused := false
			for _, w := range review.Results() {
				excused = excused || w.Void == ""
			}
			assert.Equal(t, c.excuses, excused, "the document says the same")
		})
	}
}

// A void waiver leaves the failure one and is shown with it.
func TestResultsGoIntoTheDocument(t *testing.T) {
	t.Parallel()
	second := strings.NewReplacer("waivers:\n", "", "id: SEC-7", "id: SEC-8", "2027-01-31", "2026-11-15", "::results", "::*").Replace(good)
	f := parse(t, []byte("waivers:\n"+second+strings.TrimPrefix(good, "waivers:\n")))
	runs := []results.Run{{
		Pack: results.Pack{Name: "platform"}, Rules: []results.Rule{{ID: "ST-01", Level: results.Mandatory}},
		Judgements: []results.Judgement{{Rule: "ST-01", URN: blobs, State: results.Fail}, {Rule: "ST-01", URN: blobs, State: results.Fail}, {Rule: "ST-01", URN: blobs2, State: results.Fail}},
	}}
	review := f.Review(waiver.Run{Project: "platform", Stack: "prod", Failures: waiver.FailuresIn(runs), Today: on(t, "2026-11-29")})
	require.ErrorContains(t, review.Err(), `waiver "SEC-8" is expired`)
	d, err := results.Make(results.Subject{Project: "platform", Stack: "prod"}, runs, review.Results())
	require.NoError(t, err)
	assert.Equal(t, results.Summary{Rules: 1, Fail: 1, Waived: 2, Blocking: 1}, d.Summary)
	assert.Equal(t, "SEC-7", d.Results[0].Waiver.ID, "one that counts comes before one that does not")
	assert.Equal(t, results.Fail, d.Results[2].State)
	assert.Equal(t, "expired", d.Results[2].Waiver.Void)
	assert.Equal(t, "keys rotate daily", d.Results[2].Waiver.CompensatingControl)
	assert.Equal(t, waiver.FailuresIn(runs), waiver.FailuresOf(d), "a document gives what the runs gave")
}

func TestCompile(t *testing.T) {
	t.Parallel()
	f := parse(t, changed(t, "[ST-01]", "[ST-01, KV-01]", `"urn:pulumi:prod::platform::*:StorageAccount::results"`, `"urn:pulumi:prod::platform::*StorageAccount::res*", "urn:pulumi:prod::platform::*::keys"`))
	review := f.Review(waiver.Run{Project: "platform", Stack: "prod", Today: on(t, "2026-11-29"), Failures: []waiver.Failure{
		{Rule: "KV-01", URN: vault}, {Rule: "ST-01", URN: blobs}, {Rule: "ST-01", URN: blobs2}, {Rule: "ST-02", URN: blobs},
	}})
	require.NoError(t, review.Err())
	strict := []byte(`{"version": 2, "policies": {"ST-01": "mandatory"}}`)
	got, err := review.Compile(strict, []string{"ST-01"})
	require.NoError(t, err)
	assert.JSONEq(t, `{"version": 2, "policies": {"ST-01": "mandatory"}, "exceptions": {"SEC-7": {
		"reason": "the old reader still uses keys (SEC-7, until 2027-01-31, owner ann@example.com, approver bob@example.com)",
		"match": [{"policies": ["ST-01"], "targets": ["`+blobs+`", "`+blobs2+`"]}]}}}`, string(got), "exact URNs, and only rules of the pack")
	got, err = review.Compile(strict, []string{"GW-01"})
	require.NoError(t, err)
	var file struct{ Exceptions map[string]any }
	require.NoError(t, json.Unmarshal(got, &file))
	assert.Empty(t, file.Exceptions)
	for want, config := range map[string]string{
		"version: got \"\", want 2": `{"ST-01": "mandatory"}`,
		"write a waiver instead":    `{"version": 2, "exceptions": {}}`,
		"configuration of a policy": `[]`,
	} {
		_, err := review.Compile([]byte(config), []string{"ST-01"})
		require.ErrorContains(t, err, want)
	}
}

// The file of this repository, and the example at its head.
func TestTheFileIsRight(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "policies", "waivers.yaml"))
	require.NoError(t, err)
	_, err = waiver.Parse(raw, nil)
	require.NoError(t, err)
	_, example, found := strings.Cut(string(raw), "required:\n#\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "waivers: []")
	f, err := waiver.Parse([]byte("waivers:\n"+strings.ReplaceAll(strings.ReplaceAll("\n"+example, "\n#", "\n"), "\n ", "\n")), []string{"ST-01"})
	require.NoError(t, err)
	assert.Len(t, f.Waivers, 1)
	owners, err := os.ReadFile(filepath.Join("..", "..", ".github", "CODEOWNERS"))
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^/policies/ +@\S+`, string(owners), "nobody excuses a failure without its owners")
}

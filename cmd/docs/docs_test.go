package docs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/stacks"
)

const project = "../.."

func entriesByPath(t *testing.T) map[string]entry {
	t.Helper()
	all, err := describe(project)
	require.NoError(t, err)
	out := map[string]entry{}
	for _, e := range all {
		out[e.key.Path] = e
	}
	return out
}

// Whoever looks a key up learns what it means, what it may be and how it looks. What the
// columns say comes from comments, checks and stack files.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	all := entriesByPath(t)
	for path, e := range all {
		assert.NotEmpty(t, e.meaning, "%s: its field has no comment", path)
		if words := typeWords(e.key.Type); e.key.In != nil && !strings.HasPrefix(words, "keys") {
			assert.NotEmpty(t, e.example, "%s: no stack file, check or comment (as in \"...\") gives an example", path)
		}
	}
	for path, want := range map[string]struct{ meaning, allowed, example string }{
		"base.generation":                      {"raised to rebuild under new names", "1 to 99: it becomes part of every name from 2 on", "1"},
		"network.dns.mode":                     {"`existing`: they exist in dns.resourceGroupId, linked already", "one of create, existing, policy", "create"},
		"models.<name>.deployments.<name>.sku": {"says where it processes and how it is paid", "one of DataZoneProvisionedManaged,", "GlobalStandard"},
		"gateway.capacity":                     {"units, as many as the SKU allows", "in prod 1 to 99 units of SKU Premium; in dev 1 to 1 units of SKU Developer", "3"},
		"externalProviders.<name>.baseUrl":     {"https, up to what comes before", "an https URL without query, login and slash at the end", "https://api.example.com/v1"},
		"logs.alerts":                          {"e-mail addresses that every alert reaches", "1 to 1000 e-mail addresses", `["platform@example.com","on-call@example.com"]`},
	} {
		got, known := all[path]
		require.True(t, known, path)
		assert.Contains(t, got.meaning, want.meaning, path)
		assert.Contains(t, got.allowed, want.allowed, path)
		assert.Equal(t, want.example, got.example, path)
	}
}

// A value that the checks refuse is tried in a whole stack file that is right otherwise,
// so what they say is about that value.
func TestRefusalsAreOfTheKeyAlone(t *testing.T) {
	t.Parallel()
	dev, err := readSample("dev", filepath.Join(project, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	key := stacks.Key{Path: "plans.<name>.tokensPerMinute", Type: reflect.TypeFor[int]()}
	found, err := dev.refusals(key)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "at least 1: without a limit one tenant could starve the others", found[0].want)
	assert.Equal(t, "20000", found[0].example)

	values, err := dev.with("plans.full.tokensPerMinute", 1)
	require.NoError(t, err)
	_, err = stacks.Parse("dev", values)
	assert.NoError(t, err, "the neighbour is legal")
	_, kept, ok := dev.at("plans.full.tokensPerMinute")
	assert.True(t, ok)
	assert.Equal(t, 20000, kept, "the sample itself is not changed")
}

// Comments are read from the source: of fields, of types where a field has none, and of
// the values of an enumeration.
func TestSourceReadsComments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "p"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p", "p.go"), []byte(`package p

// Box is a box.
type Box struct {
	Size int // in metres,
	// Lid says whether
	// it has one.
	Lid Lid
}

// Lid is how it is shut.
type Lid string

const (
	Open Lid = "open" // for everybody
	Shut Lid = "shut"
	Other = "other"
)
`), 0o644))
	types, err := parse(filepath.Join(dir, "p"))
	require.NoError(t, err)
	assert.Equal(t, "in metres,", types["Box"].fields["Size"])
	assert.Equal(t, "Lid says whether it has one.", types["Box"].fields["Lid"])
	assert.Equal(t, []value{{"open", "for everybody"}, {"shut", ""}}, types["Lid"].values)
	_, err = parse(filepath.Join(dir, "none"))
	assert.Error(t, err)
}

func TestCodesAreReadFromTheSource(t *testing.T) {
	t.Parallel()
	codes, err := ReadCodes(project)
	require.NoError(t, err)
	assert.Contains(t, codes.Gateway, Code{"model_not_in_plan", 403, "The plan of this tenant does not include this model."})
	assert.Contains(t, codes.ControlPlane, Code{"service_unavailable", 503, "nothing is lost, ask again"})
	assert.Contains(t, codes.ControlPlane, Code{"invalid_token", 401, "unauthorized"})
	assert.Contains(t, codes.Azure, Code{Text: "PrincipalNotFound", Says: "Entra has not spread the new identity yet"})
	assert.Contains(t, codes.Command, Code{Text: "policy", Says: "a mandatory policy refused the stack"})

	_, err = gatewayCodes(t.TempDir())
	assert.ErrorContains(t, err, "no call of refuse")
}

func TestTablesKeepWhatTheyAreTold(t *testing.T) {
	t.Parallel()
	p := newPage("Title", "here")
	p.table([]string{"a", "b"}, [][]string{{"x|y", "two\nlines"}})
	p.table([]string{"none"}, nil)
	text := string(p.bytes())
	assert.Contains(t, text, "| a | b |\n| --- | --- |\n| x\\|y | two<br>lines |\n")
	assert.NotContains(t, text, "none")
	assert.True(t, strings.HasSuffix(text, "|\n"))
	assert.Equal(t, `\<name>`, plain("<name>"))
}

func TestPredicate(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		`Queue is the root key "queue": the asynchronous path`: "the asynchronous path",
		"Box is a box":       "a box",
		"Boxes are many":     "Boxes are many",
		"of its deployments": "of its deployments",
	} {
		name, _, _ := strings.Cut(comment, " ")
		if name == "Boxes" {
			name = "Box"
		}
		assert.Equal(t, want, predicate(comment, name))
	}
}

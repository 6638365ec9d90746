package apimpolicy_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/csharp"
	"onedoor/internal/routing"
)

var update = flag.Bool("update", false, "write the documents to testdata")

func TestDocumentsAreAsReviewed(t *testing.T) {
	t.Parallel()
	require.NoError(t, given().Check())
	all := documents(given())
	for name, doc := range all {
		file := filepath.Join("testdata", name+".xml")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(doc.Text), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), doc.Text, name)
	}
	files, err := filepath.Glob("testdata/*.xml")
	require.NoError(t, err)
	assert.Len(t, files, len(all), "no golden without a document")
}

func TestDocumentsPassTheChecker(t *testing.T) {
	t.Parallel()
	for name, doc := range documents(given()) {
		assert.Empty(t, apimpolicy.Check(doc), name)
	}
}

// Every expression is of the subset that the interpreter runs, so nothing that
// is rendered goes untried.
func TestEveryExpressionParses(t *testing.T) {
	t.Parallel()
	n := 0
	for name, doc := range documents(given()) {
		root, err := apimpolicy.Parse(doc.Text, false)
		require.NoError(t, err)
		walk(root, func(node *apimpolicy.Node) {
			texts := []string{node.Text}
			for _, a := range node.Attrs {
				texts = append(texts, a.Value)
			}
			for _, text := range texts {
				if csharp.Is(text) {
					n++
					_, err := csharp.Parse(text)
					assert.NoError(t, err, "%s: %s", name, text)
				}
			}
		})
	}
	assert.Greater(t, n, 50)
}

func walk(n *apimpolicy.Node, visit func(*apimpolicy.Node)) {
	visit(n)
	for _, c := range n.Children {
		walk(c, visit)
	}
}

// A parser reads what was meant: the tree that was rendered is the tree that
// comes back, and writing that gives the same text.
func TestWhatIsWrittenIsWhatIsRead(t *testing.T) {
	t.Parallel()
	for name, doc := range documents(given()) {
		root, err := apimpolicy.Parse(doc.Text, false)
		require.NoError(t, err)
		assert.Equal(t, doc.Text, root.String(), name)
	}
}

// maxDocument is the size of a document in the tiers that can limit tokens.
// https://learn.microsoft.com/azure/api-management/service-limits
const maxDocument = 256 << 10

func TestOnlyTheTableGrowsWithTenants(t *testing.T) {
	t.Parallel()
	small, large := given(), given()
	for i := range 1000 {
		large.Tenants = append(large.Tenants, apimpolicy.Tenant{
			Name: fmt.Sprintf("tenant-with-a-long-name-%04d", i), Plan: "gold", Residency: routing.DataZone,
			Applications: []string{fmt.Sprintf("eeeeeeee-0000-0000-0000-%012d", i), fmt.Sprintf("eeeeeeee-0000-0000-0001-%012d", i)},
		})
	}
	require.NoError(t, large.Check())
	before, after := documents(small), documents(large)
	for name := range before {
		if name == "fragment-tenants" {
			continue
		}
		assert.Equal(t, before[name].Text, after[name].Text, name)
		assert.Less(t, len(after[name].Text), maxDocument, name)
	}
	assert.Less(t, len(after["fragment-tenants"].Text), 512<<10/2, "a thousand tenants with two applications each")
	assert.Empty(t, apimpolicy.Check(after["fragment-tenants"]))
}

func TestOrderOfTheConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	g := given()
	slices.Reverse(g.Plans)
	slices.Reverse(g.Tenants)
	slices.Reverse(g.Aliases)
	slices.Reverse(g.Plans[1].Aliases)
	before, after := documents(given()), documents(g)
	for name := range before {
		assert.Equal(t, before[name].Text, after[name].Text, name)
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(g *apimpolicy.Gateway)
		want  string
		mend  func(g *apimpolicy.Gateway) // to the legal neighbour
	}{
		"DirectoryIsNoGUID": {
			func(g *apimpolicy.Gateway) { g.Directory = "example.com" }, `directory: got "example.com"`,
			func(g *apimpolicy.Gateway) { g.Directory = directory },
		},
		"AudienceIsMarkup": {
			func(g *apimpolicy.Gateway) { g.Audience = "api://a<b" }, `audience: got "api://a<b"`,
			func(g *apimpolicy.Gateway) { g.Audience = directory },
		},
		"ControlPlaneInClear": {
			func(g *apimpolicy.Gateway) { g.ControlPlane = "http://batch" }, `control plane: got "http://batch", want an https URL`,
			func(g *apimpolicy.Gateway) { g.ControlPlane = "https://batch" },
		},
		"TenantEndsAnEntry": {
			func(g *apimpolicy.Gateway) { g.Tenants[0].Name = "a;b" }, `tenant "a;b": want lower-case letters`,
			func(g *apimpolicy.Gateway) { g.Tenants[0].Name = "a-b" },
		},
		"TenantTwice": {
			func(g *apimpolicy.Gateway) { g.Tenants[0].Name = "hooli" }, `tenant "hooli": there are two of this name`,
			func(g *apimpolicy.Gateway) { g.Tenants[0].Name = "hooli2" },
		},
		"ApplicationOfTwoTenants": {
			func(g *apimpolicy.Gateway) { g.Tenants[1].Applications = []string{strings.ToUpper(acmeApp)} },
			`already calls for tenant "acme"`,
			func(g *apimpolicy.Gateway) { g.Tenants[1].Applications = []string{strangerApp} },
		},
		"PlanOfTenantUnknown": {
			func(g *apimpolicy.Gateway) { g.Tenants[0].Plan = "silver" }, `tenant "acme": plan "silver" does not exist`,
			func(g *apimpolicy.Gateway) { g.Tenants[0].Plan = "tin" },
		},
		"ResidencyUnknown": {
			func(g *apimpolicy.Gateway) { g.Tenants[0].Residency = "moon" }, `got residency "moon"`,
			func(g *apimpolicy.Gateway) { g.Tenants[0].Residency = routing.Global },
		},
		"PlanWithoutLimit": {
			func(g *apimpolicy.Gateway) { g.Plans[1].TokensPerMinute = 0 }, `plan "tin": no limit`,
			func(g *apimpolicy.Gateway) { g.Plans[1].TokensPerMinute = 1 },
		},
		"NoPlan": {
			func(g *apimpolicy.Gateway) { g.Plans, g.Tenants = nil, nil }, "plans: none",
			func(g *apimpolicy.Gateway) { g.Plans = given().Plans[:1] },
		},
		"QuotaWithoutPeriod": {
			func(g *apimpolicy.Gateway) { g.Plans[0].Period = "Fortnightly" }, `plan "gold": got period "Fortnightly"`,
			func(g *apimpolicy.Gateway) { g.Plans[0].Period = apimpolicy.Weekly },
		},
		"AliasOfPlanUnknown": {
			func(g *apimpolicy.Gateway) { g.Plans[1].Aliases = []string{"gpt-5"} }, `plan "tin": alias "gpt-5" does not exist`,
			func(g *apimpolicy.Gateway) { g.Plans[1].Aliases = []string{"embed"} },
		},
		"AliasIsAPath": {
			func(g *apimpolicy.Gateway) { g.Aliases[1].Name, g.Plans[0].Aliases[1] = "a/b", "a/b" }, `alias "a/b": want letters`,
			func(g *apimpolicy.Gateway) { g.Aliases[1].Name, g.Plans[0].Aliases[1] = "a_b", "a_b" },
		},
		"DeploymentEndsAnEntry": {
			func(g *apimpolicy.Gateway) { g.Aliases[1].Targets[0].Deployment = "a|b" }, `deployment "a|b" of back end "east-embed"`,
			func(g *apimpolicy.Gateway) { g.Aliases[1].Targets[0].Deployment = "meta/llama:8b" },
		},
		"BackendIDIsNone": {
			func(g *apimpolicy.Gateway) { g.Aliases[1].Targets[0].Backend = "east.embed" }, `back end "east.embed"`,
			func(g *apimpolicy.Gateway) { g.Aliases[1].Targets[0].Backend = "east_embed" },
		},
		"OutputNegative": {
			func(g *apimpolicy.Gateway) { g.Aliases[1].MaxOutputTokens = -1 }, `alias "embed": got at most -1 tokens in an answer, want 1 or more`,
			func(g *apimpolicy.Gateway) { g.Aliases[1].MaxOutputTokens = 1 },
		},
		"TooManyDeployments": {
			func(g *apimpolicy.Gateway) {
				g.Aliases[1].Targets = slices.Repeat(g.Aliases[1].Targets, apimpolicy.MaxTargets+1)
			}, "got 9 deployments, want at most 8",
			func(g *apimpolicy.Gateway) {
				g.Aliases[1].Targets = slices.Repeat(g.Aliases[1].Targets[:1], apimpolicy.MaxTargets)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := given()
			c.spoil(&g)
			assert.ErrorContains(t, g.Check(), c.want)
			c.mend(&g)
			assert.NoError(t, g.Check())
		})
	}
}

func TestOneBackendForEachDeployment(t *testing.T) {
	t.Parallel()
	g := given()
	backends, err := apimpolicy.Backends(g.Aliases)
	require.NoError(t, err)
	var ids []string
	for _, b := range backends {
		ids = append(ids, b.Backend)
	}
	assert.Equal(t, []string{"east-embed", "east-gpt-41", "ray-llama", "sweden-gpt-41", "sweden-gpt-41-zone"}, ids)

	again := append(g.Aliases, routing.New("gpt-latest", region, g.Aliases[0].Targets[0]))
	shared, err := apimpolicy.Backends(again)
	require.NoError(t, err, "two aliases may share a deployment")
	assert.Len(t, shared, len(backends))

	other := g.Aliases[0].Targets[0]
	other.Deployment = "other"
	_, err = apimpolicy.Backends(append(g.Aliases, routing.New("gpt-latest", region, other)))
	require.ErrorContains(t, err, `back end "sweden-gpt-41" is both gpt-41 at`)
}

// Between two semicolons there would be an empty word, which an application
// without an id would find.
func TestAnEmptyTableHasNoEmptyWord(t *testing.T) {
	t.Parallel()
	assert.Contains(t, apimpolicy.Workers(nil).Text, `value=";"`)
	assert.Contains(t, apimpolicy.Workers([]string{"b", "a"}).Text, `value=";a;b;"`)
}

// Whatever a name is, it is refused, or it is read back as it was.
func FuzzNames(f *testing.F) {
	f.Add("acme", "gpt-4.1", "gpt-41")
	f.Add(`a"b`, "x' or '1'='1", "</set-variable>")
	f.Add("a;b=gold", "{{secret}}", "@(context)")
	f.Add("a\x00b", "&lt;", "a,b|c")
	f.Fuzz(func(t *testing.T, tenant, alias, deployment string) {
		g := given()
		g.Tenants[0].Name, g.Aliases[0].Name, g.Plans[0].Aliases[0], g.Plans[1].Aliases[0] = tenant, alias, alias, alias
		g.Aliases[0].Targets[0].Deployment = deployment
		if g.Check() != nil {
			return
		}
		docs := documents(g)
		for name, doc := range docs {
			if problems := apimpolicy.Check(doc); len(problems) > 0 {
				t.Fatalf("%s: %v", name, problems)
			}
		}
		for _, want := range []struct{ file, variable, entry string }{
			{"fragment-tenants", "tenants", tenant + "=gold,regional,-"},
			{"fragment-tenants", "applications", acmeApp + "=" + tenant},
			{"fragment-routes", "grants", "tin=" + alias},
			{"fragment-routes", "caps", alias + "=1000"},
			{"fragment-routes", "routes", alias + "/regional=sweden-gpt-41,azure," + deployment},
		} {
			root, err := apimpolicy.Parse(docs[want.file].Text, false)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(entries(root, want.variable), want.entry) {
				t.Fatalf("%s has no entry %q", want.variable, want.entry)
			}
		}
	})
}

// entries are those of the table in a variable.
func entries(root *apimpolicy.Node, variable string) []string {
	for _, n := range root.Children {
		if name, _ := n.Attr("name"); name == variable {
			value, _ := n.Attr("value")
			return strings.Split(value, ";")
		}
	}
	return nil
}

func TestOperationsAreDistinctAndHaveNoWildcard(t *testing.T) {
	t.Parallel()
	seen, routes := map[string]bool{}, map[string]bool{}
	for _, o := range append(apimpolicy.Synchronous(), apimpolicy.Refused()...) {
		assert.False(t, seen[o.ID], o.ID)
		assert.False(t, routes[o.Method+o.Template], o.Template)
		assert.NotContains(t, o.Template, "*")
		assert.LessOrEqual(t, len(o.ID), 80)
		seen[o.ID], routes[o.Method+o.Template] = true, true
	}
	assert.Equal(t, []string{"deployment-id", "id", "action"}, apimpolicy.Operation{Template: "/deployments/{deployment-id}/uploads/{id}/{action}"}.Parameters())
	assert.Len(t, slices.Collect(maps.Keys(seen)), 44)
}

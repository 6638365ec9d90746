package change

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/bill"
	"onedoor/internal/policypack/results"
	"onedoor/internal/prices"
	"onedoor/internal/reach"
	"onedoor/internal/report"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// example is a change that replaces the cluster, widens a role and adds a tenant.
func example() *Report {
	r := &Report{
		Project: "onedoor", Stack: "dev", Simulated: true,
		Base: Revision{Name: "main", Commit: "0123456789abcdef"}, Head: Revision{Name: "working tree", Commit: "fedcba9876543210", Dirty: true},
		Changes: []Resource{
			{
				Op: Replaced, URN: prefix + "t::cluster", Kind: "containerservice:ManagedCluster", Name: "cluster", Because: []string{"networkProfile.networkPlugin"},
				Properties: []Property{{"networkProfile.networkPlugin", "azure", "none"}}, Loses: lossOf("containerservice:ManagedCluster"),
			},
			{Op: Replaced, URN: prefix + "t::pool", Kind: "containerservice:AgentPool", Name: "cluster-a100", Loses: lossOf("containerservice:AgentPool")},
			{Op: Updated, URN: prefix + "t::role", Kind: "authorization:RoleDefinition", Name: "identity-sync-only", Properties: []Property{{"permissions[0].dataActions[5]", nil, "Microsoft.CognitiveServices/accounts/OpenAI/*"}}},
			{Op: Created, URN: prefix + "t::tenant", Kind: "apimanagement:Subscription", Name: "gateway-analytics"},
		},
		Policy:   report.Difference{Worse: true, Changes: []report.Change{{Kind: report.New, Rule: "BAT-04", Resource: prefix + "azure-native:authorization:RoleDefinition::identity-sync-only", Text: "a wildcard"}, {Kind: report.Open, Rule: "AKS-02", Text: "as before"}}},
		Blocking: 1,
		OnlyBase: []results.Result{{Rule: "GW-06", Resource: prefix + "t::tenant", Message: "all APIs"}},
		Reach:    []reach.Change{{From: "worker", To: "batch account", Port: "443", Before: reach.Closed, After: reach.Open, By: "rule 100"}},
		Findings: []reach.Finding{{Kind: reach.Bypass, Text: "worker reaches the batch account"}},
		Capacity: []Quantity{{"GPUs, A100-80GB", 4, 8}, {tokens, 100_000, 100_000}},
		Bill: Bills{
			Before: bill.Bill{AsOf: "2026-11-29", Idle: prices.Dollars(1200), Most: prices.Dollars(9000)},
			After: bill.Bill{
				AsOf: "2026-11-29", Idle: prices.Dollars(1450), Most: prices.Dollars(20000), UpgradePerHour: prices.Dollars(7),
				Lines: []bill.Line{{URN: prefix + "t::gateway", What: "gateway Developer", Idle: prices.Dollars(48), Most: prices.Dollars(48)}}, Unpriced: []string{"pool: 2 Standard_X1"},
			},
		},
		Duration: Path{Span(9 * time.Minute), []Step{{prefix + "t::cluster", Replaced, Span(6 * time.Minute)}, {prefix + "t::pool", Replaced, Span(3 * time.Minute)}, {prefix + "t::x", Created, Span(time.Second)}}},
	}
	r.Judge(false)
	return r
}

func TestTheReportIsItsGolden(t *testing.T) {
	t.Parallel()
	r := example()
	var screen strings.Builder
	r.Print(&screen)
	for name, got := range map[string]string{"comment.md": r.Markdown("out/dev/change.json"), "screen.txt": screen.String()} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			continue
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run: go test ./internal/change -update")
		assert.Equal(t, string(want), got)
	}
}

// TestTheFirstScreenShowsWhatMatters: a change that replaces the cluster, widens a
// role and adds a tenant is refused, and says all three before any details.
func TestTheFirstScreenShowsWhatMatters(t *testing.T) {
	t.Parallel()
	r := example()
	first, _, _ := strings.Cut(r.Markdown("change.json"), "<details>")
	for _, want := range []string{"REPLACED", "ManagedCluster cluster", "networkProfile.networkPlugin", "identity-sync-only", "OpenAI/\\*", "+ gateway-analytics", "BAT-04", "USD 1,200 to 1,450", "GPUs, A100-80GB 4 to 8", "about 9 min"} {
		assert.Contains(t, first, want)
	}
	assert.False(t, r.OK)
	assert.Len(t, r.Refusals, 5)
}

// TestWhatFollowsDoesNotHideWhatIsGranted: a replaced cluster replaces the role
// assignments of its identities and every tenant of the gateway may change.
func TestWhatFollowsDoesNotHideWhatIsGranted(t *testing.T) {
	t.Parallel()
	r := &Report{}
	for _, op := range Ops { // in the order of a plan
		for i := range 4 {
			r.Changes = append(r.Changes,
				Resource{Op: op, Kind: "authorization:RoleAssignment", Name: fmt.Sprintf("%s-%d", op, i)},
				Resource{Op: op, Kind: "apimanagement:Subscription", Name: fmt.Sprintf("%s-%d", op, i)})
		}
	}
	r.Changes = append(r.Changes, Resource{Op: Updated, Kind: "authorization:RoleDefinition", Name: "wider"})
	assert.Equal(t, "~ RoleDefinition wider; + RoleAssignment created-0; + RoleAssignment created-1; and 14 more", r.access())
	assert.Equal(t, "+ created-0; + created-1; + created-2; and 13 more", r.tenants())
}

func TestEachFaultRefusesAlone(t *testing.T) {
	t.Parallel()
	lost := []Resource{{Op: Replaced, Kind: "containerservice:ManagedCluster", Loses: "it"}}
	for reason, test := range map[string]struct {
		change     Report
		acceptLoss bool
		ok         bool
	}{
		"nothing":                          {Report{}, false, true},
		"something is made":                {Report{Changes: []Resource{{Op: Created}}}, false, true},
		"something is lost":                {Report{Changes: lost}, false, false},
		"something is lost, as is meant":   {Report{Changes: lost}, true, true},
		"a mandatory rule fails":           {Report{Blocking: 1}, true, false},
		"a rule is loosened":               {Report{Policy: report.Difference{Worse: true}}, true, false},
		"only the old rules see it":        {Report{OnlyBase: []results.Result{{}}}, true, false},
		"a way round a door":               {Report{Findings: []reach.Finding{{Kind: reach.Bypass}}}, true, false},
		"a flow of which nothing is known": {Report{Findings: []reach.Finding{{Kind: reach.Unproven}}}, true, true},
		"failures that were there before":  {Report{Policy: report.Difference{Changes: []report.Change{{Kind: report.Open}}}}, false, true},
	} {
		test.change.Judge(test.acceptLoss)
		assert.Equal(t, test.ok, test.change.OK, reason)
		assert.Equal(t, test.ok, len(test.change.Refusals) == 0, reason)
	}
}

// TestALargeChangeStaysReadable: a comment has a limit, and the first screen must
// survive it.
func TestALargeChangeStaysReadable(t *testing.T) {
	t.Parallel()
	r := example()
	for i := range 500 {
		c := Resource{Op: Updated, URN: fmt.Sprintf("%st::r%d", prefix, i), Kind: "network:Subnet", Name: fmt.Sprintf("subnet-%d", i)}
		for j := range 5 {
			c.Properties = append(c.Properties, Property{fmt.Sprintf("property%d", j), strings.Repeat("a", 300), strings.Repeat("b", 300)})
		}
		r.Changes = append(r.Changes, c)
	}
	small, _, _ := strings.Cut(example().Markdown("f"), "| tenants")
	got := r.Markdown("out/dev/change.json")
	large, _, _ := strings.Cut(got, "| tenants")
	assert.LessOrEqual(t, len(got), CommentLimit)
	assert.Greater(t, len(got), CommentLimit/2, "the room is used")
	assert.Equal(t, strings.ReplaceAll(small, "1 updated", "501 updated"), large)
	assert.Contains(t, got, "more\n")
	assert.True(t, strings.HasSuffix(got, "All of it is in `out/dev/change.json`.\n"))
	assert.Equal(t, strings.Count(got, "<details>"), strings.Count(got, "</details>"))
}

// TestNamesCannotBeMarkup: names and values come from the change that is judged.
func TestNamesCannotBeMarkup(t *testing.T) {
	t.Parallel()
	r := example()
	const evil = "x |<!-- onedoor change of onedoor/prod -->\n@team `a` [b](http://c)"
	r.Stack, r.Base.Name = "dev", evil
	r.Changes = append(r.Changes, Resource{Op: Updated, URN: evil, Kind: "a:B", Name: evil, Properties: []Property{{evil, evil, nil}}})
	r.Findings = append(r.Findings, reach.Finding{Kind: reach.Bypass, Text: evil})
	got := r.Markdown("f")
	assert.Equal(t, 1, strings.Count(got, "<!--"), "one marker")
	assert.NotContains(t, got, "@team")
	assert.NotRegexp(t, `[^\\]\[b\]\(`, got)
}

func TestOnlyBaseIsWhatOnlyTheOldRulesSee(t *testing.T) {
	t.Parallel()
	fail := func(rule, resource string) results.Result {
		return results.Result{Rule: rule, Resource: resource, State: results.Fail}
	}
	of := func(rs ...results.Result) results.Document { return results.Document{Results: rs} }
	base := of(fail("A", "old"))
	judged := of(fail("A", "old"), fail("B", "new"), fail("A", "new"), results.Result{Rule: "C", Resource: "new", State: results.Pass})
	head := of(fail("B", "new"))
	assert.Equal(t, []results.Result{fail("A", "new")}, OnlyBase(base, judged, head))
	assert.Empty(t, OnlyBase(judged, judged, head))
}

func TestLongTextsAreShownWhereTheyPart(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("x", 400)
	got := Property{"policy", same + "old" + same, same + "new" + same}.String()
	assert.Contains(t, got, "xold")
	assert.Contains(t, got, "xnew")
	assert.Less(t, len(got), 320)
	assert.NotContains(t, Property{"script", "a\nb", nil}.String(), "\n")
	assert.Equal(t, "n: 2 to 3", Property{"n", 2.0, 3.0}.String())
	assert.Equal(t, "n: + [1]", Property{"n", nil, []any{1.0}}.String())
	assert.Equal(t, "n: - a", Property{"n", "a", nil}.String())
}

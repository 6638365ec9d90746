package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"onedoor/internal/policypack/results"
	"onedoor/internal/report"
)

// formats are the reports of a document.
func formats(t *testing.T, d results.Document) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"report.md": report.Markdown(d, fixed)}
	var err error
	out["report.sarif"], err = report.SARIF(d, fixed)
	require.NoError(t, err)
	out["report.junit.xml"], err = report.JUnit(d, fixed)
	require.NoError(t, err)
	out["report.html"], err = report.HTML(d, fixed)
	require.NoError(t, err)
	out["report.oscal.json"], err = report.OSCAL(d, fixed, collected)
	require.NoError(t, err)
	return out
}

// Whoever finds one file alone must know of what it is, and see every state.
func TestEveryFormatNamesItsSubjectAndEveryState(t *testing.T) {
	t.Parallel()
	d := everyState(t)
	again := formats(t, d)
	for name, got := range formats(t, d) {
		golden(t, filepath.Join("testdata", name), got)
		assert.Equal(t, string(again[name]), string(got), "%s: the same document gives the same bytes", name)
		for _, want := range []string{"platform/prod", "0123abc", "bb22", "cc33", "simulated", "not committed"} {
			assert.Contains(t, string(got), want, name)
		}
		for _, state := range []string{"pass", "fail", "waived", "expired waiver", "not-applicable", "not-checked"} {
			assert.Contains(t, string(got), state, name)
		}
		for _, waiver := range []string{"SEC-7", "2027-01-31", "ann@example.com", "keys rotate daily", "SEC-8"} {
			if name == "report.md" {
				waiver = strings.ReplaceAll(waiver, "@", "&#64;") // no mention of a person
			}
			assert.Contains(t, string(got), waiver, name)
		}
	}
	d.Subject.Simulated = false
	for name, got := range formats(t, d) {
		assert.NotContains(t, string(got), "simulated", name)
	}
}

func TestSARIFIsOfThePublishedSchema(t *testing.T) {
	t.Parallel()
	d := everyState(t)
	raw := formats(t, d)["report.sarif"]
	log, err := sarif.FromBytes(raw, sarif.WithStrictValidation())
	require.NoError(t, err)
	require.NoError(t, log.Validate())
	require.Len(t, log.Runs, 1)
	prints := map[string]bool{}
	kinds := map[string]int{}
	suppressed := 0
	for _, r := range log.Runs[0].Results {
		kinds[r.Kind]++
		assert.Equal(t, *r.RuleID, *log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
		assert.Equal(t, r.Kind != "fail", r.Level == "none", "only what fails has a level")
		assert.Equal(t, "Pulumi.prod.yaml", *r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
		prints[r.PartialFingerprints["onedoor/v1"]] = true
		if len(r.Suppressions) > 0 {
			suppressed++
			assert.Contains(t, *r.Suppressions[0].Justification, "SEC-7", "an expired waiver suppresses nothing")
		}
	}
	assert.Equal(t, map[string]int{"pass": 2, "fail": 5, "open": 1, "notApplicable": 1}, kinds)
	assert.Len(t, prints, 9, "every finding has a fingerprint of its own")
	assert.Equal(t, 2, suppressed)

	other := everyState(t)
	for i := range other.Results {
		other.Results[i].Resource = strings.Replace(other.Results[i].Resource, ":prod::", ":dev::", 1)
	}
	elsewhere, err := sarif.FromBytes(formats(t, other)["report.sarif"])
	require.NoError(t, err)
	for _, r := range elsewhere.Runs[0].Results {
		assert.True(t, prints[r.PartialFingerprints["onedoor/v1"]], "the same finding in another stack")
	}
}

func TestJUnitCountsOnlyPassesAsPassed(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Message string `xml:"message,attr"`
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Tests int `xml:"tests,attr"`
			Cases []struct {
				Name    string   `xml:"name,attr"`
				Failure *outcome `xml:"failure"`
				Skipped *outcome `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(formats(t, everyState(t))["report.junit.xml"], &got))
	assert.Equal(t, []int{9, 3, 4}, []int{got.Tests, got.Failures, got.Skipped})
	passed, names := 0, map[string]bool{}
	for _, suite := range got.Suites {
		assert.Len(t, suite.Cases, suite.Tests)
		for _, c := range suite.Cases {
			names[c.Name] = true
			if c.Failure == nil && c.Skipped == nil {
				passed++
			}
			if c.Skipped != nil {
				assert.Regexp(t, "^(waived|not-applicable|not-checked): ", c.Skipped.Message)
			}
			if strings.HasPrefix(c.Name, "AOA-04") {
				assert.Contains(t, c.Failure.Message, "expired waiver")
			}
		}
	}
	assert.Equal(t, 2, passed)
	assert.Len(t, names, 9, "two properties of one resource are two cases")
}

func TestMarkdownShowsTheFailuresFirstAndNoMarkupOfOthers(t *testing.T) {
	t.Parallel()
	got := string(formats(t, everyState(t))["report.md"])
	lines := strings.Split(got, "\n")
	assert.Equal(t, "**Refused: 3 failures, 1 of mandatory rules.**", lines[2])
	assert.Equal(t, "fail 3, of them expired waiver 1, not-checked 1, waived 2, pass 2, not-applicable 1, by 7 rules.", lines[4])
	assert.Equal(t, "## Failures", lines[6])
	assert.NotContains(t, got, "<script>")
	assert.NotContains(t, got, "@")
	for _, line := range lines {
		if strings.HasPrefix(line, "| ST-03") {
			assert.Len(t, regexp.MustCompile(`[^\\]\|`).FindAllString(line, -1), 4, "a name with a bar adds no cell: %s", line)
		}
	}
	d := everyState(t)
	for range 60 {
		d.Results = append(d.Results, d.Results[len(d.Results)-1])
	}
	assert.Contains(t, string(report.Markdown(d, fixed)), "more are in report.html")
}

// Bad values of the model are what NIST's own schema would refuse.
// https://pages.nist.gov/OSCAL/resources/concepts/layer/assessment/assessment-results/
func TestOSCALFitsItsModel(t *testing.T) {
	t.Parallel()
	raw := formats(t, everyState(t))["report.oscal.json"]
	var got struct {
		Results struct {
			UUID     string
			ImportAP struct{ Href string } `json:"import-ap"`
			Back     struct{ Resources []struct{ UUID string } }
			Results  []struct {
				Local struct {
					Items []struct{ UUID string } `json:"inventory-items"`
				} `json:"local-definitions"`
				Reviewed struct {
					Selections []struct {
						Include []struct {
							ID string `json:"control-id"`
						} `json:"include-controls"`
					} `json:"control-selections"`
				} `json:"reviewed-controls"`
				Observations []struct {
					UUID     string
					Subjects []struct {
						UUID string `json:"subject-uuid"`
					}
					Evidence []struct{ Description string } `json:"relevant-evidence"`
				}
				Risks []struct {
					UUID, Status, Deadline string
				}
				Findings []struct {
					Target struct {
						ID     string `json:"target-id"`
						Status struct{ State string }
					}
					Observations []struct {
						UUID string `json:"observation-uuid"`
					} `json:"related-observations"`
					Risks []struct {
						UUID string `json:"risk-uuid"`
					} `json:"related-risks"`
				}
				Remarks string
			}
		} `json:"assessment-results"`
	}
	require.NoError(t, json.Unmarshal(raw, &got))
	uuids := regexp.MustCompile(`"uuid": "([^"]*)"`).FindAllStringSubmatch(string(raw), -1)
	defined := map[string]bool{}
	for _, u := range uuids {
		assert.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", u[1])
		assert.False(t, defined[u[1]], "%s is used twice", u[1])
		defined[u[1]] = true
	}
	require.Len(t, got.Results.Results, 1)
	result := got.Results.Results[0]
	assert.True(t, defined[strings.TrimPrefix(got.Results.ImportAP.Href, "#")], "the plan is in the back matter")
	require.Len(t, result.Observations, 9)
	for _, o := range result.Observations {
		for _, s := range o.Subjects {
			assert.True(t, defined[s.UUID], "the subject is in the inventory")
		}
		assert.NotEmpty(t, o.Evidence[0].Description)
	}
	states := map[string]string{}
	for _, f := range result.Findings {
		states[f.Target.ID] = f.Target.Status.State
		for _, o := range f.Observations {
			assert.True(t, defined[o.UUID])
		}
		for _, r := range f.Risks {
			assert.True(t, defined[r.UUID])
		}
	}
	assert.Equal(t, map[string]string{
		"cis-aks-5.5.1": "satisfied", "mcsb-ai-1": "not-satisfied", "mcsb-am-2": "not-satisfied",
		"mcsb-im-1": "satisfied", "mcsb-im-3": "not-satisfied",
	}, states, "not checked and not applicable give no finding")
	assert.Contains(t, result.Remarks, "MCSB NS-2, MCSB NS-10", "what is waived does not settle what is not checked")
	for _, c := range result.Reviewed.Selections[0].Include {
		assert.Regexp(t, `^[\pL_][\pL\pN.\-_]*$`, c.ID)
	}
	deviations := 0
	for _, r := range result.Risks {
		if r.Status == "deviation-approved" {
			deviations++
			assert.Equal(t, "2027-01-31T23:59:59Z", r.Deadline)
		}
	}
	assert.Equal(t, 2, deviations, "an expired waiver approves no deviation")
	assert.Len(t, result.Risks, 5)
}

// A rule of doors that no pack has would be in doubt for ever.
func TestDoorsNameRulesThatExist(t *testing.T) {
	t.Parallel()
	var d results.Document
	for _, rule := range catalog(t) {
		d.Results = append(d.Results, results.Result{Rule: rule.ID, State: results.Pass})
	}
	page, err := report.HTML(d, catalog(t))
	require.NoError(t, err)
	assert.NotContains(t, string(page), "was not judged")
	d.Results = slices.DeleteFunc(d.Results, func(r results.Result) bool { return r.Rule == "BAT-10" })
	page, err = report.HTML(d, catalog(t))
	require.NoError(t, err)
	assert.Contains(t, string(page), "BAT-10 was not judged")
	assert.True(t, bytes.Contains(page, []byte(`Storage</th><td><span class="state not-checked">`)), "a layer whose rule was not judged is in doubt")
}

func TestControlsTellWhatHasNoRule(t *testing.T) {
	t.Parallel()
	golden(t, filepath.Join("..", "..", "docs", "rules", "controls.md"), report.Controls(catalog(t)))
	got := string(report.Controls(report.Catalog{{ID: "X-01", Controls: []string{"MCSB NS-10", "MCSB NS-2", "CIS AKS 5.4.1"}}}))
	assert.Contains(t, got, "| Network security | 10 | 2 | NS-1, NS-3, NS-4, NS-5, NS-6, NS-7, NS-8, NS-9 |")
	assert.Contains(t, got, "| Identity management | 9 | 0 | IM-1,")
	assert.Less(t, strings.Index(got, "| NS-2 |"), strings.Index(got, "| NS-10 |"))
	assert.Contains(t, got, "| CIS AKS 5.4.1 | [X-01](X-01.md) |")
	all := string(report.Controls(catalog(t)))
	assert.Less(t, strings.Index(all, "| CIS "), strings.Index(all, "| Azure Policy "))
	assert.Less(t, strings.Index(all, "| Azure Policy "), strings.Index(all, "| Checkov "))
}

// The page is one file that a reviewer keeps: it loads nothing, runs nothing, and
// the link to a failing rule is at the top.
func TestThePageNeedsNothingElse(t *testing.T) {
	t.Parallel()
	raw := formats(t, everyState(t))["report.html"]
	root, err := html.Parse(bytes.NewReader(raw))
	require.NoError(t, err)
	ids, links := map[string]bool{}, map[string]bool{}
	var order []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		assert.NotContains(t, []string{"script", "link", "img", "iframe", "object"}, n.Data, "the page is one file")
		for _, a := range n.Attr {
			assert.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "src", "%s of <%s>", a.Key, n.Data)
			switch a.Key {
			case "id":
				assert.False(t, ids[a.Val], "%s is used twice", a.Val)
				ids[a.Val] = true
				order = append(order, "id "+a.Val)
			case "href":
				assert.Regexp(t, "^#", a.Val)
				links[strings.TrimPrefix(a.Val, "#")] = true
				order = append(order, "to "+a.Val)
			}
		}
	}
	for link := range links {
		assert.True(t, ids[link], "a link to %s leads nowhere", link)
	}
	for _, rule := range []string{"AOA-04", "BAT-01", "ST-03"} {
		assert.Less(t, slices.Index(order, "to #"+rule), slices.Index(order, "id doors"), "%s is linked among the failures", rule)
		assert.Contains(t, order, "to #"+rule)
	}
	assert.NotContains(t, order[:slices.Index(order, "id doors")], "to #ST-01", "what is waived does not fail")
	assert.NotContains(t, string(raw), "<script")
	assert.NotContains(t, string(raw), "http")
	assert.Contains(t, string(raw), "@media print")
}

package report

import (
	"cmp"
	"encoding/xml"
	"strings"

	"onedoor/internal/policypack/results"
)

// The elements that CI systems read.
// https://github.com/testmoapp/junitxml
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Failure    *junitOutcome   `xml:"failure"`
	Skipped    *junitOutcome   `xml:"skipped"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit is the document as JUnit XML: a suite for each rule, a case for each
// judgement. Only a pass is a passed case; what was waived, does not apply or
// could not be checked is skipped, and says which.
func JUnit(d results.Document, c Catalog) ([]byte, error) {
	all := junitSuites{Name: d.Subject.Project + "/" + d.Subject.Stack}
	for _, rule := range byRule(d, c) {
		suite := junitSuite{Name: rule.ID + ": " + rule.Title}
		for _, l := range subject(d) {
			suite.Properties = append(suite.Properties, junitProperty(l))
		}
		for _, r := range rule.Results {
			test := caseOf(rule, r)
			suite.Cases = append(suite.Cases, test)
			suite.Tests++
			if test.Failure != nil {
				suite.Failures++
			}
			if test.Skipped != nil {
				suite.Skipped++
			}
		}
		all.Suites = append(all.Suites, suite)
		all.Tests, all.Failures, all.Skipped = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Skipped+suite.Skipped
	}
	encoded, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(encoded, '\n')...), err
}

func caseOf(rule judged, r results.Result) junitCase {
	test := junitCase{Name: rule.ID + "/" + cmp.Or(r.Resource, "stack"), Class: cmp.Or(rule.Pack, "policy") + "." + rule.ID}
	if r.Evidence.Path != "" {
		test.Name += "/" + r.Evidence.Path
	}
	test.Properties = []junitProperty{{"state", shown(r)}, {"severity", r.Severity}, {"level", string(r.Level)}, {"controls", strings.Join(r.Controls, ", ")}}
	switch r.State {
	case results.Fail:
		message := r.Message
		if r.Waiver != nil {
			message = shown(r) + ": " + message
		}
		body := "fix: " + rule.Remedy
		if r.Waiver != nil {
			body += "\n" + explain(r.Waiver)
		}
		test.Failure = &junitOutcome{Message: message, Type: string(r.Level), Text: body}
	case results.Waived:
		test.Skipped = &junitOutcome{Message: "waived: " + r.Message + " (" + explain(r.Waiver) + ")"}
	case results.NotApplicable, results.NotChecked:
		test.Skipped = &junitOutcome{Message: string(r.State) + ": " + r.Message}
	case results.Pass:
	}
	return test
}

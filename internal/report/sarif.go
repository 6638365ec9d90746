package report

import (
	"bytes"
	"cmp"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"onedoor/internal/policypack/results"
)

// sarifKinds are results as SARIF calls them. "open" is a judgement that waits
// for a value.
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html#_Toc34317647
var sarifKinds = map[results.State]string{
	results.Pass: "pass", results.Fail: "fail", results.Waived: "fail", results.NotApplicable: "notApplicable", results.NotChecked: "open",
}

// sarifLevels are severities as SARIF calls them.
var sarifLevels = map[string]string{"critical": "error", "high": "error", "medium": "warning", "low": "note"}

// SARIF is the document as SARIF 2.1.0. Its place in the repository is the stack
// file, since a resource has no line of its own; the resource is a logical
// location. A waived failure is suppressed.
func SARIF(d results.Document, c Catalog) ([]byte, error) {
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(driver(d, c)))
	run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID("onedoor/" + d.Subject.Stack + "/"))
	properties := sarif.NewPropertyBag()
	for _, l := range subject(d) {
		properties.Add(l.Name, l.Value)
	}
	run.WithProperties(properties)
	for i, rule := range byRule(d, c) {
		for _, r := range rule.Results {
			run.AddResult(sarifResult(d, r, i))
		}
	}
	log := sarif.NewReport()
	log.AddRun(run)
	var out bytes.Buffer
	err := log.PrettyWrite(&out)
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n'), err
}

func driver(d results.Document, c Catalog) *sarif.ToolComponent {
	driver := sarif.NewToolComponent().WithName("OneDoor policy packs")
	if len(d.Packs) > 0 {
		driver.WithVersion(d.Packs[0].Version)
	}
	for _, rule := range byRule(d, c) {
		properties := sarif.NewPropertyBag().WithTags(append([]string{}, rule.Controls...))
		properties.Add("severity", rule.Severity)
		properties.Add("level", string(rule.Level))
		descriptor := sarif.NewRule(rule.ID).
			WithShortDescription(text(rule.Title)).
			WithFullDescription(text(cmp.Or(rule.Rationale, rule.Title))).
			WithHelp(text(cmp.Or(rule.Remedy, rule.Title))).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(cmp.Or(sarifLevels[rule.Severity], "warning"))).
			WithProperties(properties)
		driver.AddRule(descriptor)
	}
	return driver
}

func text(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

func sarifResult(d results.Document, r results.Result, rule int) *sarif.Result {
	level := "none" // what SARIF wants of every kind but fail
	if sarifKinds[r.State] == "fail" {
		level = cmp.Or(sarifLevels[r.Severity], "warning")
	}
	properties := sarif.NewPropertyBag()
	properties.Add("state", shown(r))
	properties.Add("level", string(r.Level))
	properties.Add("path", r.Evidence.Path)
	properties.Add("value", r.Evidence.Value)
	properties.Add("expected", r.Evidence.Expected)
	message := cmp.Or(r.Message, Short(r.Resource)+": "+shown(r))
	if r.Waiver != nil {
		message += " (" + explain(r.Waiver) + ")"
	}
	out := sarif.NewRuleResult(r.Rule).WithRuleIndex(rule).
		WithKind(sarifKinds[r.State]).WithLevel(level).WithMessage(sarif.NewTextMessage(message)).
		WithPartialFingerprints(map[string]string{"onedoor/v1": fingerprint(r)}).
		WithProperties(properties)
	place := sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewArtifactLocation().WithURI("Pulumi." + d.Subject.Stack + ".yaml")).
		WithRegion(sarif.NewRegion().WithStartLine(1)))
	if r.Resource != "" {
		place.AddLogicalLocation(sarif.NewLogicalLocation().WithKind("resource").WithName(Short(r.Resource)).WithFullyQualifiedName(r.Resource))
	}
	out.AddLocation(place)
	if r.State == results.Waived {
		out.AddSuppression(sarif.NewSuppression().WithKind("external").WithStatus("accepted").WithJustification(explain(r.Waiver)))
	}
	return out
}

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"onedoor/internal/policypack/results"
)

// oscalVersion is the version of the model below.
// https://pages.nist.gov/OSCAL/reference/latest/assessment-results/json-reference/
const oscalVersion = "1.2.1"

// namespaceURI tells our properties from NIST's.
const namespaceURI = "https://onedoor.io/ns/oscal"

type oscalDocument struct {
	Results oscalAssessment `json:"assessment-results"`
}

type oscalAssessment struct {
	UUID       string        `json:"uuid"`
	Metadata   oscalMetadata `json:"metadata"`
	ImportPlan oscalHref     `json:"import-ap"`
	Results    []oscalResult `json:"results"`
	BackMatter oscalBack     `json:"back-matter"`
}

type oscalMetadata struct {
	Title        string      `json:"title"`
	LastModified string      `json:"last-modified"`
	Version      string      `json:"version"`
	OSCALVersion string      `json:"oscal-version"`
	Props        []oscalProp `json:"props"`
}

type oscalProp struct {
	Name  string `json:"name"`
	NS    string `json:"ns"`
	Value string `json:"value"`
}

type oscalHref struct {
	Href string `json:"href"`
}

type oscalBack struct {
	Resources []oscalResource `json:"resources"`
}

type oscalResource struct {
	UUID        string `json:"uuid"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

type oscalResult struct {
	UUID         string             `json:"uuid"`
	Title        string             `json:"title"`
	Description  string             `json:"description"`
	Start        string             `json:"start"`
	Local        *oscalLocal        `json:"local-definitions,omitempty"`
	Reviewed     oscalReviewed      `json:"reviewed-controls"`
	Observations []oscalObservation `json:"observations,omitempty"`
	Risks        []oscalRisk        `json:"risks,omitempty"`
	Findings     []oscalFinding     `json:"findings,omitempty"`
	Remarks      string             `json:"remarks,omitempty"`
}

type oscalLocal struct {
	Items []oscalItem `json:"inventory-items"`
}

type oscalItem struct {
	UUID        string `json:"uuid"`
	Description string `json:"description"`
}

type oscalReviewed struct {
	Selections []oscalSelection `json:"control-selections"`
}

type oscalSelection struct {
	Include []oscalControl `json:"include-controls"`
}

type oscalControl struct {
	ID string `json:"control-id"`
}

type oscalObservation struct {
	UUID        string          `json:"uuid"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Props       []oscalProp     `json:"props"`
	Methods     []string        `json:"methods"`
	Subjects    []oscalSubject  `json:"subjects,omitempty"`
	Evidence    []oscalEvidence `json:"relevant-evidence"`
	Collected   string          `json:"collected"`
}

type oscalSubject struct {
	UUID string `json:"subject-uuid"`
	Type string `json:"type"`
}

type oscalEvidence struct {
	Description string `json:"description"`
}

type oscalRisk struct {
	UUID        string                `json:"uuid"`
	Title       string                `json:"title"`
	Description string                `json:"description"`
	Statement   string                `json:"statement"`
	Status      string                `json:"status"`
	Deadline    string                `json:"deadline,omitempty"`
	Related     []oscalObservationRef `json:"related-observations"`
}

type oscalFinding struct {
	UUID         string                `json:"uuid"`
	Title        string                `json:"title"`
	Description  string                `json:"description"`
	Target       oscalTarget           `json:"target"`
	Observations []oscalObservationRef `json:"related-observations"`
	Risks        []oscalRiskRef        `json:"related-risks,omitempty"`
}

type oscalTarget struct {
	Type   string      `json:"type"`
	ID     string      `json:"target-id"`
	Status oscalStatus `json:"status"`
}

type oscalStatus struct {
	State string `json:"state"`
}

type oscalObservationRef struct {
	UUID string `json:"observation-uuid"`
}

type oscalRiskRef struct {
	UUID string `json:"risk-uuid"`
}

// OSCAL is the document as OSCAL assessment results, collected at the time: an
// observation for each judgement, a finding for each control that has an answer,
// a risk for each failure, excused or not. A control with a judgement that is
// not checked and none that fails has no finding but a remark: OSCAL knows only
// satisfied and not-satisfied.
func OSCAL(d results.Document, c Catalog, at time.Time) ([]byte, error) {
	o := oscalMaker{
		document: d, at: at.UTC().Format(time.RFC3339),
		run: id("run", d.Subject.Project, d.Subject.Stack, d.Subject.Commit, d.Subject.PlanSHA256, d.Subject.ConfigSHA256, at.UTC().Format(time.RFC3339)),
	}
	rules := byRule(d, c)
	result := oscalResult{UUID: o.run, Title: "Policies of " + d.Subject.Project + "/" + d.Subject.Stack, Description: verdict(d), Start: o.at}
	seen := map[string]bool{}
	for _, rule := range rules {
		for i, r := range rule.Results {
			result.Observations = append(result.Observations, o.observation(rule, r, i))
			if r.State == results.Fail || r.State == results.Waived {
				result.Risks = append(result.Risks, o.risk(rule, r, i))
			}
			if r.Resource != "" && !seen[r.Resource] {
				seen[r.Resource] = true
				if result.Local == nil {
					result.Local = &oscalLocal{}
				}
				result.Local.Items = append(result.Local.Items, oscalItem{o.id("resource", r.Resource), r.Resource})
			}
		}
	}
	var reviewed oscalSelection
	var open []string
	for _, control := range byControl(rules) {
		reviewed.Include = append(reviewed.Include, oscalControl{token(control.Control)})
		switch control.State {
		case results.NotChecked:
			open = append(open, control.Control)
		case results.NotApplicable:
		default:
			result.Findings = append(result.Findings, o.finding(control))
		}
	}
	result.Reviewed.Selections = []oscalSelection{reviewed}
	if len(open) > 0 {
		why := "not everything could be read"
		if d.Subject.Simulated {
			why = "a preview does not know every value"
		}
		result.Remarks = "Not checked, because " + why + ": " + strings.Join(open, ", ") + "."
	}
	plan := o.id("plan")
	out := oscalDocument{oscalAssessment{
		UUID:       o.id("document"),
		Metadata:   oscalMetadata{Title: result.Title, LastModified: o.at, Version: cmp.Or(d.Subject.Commit, "unknown"), OSCALVersion: oscalVersion},
		ImportPlan: oscalHref{"#" + plan}, Results: []oscalResult{result},
		BackMatter: oscalBack{[]oscalResource{{plan, "Assessment plan", "Every rule of the policy packs for every resource of the stack, as docs/rules describes."}}},
	}}
	for _, l := range subject(d) {
		if l.Value != "" {
			out.Results.Metadata.Props = append(out.Results.Metadata.Props, oscalProp{strings.ToLower(l.Name), namespaceURI, l.Value})
		}
	}
	encoded, err := json.MarshalIndent(out, "", "  ")
	return append(encoded, '\n'), err
}

// oscalMaker holds what all parts of one assessment share.
type oscalMaker struct {
	document results.Document
	at       string // RFC 3339
	run      string // namespace of the ids
}

func (o oscalMaker) id(words ...string) string { return id(append([]string{o.run}, words...)...) }

// key tells the results of a rule apart, also two of one resource.
func (o oscalMaker) key(kind string, r results.Result, i int) string {
	return o.id(kind, r.Rule, r.Resource, strconv.Itoa(i))
}

func (o oscalMaker) observation(rule judged, r results.Result, i int) oscalObservation {
	evidence := "no value: " + cmp.Or(r.Message, string(r.State))
	if r.Evidence.Path != "" || r.Evidence.Value != "" {
		evidence = fmt.Sprintf("%s is %s", cmp.Or(r.Evidence.Path, "the resource"), cmp.Or(r.Evidence.Value, "absent"))
	}
	if r.Evidence.Expected != "" {
		evidence += ", expected " + r.Evidence.Expected
	}
	out := oscalObservation{
		UUID: o.key("observation", r, i), Title: rule.ID + ": " + rule.Title, Description: cmp.Or(r.Message, shown(r)),
		Props: []oscalProp{
			{"rule", namespaceURI, rule.ID},
			{"state", namespaceURI, shown(r)},
			{"level", namespaceURI, string(r.Level)},
		},
		Methods: []string{"TEST"}, Evidence: []oscalEvidence{{evidence}}, Collected: o.at,
	}
	if r.Resource != "" {
		out.Subjects = []oscalSubject{{o.id("resource", r.Resource), "inventory-item"}}
	}
	return out
}

// risk is open, or a deviation that somebody approved and that ends.
func (o oscalMaker) risk(rule judged, r results.Result, i int) oscalRisk {
	out := oscalRisk{
		UUID: o.key("risk", r, i), Title: rule.ID + ": " + rule.Title, Description: r.Message, Statement: cmp.Or(rule.Rationale, rule.Title),
		Status: "open", Related: []oscalObservationRef{{o.key("observation", r, i)}},
	}
	if r.Waiver != nil {
		out.Description += " (" + explain(r.Waiver) + ")"
	}
	if r.State == results.Waived {
		out.Status, out.Deadline = "deviation-approved", r.Waiver.Expires+"T23:59:59Z"
	}
	return out
}

func (o oscalMaker) finding(control controlled) oscalFinding {
	out := oscalFinding{
		UUID: o.id("finding", control.Control), Title: control.Control,
		Description: "Judged by rules that cover a part of the control.",
		Target:      oscalTarget{"objective-id", token(control.Control), oscalStatus{"satisfied"}},
	}
	if control.State == results.Fail {
		out.Target.Status.State = "not-satisfied"
	}
	for _, rule := range control.Rules {
		for i, r := range rule.Results {
			out.Observations = append(out.Observations, oscalObservationRef{o.key("observation", r, i)})
			if r.State == results.Fail || r.State == results.Waived {
				out.Risks = append(out.Risks, oscalRiskRef{o.key("risk", r, i)})
			}
		}
	}
	return out
}

// token is a control's name as OSCAL's identifiers are made: letters, digits,
// hyphens, periods and underscores, no digit first.
func token(control string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.' || r == '_' {
			return unicode.ToLower(r)
		}
		return '-'
	}, control)
}

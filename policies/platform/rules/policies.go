package rules

import (
	"strings"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/policypack"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// policies are the rules of single policy documents of the gateway.
func policies() []policypack.Rule {
	return []policypack.Rule{{
		ID: "GW-11", Severity: policypack.Medium,
		Title:     "Policy documents are ones that Azure takes, and leave streams alone",
		Rationale: "Azure refuses a document only when it is deployed, half-way through; a body that is read holds back every streamed answer.",
		Remedy:    "Correct the element.",
		Controls:  []string{"MCSB PV-2"},
		Sources:   []string{"https://learn.microsoft.com/azure/api-management/api-management-policies"},
		Types:     []string{azure.GlobalPolicy, azure.ProductPolicy, azure.APIPolicy, azure.APIOperationPolicy, azure.PolicyFragment},
		Resource: func(c *policypack.Case) {
			if _, ok := document(c); !ok {
				return
			}
			text, _ := c.At("value").Text()
			format, _ := c.At("format").Text()
			for _, problem := range apimpolicy.Check(apimpolicy.Document{Name: c.Name, Scope: scopes[c.Type], Raw: strings.EqualFold(format, "rawxml"), Text: text}) {
				got := problem.Got
				if c.At("value").Secret() {
					got = propvalue.ShownSecret
				}
				c.Failf("value/"+problem.Path, orNothing(got), problem.Want)
			}
		},
	}, {
		ID: "GW-05", Severity: policypack.High,
		Title:     "Policies of lower scopes keep those above",
		Rationale: "A section without <base /> drops what the gateway demands of every call, refusals included.",
		Remedy:    "Begin every section with <base />; the backend section may forward by itself instead.",
		Controls:  []string{"MCSB PV-2", "Azure Policy d5448c98-e503-4fdd-bcd2-784960c00d04"},
		Sources:   []string{"https://learn.microsoft.com/azure/api-management/set-edit-policies#use-base-element-to-set-policy-evaluation-order"},
		Types:     []string{azure.APIPolicy, azure.APIOperationPolicy, azure.ProductPolicy},
		Resource: func(c *policypack.Case) {
			doc, ok := document(c)
			if !ok {
				return
			}
			for _, section := range []string{"inbound", "backend", "outbound", "on-error"} {
				keepsBase(c, section, doc.Child(section))
			}
		},
	}}
}

// document is the policy document of the case. It reports when there is none
// that can be read.
func document(c *policypack.Case) (doc azure.Element, ok bool) {
	doc, state, err := azure.PolicyOf(c.Resource)
	switch {
	case state == propvalue.Absent:
		c.Fail(c.At("value"), "a policy document")
	case state != propvalue.Known:
		c.Undecidedf("value", "a policy document that is known", "the document is %s", state)
	case err != nil:
		c.Failf("value", err.Error(), "a policy document that can be read")
	default:
		return doc, true
	}
	return doc, false
}

// scopes are where documents of the types are attached.
var scopes = map[string]apimpolicy.Scope{
	azure.GlobalPolicy: apimpolicy.GlobalScope, azure.ProductPolicy: apimpolicy.ProductScope, azure.APIPolicy: apimpolicy.APIScope,
	azure.APIOperationPolicy: apimpolicy.OperationScope, azure.PolicyFragment: apimpolicy.FragmentScope,
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// keepsBase judges a section. One that is left out does nothing at all, so only
// the inbound one is missed.
func keepsBase(c *policypack.Case, name string, section azure.Element) {
	const expected = "<base /> first"
	path := "value/" + name
	switch {
	case !section.Exists() && name == "inbound":
		c.Failf(path, "missing", expected)
	case !section.Exists():
	case section.Refuses(): // nothing that could be dropped comes after a refusal
	case name == "inbound" && (len(section.Children()) == 0 || section.Children()[0].Name() != "base"):
		c.Failf(path, "without it", expected)
	case name == "backend" && len(section.All("base", "forward-request", "return-response")) == 0:
		c.Failf(path, "without <base /> and without forward-request", "one of them")
	case (name == "outbound" || name == "on-error") && !section.Child("base").Exists():
		c.Failf(path, "without it", "<base />")
	}
}

package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
)

// A reader of the screen learns who answers for what is waived, and until when.
func TestTheSummaryNamesWaivers(t *testing.T) {
	t.Parallel()
	waiver := func(void string) *results.Waiver {
		return &results.Waiver{ID: "SEC-7", Owner: "ann@example.com", Approver: "bob@example.com", Expires: "2027-01-31", Void: void}
	}
	d := documentOf(engine.OpPreview, "dev", nil, nil)
	d.Policy = &judged{Profile: "standard", Waivers: excusedIn(&results.Document{Results: []results.Result{
		{Rule: "ST-01", Resource: "urn:pulumi:dev::p::a:b:C::results", State: results.Waived, Waiver: waiver("")},
		{Rule: "ST-02", Resource: "urn:pulumi:dev::p::a:b:C::results", State: results.Fail, Waiver: waiver("expired")},
		{Rule: "ST-03", State: results.Fail},
	}})}
	var out bytes.Buffer
	d.print(&out)
	assert.Contains(t, out.String(), "waived: ST-01 of results (a:b:C) by SEC-7 until 2027-01-31, owner ann@example.com\n")
	assert.Contains(t, out.String(), "not waived (expired): ST-02 of results")
	assert.NotContains(t, out.String(), "ST-03")
}

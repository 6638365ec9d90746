package engine

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// collector turns the engine's event stream into a Result.
type collector struct {
	op      Operation
	show    *display
	onEvent func(apitype.EngineEvent)

	resources map[string]*Resource
	failed    []string
	diags     []Diagnostic
	seenDiags map[Diagnostic]bool
	policies  []PolicyViolation
	summaries []PolicySummary
}

func newCollector(op Operation, show *display, onEvent func(apitype.EngineEvent)) *collector {
	return &collector{op: op, show: show, onEvent: onEvent, resources: map[string]*Resource{}, seenDiags: map[Diagnostic]bool{}}
}

// follow reads from the returned channel until it is closed or wait is called. The Automation
// API closes it only when the CLI has ended its stream properly: not when the CLI fails before
// its first event. When its operation has returned, its server has stopped gracefully, so all
// that was sent has been received, and wait need not wait for a close that may never come.
func (c *collector) follow() (ch chan events.EngineEvent, wait func()) {
	ch = make(chan events.EngineEvent)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case e, open := <-ch:
				if !open {
					return
				}
				c.add(e.EngineEvent)
			case <-done:
				return
			}
		}
	}()
	return ch, func() { close(done); <-ended }
}

func (c *collector) add(e apitype.EngineEvent) {
	if c.onEvent != nil {
		c.onEvent(e)
	}
	switch {
	case e.ResourcePreEvent != nil:
		c.step(e.ResourcePreEvent.Metadata, false)
	case e.ResOutputsEvent != nil:
		c.step(e.ResOutputsEvent.Metadata, true)
	case e.ResOpFailedEvent != nil:
		c.step(e.ResOpFailedEvent.Metadata, true)
		c.failed = append(c.failed, e.ResOpFailedEvent.Metadata.URN)
	case e.DiagnosticEvent != nil:
		c.diagnostic(*e.DiagnosticEvent)
	case e.ErrorEvent != nil:
		c.diagnostic(apitype.DiagnosticEvent{Severity: "error", Message: e.ErrorEvent.Error})
	case e.PolicyEvent != nil:
		c.policy(*e.PolicyEvent)
	case e.PolicyAnalyzeSummaryEvent != nil:
		s := e.PolicyAnalyzeSummaryEvent
		c.summary(PolicySummary{Pack: s.PolicyPackName, Version: s.PolicyPackVersion, URN: s.ResourceURN, Passed: s.Passed, Failed: s.Failed})
	case e.PolicyAnalyzeStackSummaryEvent != nil:
		s := e.PolicyAnalyzeStackSummaryEvent
		c.summary(PolicySummary{Pack: s.PolicyPackName, Version: s.PolicyPackVersion, Passed: s.Passed, Failed: s.Failed})
	}
}

// step notes one step of one resource. last says that it is over: a refresh names its outcome
// only then.
func (c *collector) step(m apitype.StepEventMetadata, last bool) {
	op := operation(string(m.Op))
	if op == "" {
		return
	}
	s := m.New
	if s == nil {
		s = m.Old
	}
	if s == nil {
		s = &apitype.StepEventStateMetadata{URN: m.URN, Type: m.Type}
	}
	res := c.resources[m.URN]
	switch {
	case res == nil:
		res = &Resource{URN: m.URN}
		c.resources[m.URN] = res
	case c.weight(op) < c.weight(res.Op) && !(last && res.Op == "refresh"):
		return // the removal of a predecessor
	case op == "replace" && res.Op == op && m.New == nil:
		return // the last step of a replacement knows only what is removed
	}
	res.Op = op
	res.Type = m.Type
	res.Name = urnName(m.URN)
	res.Parent = s.Parent
	res.Provider = providerURN(s.Provider)
	res.Inputs = plainMap(s.Inputs)
	if m.Old != nil && (op == "update" || op == "replace") {
		res.Before = plainMap(m.Old.Inputs)
	}
	if op == "replace" {
		res.Because = append(res.Because, m.Keys...)
	}
	c.show.step(m.URN, op, last)
}

// operation folds the engine's steps into what is done to the resource as a whole.
func operation(op string) string {
	switch op {
	case "create-replacement", "delete-replaced", "import-replacement", "read-replacement", "discard-replaced":
		return "replace"
	case "remove-pending-replace":
		return "" // a bookkeeping step; others of the same resource follow
	case "read-discard", "discard":
		return "delete"
	}
	return op
}

// weight decides which of several steps of one URN names the operation: a replacement is more
// than its parts, and what remains counts more than the predecessor that is removed. In a
// destroy the program's resources are same first, and then deleted.
func (c *collector) weight(op string) int {
	switch {
	case op == "delete" && c.op == OpDestroy:
		return 5
	case op == "replace":
		return 4
	case op == "create" || op == "update" || op == "import" || op == "read":
		return 3
	case op == "refresh":
		return 2
	case op == "same":
		return 1
	}
	return 0
}

// summary drops the recorder's, which has no policies.
func (c *collector) summary(s PolicySummary) {
	if s.Pack != RecorderName {
		c.summaries = append(c.summaries, s)
	}
}

// genericFailure is what the engine adds to the stack after it has given the reasons.
var genericFailure = map[Operation]string{
	OpPreview: "preview failed", OpUp: "update failed", OpRefresh: "update failed", OpDestroy: "update failed",
}

func (c *collector) diagnostic(e apitype.DiagnosticEvent) {
	if e.Ephemeral || (e.Severity != "error" && e.Severity != "warning") {
		return
	}
	d := Diagnostic{URN: e.URN, Severity: e.Severity, Message: text(e.Message)}
	if d.Message == "" || d.Message == genericFailure[c.op] || c.seenDiags[d] {
		return
	}
	c.seenDiags[d] = true
	c.diags = append(c.diags, d)
	c.show.diagnostic(d)
}

func (c *collector) policy(e apitype.PolicyEvent) {
	level := e.EnforcementLevel
	if len(e.Exceptions) > 0 {
		level = "excepted"
	}
	v := PolicyViolation{
		Pack: e.PolicyPackName, Version: e.PolicyPackVersion, Policy: e.PolicyName, URN: e.ResourceURN,
		Enforcement: level, Severity: e.Severity, Message: text(e.Message),
	}
	if slices.Contains(c.policies, v) {
		return
	}
	c.policies = append(c.policies, v)
	c.show.violation(v)
}

// text removes the engine's colour directives and outer space.
func text(s string) string {
	return strings.TrimSpace(colors.Never.Colorize(s))
}

// result is what the events say.
func (c *collector) result() *Result {
	r := &Result{Failed: c.failed, Diagnostics: c.diags, PolicyViolations: c.policies, PolicySummaries: c.summaries}
	for _, res := range c.resources {
		r.Resources = append(r.Resources, *res)
	}
	return r
}

package rules

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"onedoor/internal/bill"
	"onedoor/internal/policypack"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/prices"
	"onedoor/internal/propvalue"
	"onedoor/policies/internal/azure"
)

// dearest is how many lines of a bill a failure names.
const dearest = 3

// budget is the rule of what a stack costs before anybody uses it. Its limit is a tag
// of a resource group, so that it is in every plan and every stored state. The stack's
// configuration, where the engine gives it, says that the tag must be there: a change
// to the program does not take it away.
func budget() []policypack.Rule {
	return []policypack.Rule{{
		ID: "CAP-09", Severity: policypack.High,
		Title:     "The stack costs no more than its budget while nobody uses it",
		Rationale: "What runs idle is paid every hour, and nobody sees it until the invoice comes.",
		Remedy:    "Lower what runs idle: minNodes of a pool, units of the gateway or the bus, reserved capacity; or raise budget.monthlyFloor, if that is meant.",
		Controls:  []string{"MCSB AM-2"},
		Sources:   []string{"https://azure.microsoft.com/pricing/calculator/", "https://learn.microsoft.com/azure/well-architected/cost-optimization/set-spending-guardrails"},
		Types:     []string{azure.ResourceGroup},
		Stack:     withinBudget,
	}}
}

// withinBudget judges the group that carries the budget against the whole stack.
func withinBudget(st *policypack.Stack, c *policypack.Case) {
	tag := c.Get("tags", annotations.FloorTag)
	configured, said := configuredFloor(st)
	if tag.State() == propvalue.Absent {
		carrier := carrierOf(st)
		switch {
		case carrier != nil:
			c.NotApplicable("the budget of the stack stands on the group %q", carrier.Name)
		case said:
			c.Fail(tag, fmt.Sprintf("%d, as %s.monthlyFloor of the stack's configuration says", configured, budgetKey))
		default:
			c.NotApplicable("no group of the stack says by the tag %s what it may cost", annotations.FloorTag)
		}
		return
	}
	text, state := tag.Text()
	if state != propvalue.Known {
		c.Undecided(tag, "a number of US dollars")
		return
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit < 1 {
		c.Fail(tag, "a whole number of US dollars, at least 1")
		return
	}
	if said && limit != configured {
		c.Fail(tag, fmt.Sprintf("%d, as %s.monthlyFloor of the stack's configuration says", configured, budgetKey))
		return
	}
	table, err := prices.Load()
	if err != nil {
		c.Undecidedf(tag.Path(), "a table of prices", "%v", err)
		return
	}
	judgeFloor(c, tag, limit, policypack.Read(st, "bill", func() bill.Bill { return bill.Of(priced(st), table) }))
}

// judgeFloor compares a bill with the limit of the tag, US dollars a month.
func judgeFloor(c *policypack.Case, tag propvalue.Value, limit int64, of bill.Bill) {
	var lines []string
	for _, line := range of.Lines[:min(dearest, len(of.Lines))] {
		lines = append(lines, fmt.Sprintf("%s: %s, USD %s", line.Name(), line.What, line.Idle.Whole()))
	}
	expected := fmt.Sprintf("at least the USD %s a month that the stack costs while nobody uses it, at list prices of %s; most of it for %s", of.Idle.Whole(), of.AsOf, strings.Join(lines, "; "))
	switch {
	case of.Idle > prices.Dollars(limit):
		c.Fail(tag, expected)
	case of.AtLeast:
		c.Undecidedf(tag.Path(), expected, "the cost of some of what runs idle is not known: %s", strings.Join(of.Unpriced, "; "))
	default:
		c.Saw(tag, expected)
	}
}

// carrierOf is the first group of the stack that carries the budget, nil if none does.
func carrierOf(st *policypack.Stack) *policypack.Resource {
	for _, group := range st.Of(azure.ResourceGroup) {
		if group.Get("tags", annotations.FloorTag).State() != propvalue.Absent {
			return group
		}
	}
	return nil
}

// budgetKey is the key of the stack's configuration that holds the budget.
const budgetKey = "onedoor:budget"

// configuredFloor is the budget of the stack's configuration, if it has one.
func configuredFloor(st *policypack.Stack) (usd int64, ok bool) {
	var budget struct {
		MonthlyFloor int64 `json:"monthlyFloor"`
	}
	err := json.Unmarshal([]byte(st.Config[budgetKey]), &budget)
	return budget.MonthlyFloor, err == nil && budget.MonthlyFloor > 0
}

// priced are the resources of the stack as a bill reads them.
func priced(st *policypack.Stack) []bill.Resource {
	var out []bill.Resource
	for _, r := range st.All() {
		inputs := r.Inputs
		if inputs.State() == propvalue.Absent {
			inputs = r.Outputs
		}
		_, kind, _ := strings.Cut(r.Type, ":")
		out = append(out, bill.Resource{URN: r.URN, Kind: kind, Inputs: inputs})
	}
	return out
}

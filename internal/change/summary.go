package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"onedoor/internal/prices"
	"onedoor/internal/report"
)

// row is a line of the first screen: what it is about, and what there is to say.
type row struct{ name, text string }

// perRow is how many things one row of the first screen names.
const perRow = 3

// summary are the rows of the first screen. A row that has nothing to say says so:
// a reader must not have to guess whether it was looked at.
func (r *Report) summary() []row {
	rows := []row{{"resources", r.resources()}}
	for _, lost := range Lost(r.Changes) {
		if len(rows) > perRow {
			rows = append(rows, row{"", "and more: see below"})
			break
		}
		rows = append(rows, row{strings.ToUpper(string(lost.Op)), lost.title() + because(lost) + ". Lost: " + lost.Loses})
	}
	return append(rows,
		row{"tenants", r.tenants()},
		row{"access", r.access()},
		row{"policy", r.policy()},
		row{"reach", r.reach()},
		row{"capacity", r.capacity()},
		row{"idle bill", r.idle()},
		row{"at most", r.most()},
		row{"takes", r.takes()},
	)
}

func (r *Report) resources() string {
	n := map[Op]int{}
	for _, c := range r.Changes {
		n[c.Op]++
	}
	var words []string
	for _, op := range Ops {
		if n[op] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[op], op))
		}
	}
	return orNone(strings.Join(words, ", "))
}

// title is a resource as people say it: "AgentPool cluster-a100".
func (r Resource) title() string { return r.Kind[strings.Index(r.Kind, ":")+1:] + " " + r.Name }

func because(r Resource) string {
	switch {
	case r.Op != Replaced:
		return ""
	case len(r.Because) == 0:
		return ", because what it depends on is replaced"
	default:
		return ", because of " + strings.Join(r.Because, ", ")
	}
}

// marks are the operations in a row.
var marks = map[Op]string{Created: "+", Deleted: "-", Updated: "~", Replaced: "±"}

// named lists changes, the first few of them.
func named(changes []Resource, text func(Resource) string) string {
	var words []string
	for _, c := range changes {
		words = append(words, marks[c.Op]+" "+text(c))
	}
	return some(words)
}

// tenants are those that come or go before those that only change.
func (r *Report) tenants() string {
	order := []Op{Created, Deleted, Replaced, Updated}
	var tenants []Resource
	for _, c := range r.Changes {
		if c.Kind == "apimanagement:Subscription" {
			tenants = append(tenants, c)
		}
	}
	slices.SortStableFunc(tenants, func(a, b Resource) int { return cmp.Compare(slices.Index(order, a.Op), slices.Index(order, b.Op)) })
	return orNone(named(tenants, func(c Resource) string { return c.Name }))
}

// access are roles and who has them: what a role allows first, then who is given one,
// then what follows from other changes.
func (r *Report) access() string {
	of := func(kind string, ops ...Op) (out []Resource) {
		for _, c := range r.Changes {
			if c.Kind == kind && slices.Contains(ops, c.Op) {
				out = append(out, c)
			}
		}
		return out
	}
	const definition, assignment = "authorization:RoleDefinition", "authorization:RoleAssignment"
	return orNone(named(slices.Concat(of(definition, Ops...), of(assignment, Created), of(assignment, Updated, Replaced, Deleted)), func(c Resource) string {
		text := c.title()
		if len(c.Properties) > 0 {
			text += ": " + c.Properties[0].String()
		}
		return text
	}))
}

func (r *Report) policy() string {
	n := map[report.Kind][]string{}
	for _, c := range r.Policy.Changes {
		n[c.Kind] = append(n[c.Kind], c.Rule)
	}
	var words []string
	for _, kind := range []report.Kind{report.New, report.WaiverExpired, report.CoverageLost, report.Loosened, report.NewlyWaived, report.Fixed} {
		if rules := n[kind]; len(rules) > 0 {
			words = append(words, fmt.Sprintf("%d %s (%s)", len(rules), kind, some(unique(rules))))
		}
	}
	if len(r.OnlyBase) > 0 {
		var rules []string
		for _, o := range r.OnlyBase {
			rules = append(rules, o.Rule)
		}
		words = append(words, fmt.Sprintf("%d seen by the rules as they were alone (%s)", len(r.OnlyBase), some(unique(rules))))
	}
	return orNone(strings.Join(words, "; "))
}

func (r *Report) reach() string {
	var words []string
	for _, f := range r.failing() {
		words = append(words, string(f.Kind)+": "+f.Text)
	}
	for _, c := range r.Reach {
		word := "changes"
		switch {
		case c.Opens():
			word = "opens"
		case c.Before.Connects() && !c.After.Connects():
			word = "closes"
		}
		words = append(words, fmt.Sprintf("%s %s to %s:%s", word, c.From, c.To, c.Port))
	}
	return orNone(some(words))
}

func (r *Report) capacity() string {
	var words []string
	for _, q := range r.Capacity {
		if q.Changed() {
			words = append(words, fmt.Sprintf("%s %s to %s", q.Name, prices.Grouped(int64(q.Before)), prices.Grouped(int64(q.After))))
		}
	}
	return orNone(strings.Join(words, "; "))
}

func (r *Report) idle() string {
	text := money(r.Bill.Before.Idle, r.Bill.After.Idle)
	if n := len(r.Bill.After.Unpriced); n > 0 {
		text += fmt.Sprintf(", and %s of unknown cost", count(n, "part", "parts"))
	}
	return text
}

func (r *Report) most() string {
	text := money(r.Bill.Before.Most, r.Bill.After.Most) + ", tokens and other use apart"
	if up := r.Bill.After.UpgradePerHour; up > 0 {
		text += fmt.Sprintf("; USD %s an hour more while served models are upgraded (2N)", up.Whole())
	}
	return text
}

func (r *Report) takes() string {
	if r.Duration.Took == 0 {
		return "no time: nothing changes"
	}
	var words []string
	for _, s := range r.Duration.Steps {
		if s.Took >= Span(time.Minute) {
			words = append(words, fmt.Sprintf("%s %s", s.URN[strings.LastIndex(s.URN, ":")+1:], s.Took))
		}
	}
	text := "about " + r.Duration.Took.String() + " in Azure"
	if len(words) > 0 {
		text += ": " + strings.Join(words, ", then ")
	}
	return text
}

// money is an amount a month, before and after.
func money(before, after prices.USD) string {
	if before == after {
		return fmt.Sprintf("USD %s a month, no change", after.Whole())
	}
	sign := "+"
	if after < before {
		sign = "-"
	}
	difference := max(before, after) - min(before, after)
	return fmt.Sprintf("USD %s to %s a month (%s%s)", before.Whole(), after.Whole(), sign, difference.Whole())
}

// some are the first words of a list, and how many more there are.
func some(words []string) string {
	if len(words) <= perRow {
		return strings.Join(words, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(words[:perRow], "; "), len(words)-perRow)
}

// orNone says of a row without anything that it was looked at.
func orNone(text string) string { return cmp.Or(text, "no change") }

// unique keeps the first of equals.
func unique(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			out = append(out, w)
		}
		seen[w] = true
	}
	return out
}

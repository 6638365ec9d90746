package change

import (
	"cmp"
	"fmt"
	"strconv"
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

// named lists the changes of some kinds.
func (r *Report) named(text func(Resource) string, kinds ...string) string {
	var words []string
	for _, c := range r.Changes {
		for _, kind := range kinds {
			if c.Kind == kind {
				words = append(words, marks[c.Op]+" "+text(c))
			}
		}
	}
	return some(words)
}

func (r *Report) tenants() string {
	return orNone(r.named(func(c Resource) string { return c.Name }, "apimanagement:Subscription"))
}

// access are roles and who has them.
func (r *Report) access() string {
	return orNone(r.named(func(c Resource) string {
		text := c.title()
		if len(c.Properties) > 0 {
			text += ": " + c.Properties[0].String()
		}
		return text
	}, "authorization:RoleDefinition", "authorization:RoleAssignment"))
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
			words = append(words, fmt.Sprintf("%s %s to %s", q.Name, thousands(int64(q.Before)), thousands(int64(q.After))))
		}
	}
	return orNone(strings.Join(words, "; "))
}

func (r *Report) idle() string {
	text := money(r.Bill.Before.Idle, r.Bill.After.Idle)
	if n := len(r.Bill.After.Unpriced); n > 0 {
		text += fmt.Sprintf(", without %s that the table of %s has no price for", count(n, "part", "parts"), r.Bill.After.AsOf)
	}
	return text
}

func (r *Report) most() string {
	text := money(r.Bill.Before.Most, r.Bill.After.Most) + ", tokens and other use apart"
	if up := r.Bill.After.UpgradePerHour; up > 0 {
		text += fmt.Sprintf("; USD %s an hour more while served models are upgraded (2N)", whole(up))
	}
	return text
}

func (r *Report) takes() string {
	if r.Duration.Took == 0 {
		return "no time: nothing changes"
	}
	var words []string
	for _, s := range r.Duration.Steps {
		if s.Took >= time.Minute {
			words = append(words, fmt.Sprintf("%s %s", s.URN[strings.LastIndex(s.URN, ":")+1:], span(s.Took)))
		}
	}
	text := "about " + span(r.Duration.Took) + " in Azure"
	if len(words) > 0 {
		text += ": " + strings.Join(words, ", then ")
	}
	return text
}

// money is an amount a month, before and after.
func money(before, after prices.USD) string {
	if before == after {
		return fmt.Sprintf("USD %s a month, no change", whole(after))
	}
	sign := "+"
	if after < before {
		sign = "-"
	}
	difference := max(before, after) - min(before, after)
	return fmt.Sprintf("USD %s to %s a month (%s%s)", whole(before), whole(after), sign, whole(difference))
}

// whole is an amount in whole dollars.
func whole(u prices.USD) string { return thousands((u.Micro() + 500_000) / 1_000_000) }

// thousands writes a number with commas.
func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span is a duration in minutes, or in seconds below one.
func span(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
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

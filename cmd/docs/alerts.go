package docs

import (
	"fmt"
	"strconv"
	"strings"

	"onedoor/internal/alerts"
)

// alertTable is every alert with what sets it off.
func alertTable() []byte {
	p := newPage("Alerts", "the table in `internal/alerts`")
	p.say("What is measured, where, and when it fires. [The runbooks](../runbooks/README.md) say what to do.")
	var rows [][]string
	for _, a := range alerts.All() {
		rows = append(rows, []string{fmt.Sprintf("[%s](../runbooks/%s.md)", a.ID, a.ID), strconv.Itoa(int(a.Severity)), string(a.Owner), plain(a.Title), plain(a.Why), signal(a.Signal)})
	}
	p.table([]string{"alert", "severity", "owner", "what happened", "why it matters", "fires on"}, rows)
	return p.bytes()
}

// signal is what sets an alert off, in words.
func signal(s alerts.Signal) string {
	switch s := s.(type) {
	case alerts.Metric:
		return fmt.Sprintf("metric %s of %s: %s above %v in %s, looked at every %s", code(s.Name), s.Of, strings.ToLower(string(s.Total)), s.Above, short(s.Window), short(s.Every))
	case alerts.Query:
		return fmt.Sprintf("a query of the last %s, every %s", short(s.Window), short(s.Every))
	case alerts.Operation:
		return fmt.Sprintf("an operation in the activity log, in %s: %s", s.In, code(strings.Join(s.Operations, ", ")))
	case alerts.Rule:
		return fmt.Sprintf("%s for %s", code(strings.Join(strings.Fields(s.Expr), " ")), short(s.For))
	default:
		return ""
	}
}

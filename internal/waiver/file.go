package waiver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Waiver excuses failures of rules by resources. All fields are required, but
// for the approver: a waiver begins without.
type Waiver struct {
	ID                  string   // also the id of the engine's exception
	Rules               []string // ids of rules
	Targets             []string // patterns of URNs, of one stack
	Owner               string   // who answers for it
	Approver            string   // another person; "" until somebody approves
	Ticket              string
	Reason              string
	Created             time.Time // a day
	Expires             time.Time // the last day on which it counts
	CompensatingControl string    // what protects meanwhile

	lines map[string]int // of its keys
}

// within tells whether the waiver excuses nothing more than o: it is o, or o cut
// down to fewer rules or targets or an earlier end.
func (w Waiver) within(o Waiver) bool {
	none := func(of, in []string) bool {
		return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(in, s) })
	}
	return w.ID == o.ID && none(w.Rules, o.Rules) && none(w.Targets, o.Targets) && !w.Expires.After(o.Expires) && w.Created.Equal(o.Created) &&
		w.Owner == o.Owner && w.Approver == o.Approver && w.Ticket == o.Ticket && w.Reason == o.Reason && w.CompensatingControl == o.CompensatingControl
}

// File is policies/waivers.yaml.
type File struct {
	Waivers []Waiver // in the order of the file
}

// MaxDays is how long a waiver may last. What is needed for longer is a change
// of the rule or of the stack.
const MaxDays = 180

// day is a date as the file has it.
const day = time.DateOnly

// Problem is one mistake in the file.
type Problem struct {
	Line                int
	Key, Got, Want, Fix string
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d: %s: got %s, want %s\n    fix: %s", p.Line, p.Key, p.Got, p.Want, p.Fix)
}

// Error is all mistakes in the file, in its order.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the file of waivers is wrong in %d places:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// Parse reads the file. rules are the ids that exist; with none, as for the file
// of an older commit, any is taken. All mistakes are reported at once.
func Parse(raw []byte, rules []string) (File, error) {
	p := parser{}
	f := p.file(raw)
	p.check(f, rules)
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
		return File{}, &Error{p.problems}
	}
	return f, nil
}

// names are the ids that the engine takes for exceptions.
// https://pkg.go.dev/github.com/pulumi/pulumi/sdk/v3/go/common/tokens#IsName
var names = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// check finds what is well formed and wrong.
func (p *parser) check(f File, rules []string) {
	ids := map[string]int{}
	for _, w := range f.Waivers {
		if w.ID != "" && !names.MatchString(w.ID) {
			p.add(w.lines["id"], "id", quote(w.ID), "letters, digits, hyphens, periods and underscores, as the engine demands of an exception", "name it after its ticket, as SEC-123")
		}
		if line, known := ids[w.ID]; known && w.ID != "" {
			p.add(w.lines["id"], "id", quote(w.ID), fmt.Sprintf("an id of its own; line %d has the same", line), "give each waiver another id")
		} else {
			ids[w.ID] = w.lines["id"]
		}
		for _, rule := range w.Rules {
			if len(rules) > 0 && !slices.Contains(rules, rule) {
				p.add(w.lines["rules"], "rules", quote(rule), "the id of a rule", "take an id from docs/rules/README.md")
			}
		}
		var first pattern
		for i, target := range w.Targets {
			is, err := parsePattern(target)
			if i == 0 {
				first = is
			}
			if err == nil && first.typ != nil && (is.stack != first.stack || is.project != first.project) {
				err = errors.New("the stack and project of the first target, " + first.stack + " and " + first.project)
			}
			if err != nil {
				p.add(w.lines["targets"], "targets", quote(target), err.Error(), "copy the URN from report.html, and put * where the type or the name may vary")
			}
		}
		if w.Created.IsZero() || w.Expires.IsZero() {
			continue
		}
		if days := int(w.Expires.Sub(w.Created).Hours() / 24); days < 1 || days > MaxDays {
			p.add(w.lines["expires"], "expires", w.Expires.Format(day), fmt.Sprintf("1 to %d days after created, %s", MaxDays, w.Created.Format(day)), "take an earlier day, at the latest "+w.Created.AddDate(0, 0, MaxDays).Format(day))
		}
	}
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

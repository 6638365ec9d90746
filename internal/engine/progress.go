package engine

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Elsewhere than on a terminal a line of counts is written this often.
const plainEvery = 5 * time.Second

// display writes a person's view of one operation: counts that move, and every message once.
type display struct {
	w     io.Writer
	tty   bool
	op    Operation
	start time.Time

	mu    sync.Mutex
	ops   map[string]string // by URN
	done  map[string]bool   // URNs whose step is over
	drawn time.Time
	line  bool // a line of counts is on the terminal
}

func newDisplay(w io.Writer, op Operation) *display {
	if w == nil {
		w = io.Discard
	}
	now := time.Now()
	return &display{w: w, tty: isTerminal(w), op: op, start: now, drawn: now, ops: map[string]string{}, done: map[string]bool{}}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (d *display) step(urn, op string, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ops[urn] = op
	if last {
		d.done[urn] = true
	}
	every := plainEvery
	if d.tty {
		every = 100 * time.Millisecond
	}
	if time.Since(d.drawn) < every {
		return
	}
	d.drawn = time.Now()
	if d.tty {
		fmt.Fprintf(d.w, "\r\x1b[K%s", d.counts())
		d.line = true
	} else {
		fmt.Fprintln(d.w, d.counts())
	}
}

// counts is one line: "preview: 34 resources (12 create, 22 same), 2s".
func (d *display) counts() string {
	n := map[string]int{}
	for _, op := range d.ops {
		n[op]++
	}
	var parts []string
	for _, op := range slices.Sorted(maps.Keys(n)) {
		parts = append(parts, fmt.Sprintf("%d %s", n[op], op))
	}
	s := fmt.Sprintf("%s: %d resources", d.op, len(d.ops))
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	if running := len(d.ops) - len(d.done); d.op != OpPreview && running > 0 {
		s += fmt.Sprintf(", %d running", running)
	}
	return s + ", " + time.Since(d.start).Round(100*time.Millisecond).String()
}

// say writes one message on a line of its own.
func (d *display) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	fmt.Fprintf(d.w, format+"\n", args...)
}

func (d *display) clear() {
	if d.line {
		fmt.Fprint(d.w, "\r\x1b[K")
		d.line = false
	}
}

// diagnostic shows a warning or an error of a resource at once. Errors of the whole run are
// left to the Failure, which has them in their original words.
func (d *display) diagnostic(g Diagnostic) {
	if _, program := unwrapProgram(g.Message); !program {
		d.say("%s", g)
	}
}

func (d *display) violation(v PolicyViolation) {
	d.say("%s", v)
}

func (d *display) interrupted(n int) {
	switch n {
	case 1:
		d.say("Interrupted: waiting for the operations under way; interrupt again to abandon them.")
	case 2:
		d.say("Interrupted again: abandoning the operations under way; the next up finds them as pending.")
	default:
		d.say("Killing the engine; the next run removes its lock.")
	}
}

// end writes the final counts, and the warnings and errors that the run collected.
func (d *display) end(r *Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	d.ops = map[string]string{}
	for _, res := range r.Resources {
		d.ops[res.URN] = res.Op
		d.done[res.URN] = true
	}
	fmt.Fprintln(d.w, d.counts())
}

// String is the diagnostic as one block of text: what, where, message.
func (g Diagnostic) String() string {
	if g.URN == "" {
		return g.Severity + ": " + g.Message
	}
	return fmt.Sprintf("%s: %s: %s", g.Severity, ShortName(g.URN), g.Message)
}

// String is the violation as one block of text.
func (v PolicyViolation) String() string {
	where := "the stack"
	if v.URN != "" {
		where = ShortName(v.URN)
	}
	return fmt.Sprintf("policy %s/%s (%s): %s: %s", v.Pack, v.Policy, v.Enforcement, where, v.Message)
}

// ShortName names a resource for people: its name and its type.
func ShortName(urn string) string {
	return fmt.Sprintf("%s (%s)", urnName(urn), urnType(urn))
}

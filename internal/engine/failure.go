package engine

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Kind says whose fault a Failure is.
type Kind string

const (
	// KindPolicy: a mandatory policy refused the stack.
	KindPolicy Kind = "policy"
	// KindProgram: the program returned an error, or a value it computes failed.
	KindProgram Kind = "program"
	// KindResource: a provider refused a resource.
	KindResource Kind = "resource"
	// KindProtected: a protected resource would have been deleted.
	KindProtected Kind = "protected"
	// KindInterrupted: a signal or the end of the context stopped the operation.
	KindInterrupted Kind = "interrupted"
	// KindEngine: anything else: the CLI could not run, refused its input, or crashed.
	KindEngine Kind = "engine"
)

// Failure is an operation that the engine began and did not end well.
type Failure struct {
	Operation Operation
	Stack     string
	Kind      Kind
	// Diagnostics are the errors, each once, without those that only repeat another.
	Diagnostics []Diagnostic
	// Violations are the mandatory ones.
	Violations []PolicyViolation
	// Protected are the URNs that stand in the way when Kind is KindProtected, sorted: for a
	// destroy all that are protected, else those that would have been replaced or deleted.
	Protected []string
	// Cause is the error value that the program returned, or why the context ended, or the signal
	// that killed the engine; may be nil.
	Cause error
	// Output is what the CLI wrote, for a bug report when Kind is KindEngine.
	Output string
}

// Unwrap returns Cause, so that errors.As finds the program's own error.
func (f *Failure) Unwrap() error { return f.Cause }

// Internal reports whether nothing the user wrote can be blamed.
func (f *Failure) Internal() bool { return f.Kind == KindEngine }

// Error is a headline and one line per finding.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s: ", f.Operation, f.Stack)
	switch f.Kind {
	case KindPolicy:
		fmt.Fprintf(&b, "refused by %d mandatory policy violation(s)", len(f.Violations))
	case KindProgram:
		if len(f.Diagnostics) == 1 && len(f.Violations) == 0 {
			return b.String() + f.Diagnostics[0].Message
		}
		b.WriteString("the program failed")
	case KindResource:
		b.WriteString("a resource was refused")
	case KindProtected:
		fmt.Fprintf(&b, "%d protected resource(s) would be deleted; remove the protection in the program and run up, or destroy with the protection ignored", len(f.Protected))
		for _, urn := range f.Protected {
			fmt.Fprintf(&b, "\n  %s", urn)
		}
		return b.String()
	case KindInterrupted:
		b.WriteString("interrupted")
		if f.Operation != OpPreview {
			b.WriteString("; the state holds what was finished, run the same again to go on")
		}
	default:
		b.WriteString("the engine failed")
		if f.Cause != nil {
			fmt.Fprintf(&b, ": %v", f.Cause)
		}
		if len(f.Diagnostics)+len(f.Violations) == 0 {
			fmt.Fprintf(&b, "; it said:\n%s", indent(f.Output))
		}
	}
	for _, v := range f.Violations {
		fmt.Fprintf(&b, "\n%s", indent(v.String()))
	}
	for _, d := range f.Diagnostics {
		fmt.Fprintf(&b, "\n%s", indent(d.String()))
	}
	return b.String()
}

// SetupError is something beside the program that its user can mend: a project or stack file
// that cannot be read, a directory that cannot be written, no way to a Pulumi CLI. Its text
// says how.
type SetupError struct{ Err error }

// Error implements error.
func (e *SetupError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *SetupError) Unwrap() error { return e.Err }

// setup makes an error one of setup; nil stays nil.
func setup(err error) error {
	if err == nil {
		return nil
	}
	return &SetupError{err}
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}

// The engine and the SDK for Go wrap what a program returns in these.
var (
	unhandled   = regexp.MustCompile(`^(?:an unhandled error occurred: )?(?:go inline source runtime error, an unhandled error occurred: )?`)
	multi       = regexp.MustCompile(`^\d+ errors? occurred:\n`)
	waiting     = regexp.MustCompile(`^waiting for RPCs: `)
	protections = regexp.MustCompile(`cannot be deleted\s+because it is protected|as it is currently marked for protection`)
)

// unwrapProgram returns the messages inside the engine's report of a program error, and false
// if it is no such report.
func unwrapProgram(msg string) ([]string, bool) {
	if !strings.Contains(msg, "an unhandled error occurred: ") {
		return nil, false
	}
	msg = strings.TrimSpace(unhandled.ReplaceAllString(msg, ""))
	msg = waiting.ReplaceAllString(msg, "")
	head := multi.FindString(msg)
	if head == "" {
		return []string{msg}, true
	}
	var out []string
	for part := range strings.SplitSeq("\n"+msg[len(head):], "\n\t* ") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out, true
}

// explain builds the Failure of an operation whose CLI call returned err.
func (r *Run) explain(op Operation, err error, c *collector, cmd *command, p *program) *Failure {
	f := &Failure{Operation: op, Stack: r.Stack, Kind: KindEngine, Output: strings.TrimSpace(cmd.stdout + "\n" + cmd.stderr)}
	for _, v := range c.policies {
		if v.Enforcement == "mandatory" {
			f.Violations = append(f.Violations, v)
		}
	}
	programSaid := false
	cause := p.failure()
	for _, d := range c.diags {
		if d.Severity != "error" {
			continue
		}
		messages, isProgram := unwrapProgram(d.Message)
		if !isProgram {
			f.Diagnostics = append(f.Diagnostics, d)
			continue
		}
		programSaid = true
		for _, m := range messages {
			if cause == nil || !strings.Contains(cause.Error(), m) { // else said below
				f.Diagnostics = append(f.Diagnostics, Diagnostic{Severity: "error", Message: m})
			}
		}
	}
	if cause != nil && programSaid {
		f.Cause = cause
		f.Diagnostics = append(f.Diagnostics, Diagnostic{Severity: "error", Message: cause.Error()})
	}
	if len(f.Diagnostics) == 0 {
		for _, msg := range cmd.errors() {
			f.Diagnostics = append(f.Diagnostics, Diagnostic{Severity: "error", Message: msg})
		}
	}
	for _, d := range f.Diagnostics {
		if protections.MatchString(d.Message) {
			f.Protected = append(f.Protected, d.URN)
		}
	}
	f.Protected = sorted(f.Protected)
	switch {
	case cmd.stop.any():
		f.Kind = KindInterrupted
	case len(f.Protected) > 0 && len(f.Protected) == len(f.Diagnostics):
		f.Kind = KindProtected
	case len(f.Violations) > 0:
		f.Kind = KindPolicy
	case len(c.failed) > 0:
		f.Kind = KindResource
	case programSaid:
		f.Kind = KindProgram
	case slices.ContainsFunc(f.Diagnostics, func(d Diagnostic) bool { return d.URN != "" }):
		f.Kind = KindResource // refused by Check or Diff, or while a preview ran
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && f.Kind == KindEngine && !exit.Exited() {
		f.Cause = fmt.Errorf("the Pulumi CLI was ended from outside (%s)", exit.ProcessState)
	}
	return f
}

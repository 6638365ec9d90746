package main

import (
	"errors"
	"fmt"
	"io"

	"onedoor/cmd/docs"
	"onedoor/cmd/embedded"
	"onedoor/internal/engine"
	"onedoor/stacks"
)

// The exit codes.
const (
	exitOK       = 0
	exitUser     = 1 // the user's mistake, or a refusal
	exitInternal = 2 // ours
	exitPartial  = 2 // of commands that ask Azure: not everything could be checked
)

// exits are the exit codes for people.
var exits = []docs.Exit{
	{Code: exitOK, Meaning: "fine"},
	{Code: exitUser, Meaning: "a mistake in the command or the configuration, something that Azure, the simulated one or a rule refuses, or, for commands that judge, a finding"},
	{Code: exitInternal, Meaning: "a fault of OneDoor or of the machine; of preflight and verify: nothing is wrong as far as could be checked, and not everything could"},
}

// usageError is a mistake in the words of the command.
type usageError struct{ error }

// realError is a mistake, or a refusal, of a command that speaks to a real platform.
type realError struct{ error }

// Unwrap returns the cause.
func (e realError) Unwrap() error { return e.error }

// report writes err for a person and returns the exit code that it means.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(w, "\n%v\n", err)
	if _, ok := errors.AsType[realError](err); ok {
		return exitUser
	}
	code := codeOf(err)
	if _, ok := errors.AsType[incomplete](err); ok {
		if code == exitUser {
			return exitUser
		}
		return exitPartial
	}
	if code == exitInternal {
		fmt.Fprintln(w, "\nThis looks like a fault of OneDoor or of this machine, not of your configuration.")
	}
	fmt.Fprintln(w, "\n"+simulated)
	return code
}

// codeOf is the exit code that err means.
func codeOf(err error) int {
	var (
		usage   usageError
		config  *stacks.ConfigError
		file    *stacks.FileError
		failure *engine.Failure
		setup   *engine.SetupError
		locked  *engine.Locked
		base    *embedded.BaseError
	)
	switch {
	case errors.As(err, &usage), errors.As(err, &config), errors.As(err, &file), errors.As(err, &locked), errors.As(err, &setup), errors.As(err, &base):
		return exitUser
	case errors.As(err, &failure) && !failure.Internal():
		return exitUser
	default:
		return exitInternal
	}
}

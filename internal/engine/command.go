package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
)

// command runs the CLI for one operation; it is the Automation API's PulumiCommand.
//
// The CLI gets a process group of its own, so that a Ctrl-C on a terminal reaches this process
// only, which passes it on: the CLI then always receives exactly one signal per signal, be it
// sent to the group or to this process, and program and providers go on serving until it ends.
type command struct {
	cli   CLI
	flags []string // added to the operation: flags that the Automation API has no option for
	stop  *interrupts

	stdout, stderr string // of the last run
}

var _ auto.PulumiCommand = (*command)(nil)

// Version implements auto.PulumiCommand.
func (c *command) Version() semver.Version { return semver.MustParse(c.cli.Version) }

// Run implements auto.PulumiCommand.
func (c *command) Run(ctx context.Context, dir string, stdin io.Reader, outs, errs []io.Writer, env []string, args ...string) (string, string, int, error) {
	if len(args) > 1 && args[0] == "stack" && args[1] == "history" {
		// The Automation API asks for a summary after each update; events have told us.
		return "[]", "", 0, nil
	}
	args = append([]string{"--non-interactive", "--color=never"}, args...)
	args = append(args, c.flags...)
	cmd := exec.CommandContext(ctx, c.cli.Path, args...)
	cmd.Dir = dir
	cmd.Env = append(withoutPulumi(os.Environ()), env...)
	cmd.Env = append(cmd.Env, "PULUMI_AUTOMATION_API=true",
		// The language hosts of an installed CLI lie beside it.
		"PATH="+filepath.Dir(c.cli.Path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin = stdin
	var stdout, stderr bytes.Buffer
	cmd.Stdout = io.MultiWriter(append(slices.Clip(outs), &stdout)...)
	cmd.Stderr = io.MultiWriter(append(slices.Clip(errs), &stderr)...)
	ownGroup(cmd)
	cmd.WaitDelay = 10 * time.Second // for plugins that keep a pipe open after the CLI died

	err := cmd.Start()
	if err == nil {
		c.stop.attach(cmd.Process)
		err = cmd.Wait()
		c.stop.detach()
	}
	c.stdout, c.stderr = stdout.String(), stderr.String()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		code = -2 // as the Automation API's own command
	}
	return c.stdout, c.stderr, code, err
}

// lines of stderr that begin with `error:`; they say why the CLI gave up before it ran.
func (c *command) errors() []string {
	var out []string
	text := c.stderr
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		msg, ok := strings.CutPrefix(line, "error: ")
		if !ok {
			continue
		}
		// What follows indented, or up to the next error, belongs to it.
		for text != "" && !strings.HasPrefix(text, "error: ") {
			line, rest, _ = strings.Cut(text, "\n")
			msg, text = msg+"\n"+line, rest
		}
		out = append(out, strings.TrimSpace(msg))
	}
	return out
}

// interrupts passes interruptions on to the CLI. What counts is the number of signals seen,
// where the end of the context counts as one: a caller that ends its context on a signal and
// this type see the same Ctrl-C, which must not become two.
type interrupts struct {
	say func(n int) // called once per signal passed on

	mu      sync.Mutex
	process *os.Process
	seen    int // signals
	ended   int // 1 when the context has ended
	sent    int
	close   func()
}

// thirdIsKill: the CLI finishes running steps after the first signal, abandons them after the
// second, and has nothing left to offer after that.
const thirdIsKill = 3

// catchInterrupts traps signals until close is called.
func catchInterrupts(ctx context.Context, say func(n int)) *interrupts {
	i := &interrupts{say: say}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		ended := ctx.Done()
		for {
			select {
			case <-signals:
				i.add(&i.seen)
			case <-ended:
				ended = nil
				i.add(&i.ended)
			case <-done:
				return
			}
		}
	}()
	i.close = sync.OnceFunc(func() { signal.Stop(signals); close(done) })
	return i
}

func (i *interrupts) add(counter *int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	*counter++
	i.pass()
}

// pass sends what is due; i.mu is held.
func (i *interrupts) pass() {
	for i.process != nil && i.sent < max(i.seen, i.ended) {
		i.sent++
		if i.sent >= thirdIsKill || i.process.Signal(os.Interrupt) != nil {
			_ = i.process.Kill()
		}
		i.say(i.sent)
	}
}

func (i *interrupts) attach(p *os.Process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.process = p
	i.pass()
}

func (i *interrupts) detach() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.process = nil
}

// any reports whether an interruption has been seen.
func (i *interrupts) any() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.seen+i.ended > 0
}

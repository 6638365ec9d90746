package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

const (
	cliPackage  = "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
	versionFlag = "github.com/pulumi/pulumi/sdk/v3/go/common/version.Version"
)

// builder keeps one built CLI in dir.
type builder struct {
	dir      string
	progress io.Writer
	noBuild  bool
	// rejected is the version of the pulumi on PATH, if it has another minor.
	rejected string
}

func (b builder) path() string {
	name := "pulumi"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.dir, name)
}

// cached looks for a finished build. A file of that name is complete: it was renamed into
// place after it had answered with its version.
func (b builder) cached() (CLI, bool) {
	info, err := os.Stat(b.path())
	if err != nil || !info.Mode().IsRegular() {
		return CLI{}, false
	}
	return CLI{Path: b.path(), Version: Version, Source: "cache"}, true
}

func (b builder) find(ctx context.Context) (CLI, error) {
	if cli, ok := b.cached(); ok {
		return cli, nil
	}
	if b.noBuild {
		return CLI{}, fmt.Errorf("no Pulumi CLI %s on PATH and none built before in %s\n%s", wantedMinor(), b.dir, installRemedy())
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return CLI{}, fmt.Errorf("cannot create the cache for the Pulumi CLI: %w; set %s to a directory that can be written", err, EnvCache)
	}
	unlock, err := lockFile(ctx, filepath.Join(b.dir, "lock"), 300*time.Millisecond, func() {
		fmt.Fprintln(b.progress, "Another process is building the Pulumi CLI; waiting for it to finish.")
	})
	if err != nil {
		return CLI{}, fmt.Errorf("waiting for another build of the Pulumi CLI in %s: %w", b.dir, err)
	}
	defer unlock()
	if cli, ok := b.cached(); ok {
		return cli, nil
	}
	return b.build(ctx)
}

func (b builder) build(ctx context.Context) (CLI, error) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return CLI{}, fmt.Errorf("no Pulumi CLI %s on PATH, and building one needs the `go` command, which is not on PATH either\n%s",
			wantedMinor(), installRemedy())
	}
	tmp, err := os.MkdirTemp(b.dir, "build-")
	if err != nil {
		return CLI{}, err
	}
	defer os.RemoveAll(tmp)
	for name, data := range map[string][]byte{"go.mod": pulumiMod, "go.sum": pulumiSum} {
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o644); err != nil {
			return CLI{}, err
		}
	}
	if b.rejected != "" {
		fmt.Fprintf(b.progress, "The pulumi on PATH is %s, not %s; leaving it alone.\n", b.rejected, wantedMinor())
	}
	fmt.Fprintf(b.progress, "Building the Pulumi CLI %s from its Go module: about 4 minutes on two cores, once on this machine.\n"+
		"It is the real engine that previews and updates run on; it is kept in %s.\n", Version, b.dir)

	out := filepath.Join(tmp, filepath.Base(b.path()))
	cmd := exec.CommandContext(ctx, goTool, "build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-v", "-o", out,
		"-ldflags", "-s -w -X "+versionFlag+"=v"+Version, cliPackage)
	cmd.Dir = tmp
	// CGO_ENABLED=0 as in the official releases: no C compiler needed, one result everywhere.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// An interrupted go command removes its work and stops its compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	log := &buildLog{}
	cmd.Stdout, cmd.Stderr = log, log

	stop := log.report(b.progress)
	err = cmd.Run()
	stop()
	if ctx.Err() != nil {
		return CLI{}, fmt.Errorf("building the Pulumi CLI was stopped: %w; packages compiled so far are kept by go", context.Cause(ctx))
	}
	if err != nil {
		return CLI{}, fmt.Errorf("building the Pulumi CLI %s failed: %w\n%s\n%s", Version, err, log.tail(), buildRemedy(log.tail()))
	}
	cli, err := probe(ctx, out, "build")
	if err != nil {
		return CLI{}, fmt.Errorf("the Pulumi CLI that was just built does not run: %w\n%s", err, installRemedy())
	}
	if cli.Version != Version {
		return CLI{}, fmt.Errorf("the Pulumi CLI that was just built says it is %s, not %s\n%s", cli.Version, Version, installRemedy())
	}
	if err := os.Rename(out, b.path()); err != nil {
		return CLI{}, err
	}
	cli.Path = b.path()
	return cli, nil
}

func installRemedy() string {
	return fmt.Sprintf("either install the Pulumi CLI %s and put it on PATH (or set %s to its path), or install Go and try again", wantedMinor(), EnvPulumi)
}

// buildRemedy tells network trouble, which is by far the most likely, from the rest.
func buildRemedy(output string) string {
	for _, sign := range []string{"dial tcp", "no such host", "proxyconnect", "connection refused", "i/o timeout", "module lookup disabled", "TLS handshake", "403 Forbidden", "404 Not Found", "disabled by GOPROXY"} {
		if strings.Contains(output, sign) {
			return fmt.Sprintf("the Go modules could not be fetched: check the network, or set GOPROXY to a module mirror that can be reached (go env GOPROXY shows the current one);\n"+
				"or install the Pulumi CLI %s and put it on PATH, or set %s to its path", wantedMinor(), EnvPulumi)
		}
	}
	return fmt.Sprintf("check that go is not older than go.mod asks for, GOFLAGS and GOPROXY (go env shows them), free disk space and memory (about 2 GB each);\n"+
		"or install the Pulumi CLI %s and put it on PATH, or set %s to its path", wantedMinor(), EnvPulumi)
}

// buildLog takes what `go build -v` prints: one line per package as it is compiled, lines
// about downloads, and errors.
type buildLog struct {
	mu       sync.Mutex
	lines    []string
	partial  []byte
	packages atomic.Int64
	fetched  atomic.Int64
}

// Write implements io.Writer.
func (l *buildLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partial = append(l.partial, p...)
	for {
		line, rest, found := bytes.Cut(l.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.partial = rest
		text := string(line)
		switch {
		case strings.HasPrefix(text, "go: downloading "):
			l.fetched.Add(1)
		case text != "" && !strings.ContainsAny(text, " :#"):
			l.packages.Add(1)
		default:
			l.lines = append(l.lines, text)
		}
	}
}

// tail is the end of what go said, without the names of packages.
func (l *buildLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	if len(l.partial) > 0 {
		lines = append(lines, string(l.partial))
	}
	if len(lines) > 12 {
		lines = lines[len(lines)-12:]
	}
	return strings.Join(lines, "\n")
}

// report shows movement until stop is called: in place on a terminal, else a line every 10 s.
func (l *buildLog) report(w io.Writer) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	tty := isTerminal(w)
	every := 10 * time.Second
	if tty {
		every = 500 * time.Millisecond
	}
	start := time.Now()
	say := func(format string) {
		fmt.Fprintf(w, format, l.fetched.Load(), l.packages.Load(), time.Since(start).Round(time.Second))
	}
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if tty {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				if tty {
					say("\r\x1b[K  %d modules fetched, %d packages compiled, %s")
				} else {
					say("  %d modules fetched, %d packages compiled, %s\n")
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

// lockFile takes an exclusive lock on path, which the system releases when the process dies.
// If that takes longer than patience it calls waiting once and goes on waiting until ctx ends.
func lockFile(ctx context.Context, path string, patience time.Duration, waiting func()) (unlock func(), err error) {
	type answer struct {
		unlock func()
		err    error
	}
	got, abandoned := make(chan answer), make(chan struct{})
	go func() {
		unlock, err := lockedfile.MutexAt(path).Lock()
		select {
		case got <- answer{unlock, err}:
		case <-abandoned:
			if err == nil {
				unlock()
			}
		}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case a := <-got:
			return a.unlock, a.err
		case <-timer.C:
			waiting()
		case <-ctx.Done():
			close(abandoned)
			return nil, context.Cause(ctx)
		}
	}
}

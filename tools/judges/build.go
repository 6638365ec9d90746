package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// build returns the path of the program, and makes it first if it is not there.
func (p program) build(ctx context.Context, cache string) (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, p.name+"-"+key)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path, nil // it is whole: it was renamed to this
	}
	tmp, err := os.MkdirTemp(mkdir(cache), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, p.name)
	command := exec.CommandContext(ctx, "go", "-C", p.module, "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", strings.TrimSpace("-s -w "+p.version), "-o", made, p.pkg)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // go then stops its compilers
	command.WaitDelay = 10 * time.Second
	said, err := command.StderrPipe()
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := command.Start(); err != nil {
		return "", err
	}
	problems := p.watch(said, start)
	if err := command.Wait(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, strings.Join(problems, "\n"))
	}
	fmt.Fprintf(os.Stderr, "%s: built in %s, kept as %s\n", p.name, time.Since(start).Round(time.Second), path)
	return path, os.Rename(made, path)
}

// key is of all that a build comes from.
func (p program) key() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH, p.pkg, p.version)
	files, err := filepath.Glob(filepath.Join(p.module, "*"))
	if err != nil {
		return "", err
	}
	slices.Sort(files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, filepath.Base(file), len(text))
		sum.Write(text)
	}
	if len(files) == 0 {
		return "", errors.New("no folder " + p.module + " here; run it as: go -C tools/judges run .")
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// every is the time between two lines of progress.
const every = 10 * time.Second

// watch reads what go build -v says until it ends, a line for each package, and
// returns the end of what is no package.
func (p program) watch(said io.Reader, start time.Time) []string {
	var problems []string
	packages, fetched, shown := 0, 0, start
	for lines := bufio.NewScanner(said); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "go: downloading "):
			fetched++
		case strings.ContainsAny(line, " :#"):
			problems = append(problems, line)
			problems = problems[max(0, len(problems)-20):]
		default:
			packages++
		}
		if time.Since(shown) >= every {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "%s: %d modules fetched, %d packages compiled, %s\n", p.name, fetched, packages, time.Since(start).Round(time.Second))
		}
	}
	return problems
}

// mkdir makes a directory; what is wrong with it shows when it is used.
func mkdir(dir string) string {
	_ = os.MkdirAll(dir, 0o755)
	return dir
}

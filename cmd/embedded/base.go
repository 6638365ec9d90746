package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Base is the project as it was before a change, with a program of its own: the
// code of the change says nothing about what the base declares or forbids.
type Base struct {
	Dir    string // its files
	Name   string // as the user gave it
	Commit string // "" for a directory outside a repository
	Dirty  bool

	exe     string
	release func()
}

// BaseError is a base that cannot be had or does not work; it is the user's to mend.
type BaseError struct {
	Name string
	Err  error
}

// Error implements error.
func (e *BaseError) Error() string { return fmt.Sprintf("--base %s: %v", e.Name, e.Err) }

// Unwrap returns the cause.
func (e *BaseError) Unwrap() error { return e.Err }

// Build builds the program of a project into a file.
type Build func(ctx context.Context, project, file string, progress io.Writer) error

// GoBuild builds with the Go toolchain.
func GoBuild(ctx context.Context, project, file string, progress io.Writer) error {
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", file, "./cmd/onedoor")
	var said bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = project, progress, io.MultiWriter(progress, &said)
	if err := c.Run(); err != nil {
		return fmt.Errorf("building its program: %w\n%s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

// OpenBase makes the base of a change ready: name is a directory with a project, or
// whatever git takes for a commit. Nothing is written but into home, which one
// process at a time may use. Call Close.
func OpenBase(ctx context.Context, project, name, home string, build Build, progress io.Writer) (*Base, error) {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	release, err := lockedfile.MutexAt(filepath.Join(home, "lock")).Lock()
	if err != nil {
		return nil, err
	}
	b := &Base{Name: name, release: release, exe: filepath.Join(home, "onedoor")}
	if err := b.find(ctx, project, home); err != nil {
		release()
		return nil, &BaseError{name, err}
	}
	fmt.Fprintf(progress, "Building the program of %s.\n", name)
	if err := build(ctx, b.Dir, b.exe, progress); err != nil {
		release()
		return nil, &BaseError{name, err}
	}
	return b, nil
}

// Close lets another process use the base's home. Files stay, since the next build
// is faster over them.
func (b *Base) Close() { b.release() }

// find fills in Dir, Commit and Dirty.
func (b *Base) find(ctx context.Context, project, home string) error {
	if info, err := os.Stat(b.Name); err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(b.Name, "Pulumi.yaml")); err != nil {
			return errors.New("a directory without Pulumi.yaml, want a project or a commit")
		}
		b.Dir, err = filepath.Abs(b.Name)
		b.Commit, b.Dirty = Commit(b.Dir)
		return err
	}
	git := func(args ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, "git", append([]string{"-C", project}, args...)...)
		var said bytes.Buffer
		c.Stderr = &said
		out, err := c.Output()
		if err != nil {
			err = fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
		}
		return out, err
	}
	id, err := git("rev-parse", "--verify", "--end-of-options", b.Name+"^{commit}")
	if err != nil {
		return fmt.Errorf("neither a directory nor a commit that git knows here; a shallow clone lacks most (%w)", err)
	}
	b.Commit = strings.TrimSpace(string(id))
	// The project may be a part of the repository: its part is what is wanted.
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	files, err := git("archive", "--format=tar", b.Commit+":"+strings.TrimSuffix(strings.TrimSpace(string(prefix)), "/"))
	if err != nil {
		return err
	}
	b.Dir = filepath.Join(home, "tree") // always the same: the compiler's cache goes by it
	if err := os.RemoveAll(b.Dir); err != nil {
		return err
	}
	return untar(files, b.Dir)
}

// Run calls the base's program with args, as if in its directory. What it prints
// goes to progress.
func (b *Base) Run(ctx context.Context, progress io.Writer, args ...string) error {
	var said bytes.Buffer
	c := exec.CommandContext(ctx, b.exe, args...)
	c.Dir, c.Stdout, c.Stderr = b.Dir, io.Discard, io.MultiWriter(progress, &said)
	if err := c.Run(); err != nil {
		return &BaseError{b.Name, fmt.Errorf("onedoor %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(said.String()))}
	}
	return nil
}

// Rules are the packs of the base, with configurations by the pack's name.
func (b *Base) Rules(configs map[string]string) *Rules { return &Rules{b.exe, configs} }

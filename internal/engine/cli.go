package engine

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/blang/semver"
)

// Version is the Pulumi CLI this package builds and is tested with. pulumi.mod pins the
// module it is built from and the root go.mod the SDK; a test keeps the three equal.
const Version = "3.276.0"

// Environment variables that steer Find.
const (
	// EnvPulumi is the path of the Pulumi CLI to use; nothing else is looked at then.
	EnvPulumi = "ONEDOOR_PULUMI"
	// EnvCache is a directory to use instead of onedoor/ in the user's cache directory.
	EnvCache = "ONEDOOR_CACHE"
)

// pulumi.mod and pulumi.sum are a go.mod and go.sum under names that keep them inside this
// module, so that they can be embedded. To raise the pin: copy them to an empty directory as
// go.mod and go.sum, run `go get -tool github.com/pulumi/pulumi/pkg/v3/cmd/pulumi@vX.Y.Z` and
// `go mod tidy` there, copy them back, and change Version.
var (
	//go:embed pulumi.mod
	pulumiMod []byte
	//go:embed pulumi.sum
	pulumiSum []byte
)

// CLI is a Pulumi command line that can be run.
type CLI struct {
	// Path is absolute.
	Path string
	// Version as the CLI reports it, without the leading v.
	Version string
	// Source says where it came from: override, path, cache or build.
	Source string
}

// Options steer Find; the zero value works.
type Options struct {
	// Progress receives one message per event that a person waits for, and the progress of
	// a build; nil means silence.
	Progress io.Writer
	// NoBuild makes Find fail instead of building.
	NoBuild bool
}

// Find returns the Pulumi CLI to use: the one that ONEDOOR_PULUMI names, else `pulumi` on
// PATH if it has the minor version of the pin, else the one built before, else it builds one
// from its Go module (minutes, once per machine). Two processes that call it at once build
// once. Cancelling ctx stops a build. An error is a *SetupError.
func Find(ctx context.Context, opts Options) (CLI, error) {
	cli, err := find(ctx, opts)
	return cli, setup(err)
}

func find(ctx context.Context, opts Options) (CLI, error) {
	if opts.Progress == nil {
		opts.Progress = io.Discard
	}
	if path := os.Getenv(EnvPulumi); path != "" {
		return override(ctx, path)
	}
	rejected := ""
	if path, err := exec.LookPath("pulumi"); err == nil {
		cli, err := probe(ctx, path, "path")
		if err == nil && sameMinor(cli.Version) {
			return cli, nil
		}
		rejected = cli.Version
	}
	dir, err := cacheDir()
	if err != nil {
		return CLI{}, err
	}
	b := builder{dir: dir, progress: opts.Progress, noBuild: opts.NoBuild, rejected: rejected}
	return b.find(ctx)
}

func override(ctx context.Context, path string) (CLI, error) {
	cli, err := probe(ctx, path, "override")
	if err != nil {
		return CLI{}, fmt.Errorf("%s=%s is not a Pulumi CLI that runs: %w\n"+
			"point it at a Pulumi CLI %s, or unset it to use the one on PATH or to build one", EnvPulumi, path, err, wantedMinor())
	}
	if !sameMinor(cli.Version) {
		return CLI{}, fmt.Errorf("%s=%s is Pulumi %s; this program drives Pulumi %s and was tested with %s only\n"+
			"point it at a Pulumi CLI %s, or unset it to use the one on PATH or to build one",
			EnvPulumi, path, cli.Version, wantedMinor(), Version, wantedMinor())
	}
	return cli, nil
}

// probe runs `PATH version`, which takes about 0.2 s, and on a machine that is busy far longer.
func probe(ctx context.Context, path, source string) (CLI, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return CLI{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, abs, "version")
	cmd.Env = append(withoutPulumi(os.Environ()), "PULUMI_SKIP_UPDATE_CHECK=true")
	out, err := cmd.Output()
	if err != nil {
		return CLI{}, fmt.Errorf("%s version: %w", abs, errors.Join(err, stderrOf(err)))
	}
	text := strings.TrimSpace(string(out))
	v, err := semver.ParseTolerant(text)
	if err != nil {
		return CLI{}, fmt.Errorf("%s version answered %q, which is no version", abs, text)
	}
	return CLI{Path: abs, Version: v.String(), Source: source}, nil
}

func stderrOf(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	return nil
}

func sameMinor(version string) bool {
	got, err := semver.Parse(version)
	want := semver.MustParse(Version)
	return err == nil && got.Major == want.Major && got.Minor == want.Minor
}

// wantedMinor is the pin without its patch: 3.276.x.
func wantedMinor() string {
	v := semver.MustParse(Version)
	return fmt.Sprintf("%d.%d.x", v.Major, v.Minor)
}

func cacheDir() (string, error) {
	root := os.Getenv(EnvCache)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache directory for the Pulumi CLI: %w; set %s to a directory", err, EnvCache)
		}
		root = filepath.Join(user, "onedoor")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(pulumiMod)
	sum.Write(pulumiSum)
	name := fmt.Sprintf("%s-%s-%s-%s", Version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(sum.Sum(nil))[:12])
	return filepath.Join(root, "engine", name), nil
}

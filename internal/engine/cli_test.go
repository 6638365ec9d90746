package engine

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of Find set the environment, so they do not run in parallel.

// toolbox makes a PATH that holds nothing but this binary under the given names, and a cache of
// its own. The fake pulumi reports version.
func toolbox(t *testing.T, version string, names ...string) (goLog string) {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "bin"), 0o755))
	for _, name := range names {
		_, err := Link(home, name)
		require.NoError(t, err)
	}
	goLog = filepath.Join(home, "go.log")
	t.Setenv("PATH", filepath.Join(home, "bin"))
	t.Setenv(EnvCache, filepath.Join(home, "cache"))
	t.Setenv(EnvPulumi, "")
	t.Setenv(fakeGoLog, goLog)
	t.Setenv(fakePulumiSays, version)
	return goLog
}

func builds(t *testing.T, log string) []string {
	t.Helper()
	data, err := os.ReadFile(log)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestFindPrefersOverride(t *testing.T) {
	log := toolbox(t, "v"+Version, "pulumi", "go")
	override, err := exec.LookPath("pulumi")
	require.NoError(t, err)
	t.Setenv("PATH", filepath.Dir(log)) // nothing on it
	t.Setenv(EnvPulumi, override)
	cli, err := Find(t.Context(), Options{})
	require.NoError(t, err)
	assert.Equal(t, CLI{Path: override, Version: Version, Source: "override"}, cli)
}

func TestFindRefusesOverride(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		wants   []string
	}{
		"another minor": {"v3.275.4", []string{EnvPulumi, "is Pulumi 3.275.4", "3.276.x", "unset it"}},
		"another major": {"v4.276.0", []string{"is Pulumi 4.276.0", "3.276.x"}},
		"no version":    {"hello", []string{EnvPulumi, `answered "hello"`, "3.276.x", "unset it"}},
	} {
		t.Run(name, func(t *testing.T) {
			toolbox(t, test.version, "pulumi", "go")
			override, err := exec.LookPath("pulumi")
			require.NoError(t, err)
			t.Setenv(EnvPulumi, override)
			_, err = Find(t.Context(), Options{})
			for _, want := range test.wants {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		toolbox(t, "", "go")
		t.Setenv(EnvPulumi, filepath.Join(t.TempDir(), "nothing"))
		_, err := Find(t.Context(), Options{})
		assert.ErrorContains(t, err, "is not a Pulumi CLI that runs")
	})
}

func TestFindTakesPathOfSameMinor(t *testing.T) {
	log := toolbox(t, "v3.276.9", "pulumi", "go")
	cli, err := Find(t.Context(), Options{})
	require.NoError(t, err)
	assert.Equal(t, "path", cli.Source)
	assert.Equal(t, "3.276.9", cli.Version)
	assert.Empty(t, builds(t, log))
}

func TestFindBuildsWhenPathHasAnotherMinor(t *testing.T) {
	// The fake pulumi on PATH and the one that the fake go builds report the same version, so
	// the build is refused in the end; what counts is that it was tried.
	log := toolbox(t, "v3.300.0", "pulumi", "go")
	var progress bytes.Buffer
	_, err := Find(t.Context(), Options{Progress: &progress})
	assert.ErrorContains(t, err, "just built says it is 3.300.0")
	assert.Contains(t, progress.String(), "The pulumi on PATH is 3.300.0, not 3.276.x")
	assert.Len(t, builds(t, log), 1)
	entries, err := os.ReadDir(filepath.Join(os.Getenv(EnvCache), "engine"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.NoFileExists(t, filepath.Join(os.Getenv(EnvCache), "engine", entries[0].Name(), "pulumi"), "a refused build must not be cached")
}

func TestFindBuildsOnce(t *testing.T) {
	log := toolbox(t, "v"+Version, "go")
	a, b := startHelper(t, helperEnv+"=find"), startHelper(t, helperEnv+"=find")
	path := a.until(t, "/")
	assert.Equal(t, path, b.until(t, "/"))
	require.NoError(t, a.Wait())
	require.NoError(t, b.Wait())
	require.Len(t, builds(t, log), 1, "two processes at once build once")
	said := a.stderr.String() + b.stderr.String()
	assert.Equal(t, 1, strings.Count(said, "Building the Pulumi CLI "+Version), said)
	assert.Equal(t, 1, strings.Count(said, "Another process is building"), said)
	assert.Contains(t, said, "about 4 minutes")

	cli, err := Find(t.Context(), Options{NoBuild: true})
	require.NoError(t, err)
	assert.Equal(t, CLI{Path: path, Version: Version, Source: "cache"}, cli)

	args := builds(t, log)[0]
	assert.Contains(t, args, "-trimpath")
	assert.Contains(t, args, "-s -w -X "+versionFlag+"=v"+Version)
	assert.True(t, strings.HasSuffix(args, cliPackage), args)
}

func TestFindSaysWhatToDo(t *testing.T) {
	t.Run("no go", func(t *testing.T) {
		toolbox(t, "")
		_, err := Find(t.Context(), Options{})
		for _, want := range []string{"`go` command", "install the Pulumi CLI 3.276.x", EnvPulumi, "install Go"} {
			assert.ErrorContains(t, err, want)
		}
	})
	t.Run("no build allowed", func(t *testing.T) {
		log := toolbox(t, "", "go")
		_, err := Find(t.Context(), Options{NoBuild: true})
		assert.ErrorContains(t, err, "none built before")
		assert.Empty(t, builds(t, log))
	})
	t.Run("no network", func(t *testing.T) {
		toolbox(t, "", "go")
		t.Setenv(fakeGoFails, "go: example.com/x@v1.0.0: dial tcp: lookup proxy: no such host")
		_, err := Find(t.Context(), Options{})
		for _, want := range []string{"no such host", "set GOPROXY", "3.276.x", EnvPulumi} {
			assert.ErrorContains(t, err, want)
		}
	})
	t.Run("build fails", func(t *testing.T) {
		toolbox(t, "", "go")
		t.Setenv(fakeGoFails, "# some/package\nsyntax error")
		_, err := Find(t.Context(), Options{})
		for _, want := range []string{"syntax error", "GOFLAGS"} {
			assert.ErrorContains(t, err, want)
		}
	})
}

func TestFindStopsBuildWithContext(t *testing.T) {
	log := toolbox(t, "", "go")
	t.Setenv(fakeGoHangs, "yes")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	start := time.Now()
	_, err := Find(ctx, Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(start), 8*time.Second)
	require.Len(t, builds(t, log), 1)
	// The lock is free again and nothing half-made is taken for a build.
	t.Setenv(fakeGoHangs, "")
	t.Setenv(fakePulumiSays, "v"+Version)
	cli, err := Find(t.Context(), Options{})
	require.NoError(t, err)
	assert.Equal(t, "build", cli.Source)
}

func TestBuildLogCounts(t *testing.T) {
	t.Parallel()
	log := &buildLog{}
	_, _ = log.Write([]byte("go: downloading a/b v1.0.0\ninternal/x\ngithub.com/a/b\n# github.com/a/c\nc.go:1:1: "))
	_, _ = log.Write([]byte("broken\n"))
	assert.EqualValues(t, 1, log.fetched.Load())
	assert.EqualValues(t, 2, log.packages.Load())
	assert.Equal(t, "# github.com/a/c\nc.go:1:1: broken", log.tail())
	var out bytes.Buffer
	log.report(&out)()
	assert.Empty(t, out.String(), "nothing to say before ten seconds have passed")
}

// TestPinIsOne keeps the version of the CLI, the module it is built from and the SDK equal.
func TestPinIsOne(t *testing.T) {
	t.Parallel()
	root, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	sdk := regexp.MustCompile(`(?m)github.com/pulumi/pulumi/sdk/v3 v(\S+)`)
	pkg := regexp.MustCompile(`(?m)github.com/pulumi/pulumi/pkg/v3 v(\S+)`)
	for what, match := range map[string][][]byte{
		"SDK in the root go.mod": sdk.FindSubmatch(root),
		"SDK in pulumi.mod":      sdk.FindSubmatch(pulumiMod),
		"pkg in pulumi.mod":      pkg.FindSubmatch(pulumiMod),
	} {
		require.Len(t, match, 2, what)
		assert.Equal(t, Version, string(match[1]), what)
	}
	assert.Contains(t, string(pulumiMod), "tool "+cliPackage)
	assert.Contains(t, string(pulumiSum), "github.com/pulumi/pulumi/pkg/v3 v"+Version+" h1:")
}

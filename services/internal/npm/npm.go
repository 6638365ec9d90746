// Package npm installs programs of the npm registry for tests, from a lock file that
// pins each package by its digest. It keeps them in the user's cache, so that one
// installation serves all tests and runs. Nothing but tests needs Node.
package npm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// EnvRequire makes a test fail, instead of being skipped, where Node is missing.
const EnvRequire = "ONEDOOR_REQUIRE_NODE"

// envCache is a directory to use instead of onedoor/ in the user's cache directory.
const envCache = "ONEDOOR_CACHE"

// patience is how long an installation may take; it is half a minute on two cores.
const patience = 5 * time.Minute

// Project returns a directory in which `npm ci` has installed the package.json and
// package-lock.json of lock. Without Node the test is skipped; without the packages,
// and without a registry to fetch them from, it fails.
func Project(t testing.TB, name string, lock fs.FS) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		message := fmt.Sprintf("%s is not judged here: %s is not on PATH; fix: install Node 20 or later", name, program)
		if os.Getenv(EnvRequire) != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir, err := install(ctx, name, lock)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return dir
}

// install returns the directory of the cache that belongs to the lock file. It is
// complete as soon as it is there: it is renamed to its name.
func install(ctx context.Context, name string, lock fs.FS) (dir string, err error) {
	files := map[string][]byte{}
	sum := sha256.New()
	for _, file := range []string{"package.json", "package-lock.json"} {
		if files[file], err = fs.ReadFile(lock, file); err != nil {
			return "", err
		}
		sum.Write(files[file])
	}
	user, err := os.UserCacheDir()
	if err != nil && os.Getenv(envCache) == "" {
		return "", fmt.Errorf("no cache directory: %w; fix: set %s", err, envCache)
	}
	cache := filepath.Join(cmp.Or(os.Getenv(envCache), filepath.Join(user, "onedoor")), "npm")
	dir = filepath.Join(cache, name+"-"+hex.EncodeToString(sum.Sum(nil)[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	// Packages are tested at the same time; one of them installs.
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(cache, name+"-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(work, file), text, 0o644); err != nil {
			return "", err
		}
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	command.Dir = work
	if out, err := command.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("npm ci: %w", err), errors.New(string(out)))
	}
	return dir, os.Rename(work, dir)
}

// Command judges builds the programs that tests/judges asks: Kubernetes itself,
// Pulumi's provider for it, and KEDA, each from the module beside this file that
// pins it. What was built before is used again.
//
//	judges [NAME...]
//
// It shows progress on the standard error and prints the path of each program,
// NAME=PATH, a line each.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "judges:", err)
		os.Exit(1)
	}
}

// program is one judge.
type program struct {
	name    string
	module  string // folder of its module, here
	pkg     string // its main package
	version string // what it says that it is, if its build does not know; a flag of the linker
}

// programs are all judges.
var programs = []program{
	{name: "kubernetes", module: "kubernetes", pkg: ".", version: "-X k8s.io/component-base/version.gitVersion=v1.34.2"},
	{name: "keda-operator", module: "keda", pkg: "github.com/kedacore/keda/v2/cmd/operator"},
	{name: "keda-adapter", module: "keda", pkg: "github.com/kedacore/keda/v2/cmd/adapter"},
	{name: "keda-webhooks", module: "keda", pkg: "github.com/kedacore/keda/v2/cmd/webhooks"},
	{name: "provider", module: "provider", pkg: "."},
}

// run builds the named programs, or all.
func run(ctx context.Context, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.name == name }) {
			return fmt.Errorf("program %q: want one of %s", name, known())
		}
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	for _, p := range programs {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		path, err := p.build(ctx, cache)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("%s=%s\n", p.name, path)
	}
	return nil
}

func known() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

// cacheEnv names a directory to use instead of onedoor/ in the user's cache
// directory, for the judges as for the Pulumi CLI.
const cacheEnv = "ONEDOOR_CACHE"

// cacheDir is where programs are kept.
func cacheDir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil && os.Getenv(cacheEnv) == "" {
		return "", fmt.Errorf("no cache directory: %w; set %s", err, cacheEnv)
	}
	return filepath.Join(cmp.Or(os.Getenv(cacheEnv), filepath.Join(user, "onedoor")), "judges"), nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"onedoor/cmd/docs"
	"onedoor/cmd/embedded"
	"onedoor/internal/reach"
)

// docs writes the pages that follow from the code.
func (at screen) docs() *cobra.Command {
	check := false
	c := &cobra.Command{
		Use:   "docs",
		Short: "Write the pages of the documentation that follow from the code",
		Long: "docs writes docs/reference, docs/rules and the picture of the README from the code: the comments\n" +
			"and checks of the configuration, the help of these commands, the tables of flows, alerts and\n" +
			"refusals, and previews of dev and prod. With --check it writes nothing, and ends with 1 when a\n" +
			"page is stale or belongs to nothing. It needs the source of the project.",
		Example: "  onedoor docs\n  onedoor docs --check",
		Args:    noArguments("it writes all pages"),
		RunE: func(c *cobra.Command, _ []string) error {
			project, err := findProject(at.dir)
			if err != nil {
				return err
			}
			if _, err := os.Stat(filepath.Join(project, "stacks", "keys.go")); err != nil {
				return usageError{fmt.Errorf("%s holds no source of onedoor, whose comments the pages are made of; run it in a checkout", project)}
			}
			plans := map[string][]reach.Resource{}
			for _, stack := range []string{"dev", "prod"} {
				if plans[stack], err = at.undisputed(c.Context(), project, stack); err != nil {
					return err
				}
			}
			pages, err := at.pages(project, plans["dev"], plans["prod"]).Files()
			if err != nil {
				return err
			}
			stale, err := staleIn(project, pages)
			if err != nil {
				return err
			}
			switch {
			case len(stale) == 0:
				fmt.Fprintf(at.stdout, "%d pages are what the code says.\n%s\n", len(pages), simulated)
				return nil
			case check:
				for _, name := range stale {
					fmt.Fprintf(at.stdout, "stale: %s\n", name)
				}
				return usageError{fmt.Errorf("%d of %d pages are not what the code says; onedoor docs writes them", len(stale), len(pages))}
			}
			if err := writePages(project, pages, stale); err != nil {
				return err
			}
			fmt.Fprintf(at.stdout, "%d of %d pages written anew.\n%s\n", len(stale), len(pages), simulated)
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing, and end with 1 when a page is stale")
	return c
}

// pages is what the pages are made of.
func (at screen) pages(project string, dev, prod []reach.Resource) docs.Sources {
	return docs.Sources{Project: project, Dev: dev, Prod: prod, Packs: embedded.Packs(), Commands: at.root(), Exits: exits}
}

// undisputed is the plan of a stack, without what policies say of it.
func (at screen) undisputed(ctx context.Context, project, name string) ([]reach.Resource, error) {
	s, err := findStack(project, name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(at.stderr, "OneDoor docs: a preview of %s. %s\n", name, simulated)
	home, err := os.MkdirTemp("", "onedoor-docs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	// A home of its own: what stands in the simulated cloud of this project must not
	// show in the pages.
	session := &embedded.Session{Dir: s.dir, StackFile: s.file, Stack: s.name, Home: home, Progress: at.stderr, WithoutPolicies: true}
	result, err := session.Preview(ctx)
	if err != nil {
		return nil, err
	}
	return planned(result.Resources), nil
}

// generated are the folders that hold pages of the code alone.
var generated = []string{"docs/reference", "docs/rules"}

// staleIn are the pages that differ from their files, and the files that no page
// belongs to, sorted.
func staleIn(project string, pages map[string][]byte) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		have, err := os.ReadFile(filepath.Join(project, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if !bytes.Equal(have, pages[name]) {
			out = append(out, name)
		}
	}
	for _, dir := range generated {
		files, err := os.ReadDir(filepath.Join(project, filepath.FromSlash(dir)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, file := range files {
			if name := dir + "/" + file.Name(); pages[name] == nil {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// writePages writes stale pages and removes files that no page belongs to.
func writePages(project string, pages map[string][]byte, stale []string) error {
	for _, name := range stale {
		file := filepath.Join(project, filepath.FromSlash(name))
		if pages[name] == nil {
			if err := os.Remove(file); err != nil {
				return err
			}
			continue
		}
		if err := writeFiles(map[string][]byte{file: pages[name]}); err != nil {
			return err
		}
	}
	return nil
}

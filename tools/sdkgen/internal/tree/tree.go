// Package tree makes a folder equal to a set of files.
package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Result counts what Sync did.
type Result struct{ Written, Unchanged, Removed int }

// Sync makes the sub-folders of dir equal to files (slash-separated path to
// content): it writes what differs and removes every other file below a
// sub-folder. Files directly in dir are left alone; they belong to others.
func Sync(dir string, files map[string][]byte) (Result, error) {
	var result Result
	stale, err := below(dir)
	if err != nil {
		return result, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) || filepath.Dir(filepath.FromSlash(name)) == "." {
			return result, fmt.Errorf("%s: not a file in a sub-folder of %s", name, dir)
		}
		delete(stale, name)
		path := filepath.Join(dir, filepath.FromSlash(name))
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, files[name]) {
			result.Unchanged++
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return result, err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return result, err
		}
		result.Written++
	}
	for _, name := range slices.Sorted(maps.Keys(stale)) {
		if err := remove(dir, name); err != nil {
			return result, err
		}
		result.Removed++
	}
	return result, nil
}

// below returns the slash-separated paths of all files in sub-folders of dir.
func below(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == dir && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !entry.IsDir() && filepath.Dir(name) != "." {
			names[filepath.ToSlash(name)] = true
		}
		return nil
	})
	return names, err
}

// remove deletes a file and the folders that it leaves empty.
func remove(dir, name string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.Remove(path); err != nil {
		return err
	}
	for path = filepath.Dir(path); path != filepath.Clean(dir); path = filepath.Dir(path) {
		left, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return nil
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

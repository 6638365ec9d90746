// Package npm fetches and reads packages of the Node.js package registry.
package npm

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// Pack downloads a package into dir with the user's npm and returns the path of
// the archive.
func Pack(ctx context.Context, name, version, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", "pack", name+"@"+version, "--pack-destination", dir, "--loglevel", "error")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && len(exit.Stderr) > 0 {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("%s: %w", cmd, err)
	}
	lines := strings.Fields(string(out))
	if len(lines) == 0 {
		return "", fmt.Errorf("%s: it names no archive", cmd)
	}
	return filepath.Join(dir, filepath.Base(lines[len(lines)-1])), nil
}

// Read returns the files of a package archive that keep asks for, by their
// path inside of the package.
func Read(archive io.Reader, keep func(path string) bool) (map[string]string, error) {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return nil, fmt.Errorf("package archive: %w", err)
	}
	files := map[string]string{}
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("package archive: %w", err)
		}
		path := strings.TrimPrefix(header.Name, "package/")
		if header.Typeflag != tar.TypeReg || !keep(path) {
			continue
		}
		content, err := io.ReadAll(entries)
		if err != nil {
			return nil, fmt.Errorf("package archive: %s: %w", path, err)
		}
		files[path] = string(content)
	}
}

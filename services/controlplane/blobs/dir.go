package blobs

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir holds blobs as files of a directory, for one machine.
type Dir string

const (
	temporary = ".writing-" // begins names of files that are not blobs yet
	data      = ".blob"     // ends those that are, so that a blob may be named as a directory of others
)

func (d Dir) path(container, name string) (string, error) {
	if !filepath.IsLocal(name) || !filepath.IsLocal(container) {
		return "", fmt.Errorf("blobs: name %q in container %q, want one within it", name, container)
	}
	return filepath.Join(string(d), container, name+data), nil
}

// Write implements Store.
func (d Dir) Write(_ context.Context, container, name string, r io.Reader) (Info, error) {
	path, err := d.path(container, name)
	if err != nil {
		return Info{}, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Info{}, fmt.Errorf("blobs: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return Info{}, fmt.Errorf("blobs: %w", err)
	}
	defer os.Remove(file.Name())
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), r)
	if err = errors.Join(err, file.Close()); err != nil {
		return Info{}, fmt.Errorf("blobs: write %s/%s: %w", container, name, err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return Info{}, fmt.Errorf("blobs: %w", err)
	}
	return Info{Name: name, Size: size, ETag: `"` + hex.EncodeToString(sum.Sum(nil)[:8]) + `"`}, nil
}

// section is a part of a file, closed with it.
type section struct {
	io.Reader
	io.Closer
}

// Read implements Store.
func (d Dir) Read(_ context.Context, container, name string, offset, length int64) (io.ReadCloser, error) {
	path, err := d.path(container, name)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("blobs: %w", err), file.Close())
	}
	if length < 0 {
		return file, nil
	}
	return section{io.LimitReader(file, length), file}, nil
}

// Stat implements Store. The ETag is of the content.
func (d Dir) Stat(ctx context.Context, container, name string) (Info, error) {
	in, err := d.Read(ctx, container, name, 0, -1)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = in.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, in)
	if err != nil {
		return Info{}, fmt.Errorf("blobs: %w", err)
	}
	return Info{Name: name, Size: size, ETag: `"` + hex.EncodeToString(sum.Sum(nil)[:8]) + `"`}, nil
}

// Delete implements Store.
func (d Dir) Delete(_ context.Context, container, name string) error {
	path, err := d.path(container, name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blobs: %w", err)
	}
	return nil
}

// List implements Store. ETags are left out.
func (d Dir) List(_ context.Context, container, prefix string) ([]Info, error) {
	root := filepath.Join(string(d), container)
	var out []Info
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == root {
			return filepath.SkipAll
		}
		if err != nil {
			return err
		}
		name, is := strings.CutSuffix(strings.TrimPrefix(path, root+string(filepath.Separator)), data)
		if e.IsDir() || !is || !strings.HasPrefix(filepath.ToSlash(name), prefix) {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		out = append(out, Info{Name: filepath.ToSlash(name), Size: info.Size()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("blobs: list %s/%s: %w", container, prefix, err)
	}
	slices.SortFunc(out, func(x, y Info) int { return cmp.Compare(x.Name, y.Name) })
	return out, nil
}

package embedded

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// untar writes the files of an archive below dir. Links and other special files are
// refused: a repository may come from anybody.
func untar(archive []byte, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeXGlobalHeader: // git writes the commit there
			continue
		case h.Typeflag == tar.TypeDir:
			if err := root.MkdirAll(filepath.Clean(h.Name), 0o755); err != nil {
				return err
			}
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%s: neither a file nor a directory; such are not taken from a commit", h.Name)
		}
		if err := writeTo(root, h, reader); err != nil {
			return err
		}
	}
}

func writeTo(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.Clean(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(h.Mode).Perm()) //nolint:gosec // the bits of a mode
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

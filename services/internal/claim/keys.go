package claim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// minKey is the least length of a key in bytes: that of the hash which it keys.
// https://www.rfc-editor.org/rfc/rfc2104#section-3
const minKey = 32

// Keys is the directory of the keys: a file for each, named by its id. A key is
// valid for as long as its file is there. Files come and change while a program
// runs, so a key is read whenever it is needed.
type Keys string

// errNoKey says that there is no key of an id, which is final; every other error
// of read may pass.
var errNoKey = errors.New("there is no such key")

// read reads the key of an id. White space around it is not part of it.
func (k Keys) read(id string) ([]byte, error) {
	if !keyName.MatchString(id) {
		return nil, fmt.Errorf("key %q: %w", cut(id), errNoKey)
	}
	text, err := os.ReadFile(filepath.Join(string(k), id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key %s: %w", id, errNoKey)
	}
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", id, err)
	}
	key := bytes.TrimSpace(text)
	if len(key) < minKey {
		return nil, fmt.Errorf("key %s: %d bytes, want at least %d", id, len(key), minKey)
	}
	return key, nil
}

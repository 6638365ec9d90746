// Package ring owns the keys that prove work: where they are, and what they prove.
// Which text is proven belongs to whoever asks.
package ring

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// minKey is the least length of a key in bytes: that of the hash which it keys.
// https://www.rfc-editor.org/rfc/rfc2104#section-3
const minKey = 32

// Ring is the directory of the keys: a file for each, named by its id. A key is valid
// for as long as its file is there. Files come and change while a program runs, so a
// key is read whenever it is needed. White space around it is not part of it.
type Ring string

// ErrNoKey says that there is no key of an id, which is final; every other error may
// pass.
var ErrNoKey = errors.New("there is no such key")

// keyID is what ids of keys are, and so no path.
var keyID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// IsID tells whether a key may have that id: 1 to 64 letters, digits and dashes.
func IsID(id string) bool { return keyID.MatchString(id) }

// Proof is what only a holder of the key of that id can make of a text: HMAC-SHA256 in
// base64url without padding. Each kind of text begins otherwise than all others that
// the keys prove.
func (r Ring) Proof(id string, text []byte) (string, error) {
	key, err := r.key(id)
	if err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)), nil
}

// Proves tells whether a proof of that text was made with the key of that id.
func (r Ring) Proves(id string, text []byte, proof string) (bool, error) {
	want, err := r.Proof(id, text)
	return err == nil && hmac.Equal([]byte(proof), []byte(want)), err
}

func (r Ring) key(id string) ([]byte, error) {
	if !IsID(id) {
		return nil, fmt.Errorf("ids of keys have 1 to 64 letters, digits and dashes: %w", ErrNoKey)
	}
	text, err := os.ReadFile(filepath.Join(string(r), id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key %s: %w", id, ErrNoKey)
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

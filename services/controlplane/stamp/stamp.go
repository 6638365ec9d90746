// Package stamp owns the mark that the control plane leaves on every job of the
// account. By it a job is found again whose making was not answered, and a job that
// somebody else has made is told from ours.
package stamp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Stamp says which attempt at which part of which job it is.
type Stamp struct {
	Tenant  string
	Job     string
	Part    int
	Attempt int
}

// String is the stamp as metadata carry it.
func (s Stamp) String() string { return fmt.Sprintf("%s.%s.%d.%d", s.Tenant, s.Job, s.Part, s.Attempt) }

func parse(text string) (Stamp, bool) {
	fields := strings.Split(text, ".")
	if len(fields) != 4 {
		return Stamp{}, false
	}
	part, err1 := strconv.Atoi(fields[2])
	attempt, err2 := strconv.Atoi(fields[3])
	s := Stamp{fields[0], fields[1], part, attempt}
	return s, err1 == nil && err2 == nil && s.String() == text
}

// The metadata of a stamped job.
const (
	idKey  = "onedoor_id"
	keyKey = "onedoor_key" // id of the key of the MAC
	macKey = "onedoor_mac" // HMAC-SHA256 in base64url
)

// Ring makes and knows stamps, with the keys in a directory: one file each, named
// by its id. They change while a program runs, so they are read each time.
type Ring struct {
	Dir     string
	Signing string // id of the key that new stamps are made with
}

// keyName is what an id of a key may be, and so no path.
var keyName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// minKey is the least length of a key in bytes: that of the hash.
const minKey = 32

func (r Ring) key(id string) ([]byte, error) {
	if !keyName.MatchString(id) {
		return nil, os.ErrNotExist
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, id))
	if err != nil {
		return nil, fmt.Errorf("stamp: key %s: %w", id, err)
	}
	key := bytes.TrimSpace(text)
	if len(key) < minKey {
		return nil, fmt.Errorf("stamp: key %s has %d bytes, want at least %d", id, len(key), minKey)
	}
	return key, nil
}

func mac(key []byte, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("onedoor stamp 1\n" + text)) // no other MAC of these keys begins so
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Metadata carry the stamp.
func (r Ring) Metadata(s Stamp) (map[string]string, error) {
	key, err := r.key(r.Signing)
	if err != nil {
		return nil, err
	}
	return map[string]string{idKey: s.String(), keyKey: r.Signing, macKey: mac(key, s.String())}, nil
}

// Read is the stamp in metadata, if there is one and it is ours. An error says that
// a key could not be read, and so nobody knows.
func (r Ring) Read(metadata map[string]string) (Stamp, bool, error) {
	s, ok := parse(metadata[idKey])
	if !ok {
		return Stamp{}, false, nil
	}
	key, err := r.key(metadata[keyKey])
	if errors.Is(err, os.ErrNotExist) {
		return Stamp{}, false, nil
	}
	if err != nil {
		return Stamp{}, false, err
	}
	return s, hmac.Equal([]byte(metadata[macKey]), []byte(mac(key, s.String()))), nil
}

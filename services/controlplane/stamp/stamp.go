// Package stamp owns the mark that the control plane leaves on every job of the
// account. By it a job is found again whose making was not answered, and a job that
// somebody else has made is told from ours.
package stamp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"onedoor/services/internal/ring"
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

// Stamps makes and knows stamps.
type Stamps struct {
	Keys    ring.Ring
	Signing string // id of the key that new stamps are made with
}

// text is what the MAC of a stamp proves.
func (s Stamp) text() []byte { return []byte("onedoor stamp 1\n" + s.String()) }

// Metadata carry the stamp.
func (m Stamps) Metadata(s Stamp) (map[string]string, error) {
	mac, err := m.Keys.Proof(m.Signing, s.text())
	if err != nil {
		return nil, fmt.Errorf("stamp: %w", err)
	}
	return map[string]string{idKey: s.String(), keyKey: m.Signing, macKey: mac}, nil
}

// Read is the stamp in metadata, and whether a key that is valid proves it to be ours.
// An error says that a key could not be read, and so nobody knows.
func (m Stamps) Read(metadata map[string]string) (Stamp, bool, error) {
	s, ok := parse(metadata[idKey])
	if !ok {
		return Stamp{}, false, nil
	}
	ours, err := m.Keys.Proves(metadata[keyKey], s.text(), metadata[macKey])
	switch {
	case errors.Is(err, ring.ErrNoKey):
		return s, false, nil
	case err != nil:
		return Stamp{}, false, fmt.Errorf("stamp: %w", err)
	}
	return s, ours, nil
}

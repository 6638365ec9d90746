package claim

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// domain separates these MACs from all others that the keys may ever make.
const domain = "onedoor claim 1"

// Sign proves the message with the key of that id, and returns it as the bus
// carries it. Version, Key and MAC are set here.
func Sign(m Message, keys Keys, id string) ([]byte, error) {
	m.Version, m.Key, m.MAC = Version, id, ""
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	key, err := keys.read(id)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	m.MAC = m.mac(key)
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("claim: %w: %d bytes, want at most %d; shorten the blob's name", ErrTooLarge, len(data), MaxBytes)
	}
	return data, nil
}

// Verify reads a message from the bus. What it returns was signed by a holder of
// one of the keys. The error is one of ErrTooLarge, ErrMalformed and ErrNotProven
// with what is wrong, or, when the key itself cannot be read now, none of them.
func Verify(data []byte, keys Keys) (Message, error) {
	if len(data) > MaxBytes {
		return Message{}, fmt.Errorf("%w: %d bytes, want at most %d", ErrTooLarge, len(data), MaxBytes)
	}
	var m Message
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // the MAC would not cover them
	if err := decoder.Decode(&m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Message{}, fmt.Errorf("%w: more than one JSON value", ErrMalformed)
	}
	if m.Version != Version {
		return Message{}, fmt.Errorf("%w: version: got %d, want %d", ErrMalformed, m.Version, Version)
	}
	if !keyName.MatchString(m.Key) {
		return Message{}, fmt.Errorf("%w: no key is named", ErrNotProven)
	}
	key, err := keys.read(m.Key)
	if errors.Is(err, errNoKey) {
		return Message{}, fmt.Errorf("%w: %w", ErrNotProven, err)
	}
	if err != nil {
		return Message{}, err
	}
	if !hmac.Equal([]byte(m.MAC), []byte(m.mac(key))) {
		return Message{}, fmt.Errorf("%w: the MAC is not that of key %s", ErrNotProven, m.Key)
	}
	if err := m.check(); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return m, nil
}

// mac is the HMAC-SHA256 of all fields, as messages carry it. Each field has its
// length before it, so that no two messages are the same bytes.
func (m Message) mac(key []byte) string {
	h := hmac.New(sha256.New, key)
	text := []byte(domain)
	for _, f := range m.fields() {
		text = binary.AppendUvarint(text, uint64(len(f.value)))
		text = append(text, f.value...)
	}
	h.Write(text)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

package claim

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"onedoor/services/internal/ring"
)

// domain begins what these MACs prove, and nothing else that the keys ever prove.
const domain = "onedoor claim 1"

// Sign proves the message with the key of that id, and returns it as the bus
// carries it. Version, Key and MAC are set here.
func Sign(m Message, keys ring.Ring, id string) ([]byte, error) {
	m.Version, m.Key, m.MAC = Version, id, ""
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	var err error
	if m.MAC, err = keys.Proof(id, m.text()); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
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
func Verify(data []byte, keys ring.Ring) (Message, error) {
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
	proven, err := keys.Proves(m.Key, m.text(), m.MAC)
	switch {
	case errors.Is(err, ring.ErrNoKey):
		return Message{}, fmt.Errorf("%w: %w", ErrNotProven, err)
	case err != nil:
		return Message{}, err
	case !proven:
		return Message{}, fmt.Errorf("%w: the MAC is not that of key %s", ErrNotProven, m.Key)
	}
	if err := m.check(); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return m, nil
}

// text is what the MAC proves: all fields. Each has its length before it, so that no
// two messages are the same bytes.
func (m Message) text() []byte {
	text := []byte(domain)
	for _, f := range m.fields() {
		text = binary.AppendUvarint(text, uint64(len(f.value)))
		text = append(text, f.value...)
	}
	return text
}

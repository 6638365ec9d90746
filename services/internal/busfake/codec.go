package busfake

import (
	"encoding/binary"
	"errors"

	"github.com/Azure/go-amqp"
)

// Codes of the composite types that a broker speaks.
// https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-transport-v1.0-os.html
const (
	codeOpen, codeBegin, codeAttach, codeFlow, codeTransfer, codeDisposition, codeDetach, codeEnd, codeClose = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18

	codeError                                                   = 0x1d
	codeAccepted, codeRejected, codeReleased, codeModified      = 0x24, 0x25, 0x26, 0x27
	codeSource, codeTarget                                      = 0x28, 0x29
	codeSASLMechanisms, codeSASLInit, codeSASLOutcome           = 0x40, 0x41, 0x44
	described, smallUlong, null, list0, list8, list32      byte = 0x00, 0x53, 0x40, 0x45, 0xc0, 0xd0
)

var errShort = errors.New("value is cut short")

// encoded is a value in its encoding.
type encoded []byte

// encode encodes a value as AMQP. go-amqp encodes whole messages only, so this is
// the body of one.
func encode(v any) encoded {
	switch v := v.(type) {
	case nil:
		return encoded{null}
	case encoded:
		return v
	}
	data, err := (&amqp.Message{Value: v}).MarshalBinary()
	if err != nil {
		panic(err) // a type that this package should not have passed
	}
	return data[3:] // after the code of the body's section
}

// composite encodes a composite type with its fields.
func composite(code byte, fields ...any) encoded {
	var items []byte
	for _, f := range fields {
		items = append(items, encode(f)...)
	}
	out := encoded{described, smallUlong, code, list32}
	out = binary.BigEndian.AppendUint32(out, uint32(len(items)+4))
	out = binary.BigEndian.AppendUint32(out, uint32(len(fields)))
	return append(out, items...)
}

// performative is a composite type that was received.
type performative struct {
	code   byte
	fields []encoded
}

// parse reads a composite type, and returns what follows it.
func parse(b []byte) (performative, []byte, error) {
	if len(b) < 4 || b[0] != described || b[1] != smallUlong {
		return performative{}, nil, errors.New("not a composite type with a small code")
	}
	n, err := size(b[3:])
	if err != nil {
		return performative{}, nil, err
	}
	p, list := performative{code: b[2]}, b[3:3+n]
	switch {
	case list[0] == list0:
		list = nil
	case list[0] == list8 && len(list) >= 3:
		list = list[3:]
	case list[0] == list32 && len(list) >= 9:
		list = list[9:]
	default:
		return performative{}, nil, errors.New("fields are not a list")
	}
	for len(list) > 0 {
		k, err := size(list)
		if err != nil {
			return performative{}, nil, err
		}
		p.fields = append(p.fields, list[:k])
		list = list[k:]
	}
	return p, b[3+n:], nil
}

// size is how many bytes the value at the start of b has. The upper half of its
// first byte says how it is encoded.
func size(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, errShort
	}
	var n int
	switch b[0] >> 4 {
	case 0x0:
		kind, err := size(b[1:])
		if err != nil {
			return 0, err
		}
		value, err := size(b[1+kind:])
		if err != nil {
			return 0, err
		}
		n = 1 + kind + value
	case 0x4:
		n = 1
	case 0x5:
		n = 2
	case 0x6:
		n = 3
	case 0x7:
		n = 5
	case 0x8:
		n = 9
	case 0x9:
		n = 17
	case 0xa, 0xc, 0xe:
		if len(b) < 2 {
			return 0, errShort
		}
		n = 2 + int(b[1])
	case 0xb, 0xd, 0xf:
		if len(b) < 5 {
			return 0, errShort
		}
		n = 5 + int(binary.BigEndian.Uint32(b[1:]))
	default:
		return 0, errors.New("unknown type")
	}
	if n > len(b) {
		return 0, errShort
	}
	return n, nil
}

// raw is a field in its encoding; nil when it is missing.
func (p performative) raw(i int) encoded {
	if i >= len(p.fields) || p.fields[i][0] == null {
		return nil
	}
	return p.fields[i]
}

// value is a field of a primitive type; nil when it is missing.
func (p performative) value(i int) any {
	raw := p.raw(i)
	if raw == nil {
		return nil
	}
	var m amqp.Message
	if err := m.UnmarshalBinary(append([]byte{described, smallUlong, 0x77}, raw...)); err != nil {
		return nil
	}
	return m.Value
}

func (p performative) text(i int) string {
	switch v := p.value(i).(type) {
	case string:
		return v
	case amqp.Symbol:
		return string(v)
	}
	return ""
}

func (p performative) number(i int) uint32 {
	n, _ := p.value(i).(uint32)
	return n
}

func (p performative) yes(i int) bool {
	b, _ := p.value(i).(bool)
	return b
}

// part is a field of a composite type; zero when it is missing.
func (p performative) part(i int) performative {
	inner, _, _ := parse(p.raw(i))
	return inner
}

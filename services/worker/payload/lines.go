package payload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"

	"onedoor/internal/capacity"
)

// maxLine is the most that a line has, in bytes.
const maxLine = capacity.LeastItemMiB << 20

// customID is what an item of many may be called: a part of keys and headers.
var customID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`)

// Lines reads a payload of many items, one after another: it is never held whole.
type Lines struct {
	maker Maker
	r     *bufio.Reader
	seen  map[string]bool
	n     int
}

// Lines returns a reader of the items. MaxBytes is not their limit: they are read one
// after another.
func (m Maker) Lines(body io.Reader) *Lines {
	return &Lines{maker: m, r: bufio.NewReaderSize(outside{body}, 64<<10), seen: map[string]bool{}}
}

// outside marks errors of where the payload is read from.
type outside struct{ r io.Reader }

func (o outside) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &ReadError{err}
	}
	return n, err
}

// line is one line of many, as OpenAI's batch files have them.
type line struct {
	ID   string          `json:"custom_id"`
	Body json.RawMessage `json:"body"`
}

// Next is the next item, or io.EOF. An error that is an *Error with an Item that has
// an ID is about that item alone; any other is about the whole payload.
func (l *Lines) Next() (Item, error) {
	for {
		text, err := l.line()
		if err != nil {
			return Item{}, err
		}
		l.n++
		if len(text) == 0 {
			continue
		}
		var one line
		if err := json.Unmarshal(text, &one); err != nil {
			return Item{}, bad(Malformed, "line %d: not a JSON object: %s", l.n, place(err))
		}
		if !customID.MatchString(one.ID) {
			return Item{}, bad(Malformed, "line %d: custom_id: want 1 to 128 letters, digits, dots, dashes, underscores and colons", l.n)
		}
		if l.seen[one.ID] {
			return Item{}, bad(Malformed, "line %d: custom_id is that of another line", l.n)
		}
		l.seen[one.ID] = true
		item, err := l.maker.request(one.Body, nil)
		item.ID = one.ID
		return item, err
	}
}

// line is the next line, without what ends it.
func (l *Lines) line() ([]byte, error) {
	var text []byte
	for {
		part, err := l.r.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return nil, bad(TooLarge, "line %d: more than %d bytes", l.n+1, maxLine)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(text) > 0, err == nil:
			return bytes.TrimSpace(text), nil
		default:
			return nil, err
		}
	}
}

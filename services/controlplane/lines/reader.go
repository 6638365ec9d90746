package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest line in bytes. Azure names no limit; this one bounds the
// memory of a reader.
const MaxLine = 16 << 20

// ErrLong says that a line is longer than MaxLine. The next one can be read all the
// same.
var ErrLong = errors.New("line is too long")

// Reader hands out the lines of a file, one at a time.
type Reader struct {
	in   *bufio.Reader
	long []byte // a line that does not fit in the buffer of in

	Offset int64 // of the line that Next returned, in bytes
	Length int64 // of it with its line break
	next   int64
	within bool // a line that was too long, whose end has not been read
}

// NewReader reads the lines of r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, 1<<20)} }

// Next is the next line without its line break. It is valid until the next call.
// The error is io.EOF after the last one.
func (r *Reader) Next() ([]byte, error) {
	if err := r.skip(); err != nil {
		return nil, err
	}
	r.Offset = r.next
	r.long = r.long[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.next += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(r.long)+len(part) > MaxLine {
				r.within = true
				return nil, ErrLong
			}
			r.long = append(r.long, part...)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		r.Length = r.next - r.Offset
		if r.Length == 0 {
			return nil, io.EOF
		}
		if len(r.long) > 0 {
			r.long = append(r.long, part...)
			part = r.long
		}
		if len(part) > MaxLine {
			return nil, ErrLong
		}
		return bytes.TrimRight(part, "\r\n"), nil
	}
}

// skip reads to the end of a line that was too long.
func (r *Reader) skip() error {
	for r.within {
		part, err := r.in.ReadSlice('\n')
		r.next += int64(len(part))
		r.within = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !r.within && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

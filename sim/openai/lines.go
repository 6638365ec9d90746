package openai

import (
	"bufio"
	"errors"
	"io"

	"onedoor/sim/openai/core"
)

// chunk is how much of a file is in memory at a time, but for a line that is longer.
const chunk = 64 << 10

// eachLine calls f for each line, without its end; the last may lack one. A line
// longer than longest bytes is cut, and the rest of it skipped. The line is valid
// during the call only; at is where it begins.
func eachLine(r io.Reader, longest int, f func(line []byte, at int64, cut bool) error) error {
	in := bufio.NewReaderSize(r, chunk)
	var long []byte // what has been read of a line that spans buffers
	at, size, cut := int64(0), int64(0), false
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		line := part
		if len(long) > 0 || !ended {
			if room := longest - len(long); len(part) > room {
				part, cut = part[:room], true
			}
			long = append(long, part...)
			line = long
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case ended || size > 0:
			if err := f(line, at, cut); err != nil {
				return err
			}
		}
		if !ended {
			return nil
		}
		at, size, cut, long = at+size, 0, false, long[:0]
	}
}

// errTooLarge ends the reading of a file above the limit.
var errTooLarge = errors.New("the file is too large")

// counter counts what is written, and stops above a limit.
type counter struct {
	size, limit int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	if c.limit > 0 && c.size > c.limit {
		return 0, errTooLarge
	}
	return len(p), nil
}

// scanTo writes content to the store under a name and scans it on the way. On an
// error nothing stays in the store.
func scanTo(store Store, name string, content io.Reader, limits core.Limits, rules core.Rules) (scan *core.Scan, err error) {
	out, err := store.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			err = errors.Join(err, store.Remove(name))
		}
	}()
	size := &counter{limit: limits.FileBytes}
	scanner := core.NewScanner(limits, rules)
	in := io.TeeReader(content, io.MultiWriter(size, out))
	err = eachLine(in, limits.LineBytes, func(line []byte, _ int64, cut bool) error {
		scanner.Line(line, cut)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return scanner.Done(size.size), nil
}

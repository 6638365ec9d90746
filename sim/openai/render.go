package openai

import (
	"bufio"
	"errors"
	"io"
	"math"

	"onedoor/sim/openai/core"
)

// render writes the results of a job and tells their sizes. It holds where the lines
// of the input begin, and one line.
func render(store Store, rules core.Rules, r *core.Render) (sizes map[string]int64, err error) {
	in, size, err := store.Open(r.Input)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var starts []int64
	if err := eachLine(in, math.MaxInt, func(_ []byte, at int64, _ bool) error {
		starts = append(starts, at)
		return nil
	}); err != nil {
		return nil, err
	}
	starts = append(starts, size)
	outputs := [2]*result{}
	for i, name := range []string{r.Output, r.Errors} {
		if name == "" {
			continue
		}
		out, err := newResult(store, name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, out.close()) }()
		outputs[i] = out
	}
	var line []byte
	for _, row := range r.Rows {
		line = append(line[:0], make([]byte, starts[row+1]-starts[row])...)
		if _, err := in.ReadAt(line, starts[row]); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		times, answer, failed, err := r.Line(rules, row, line)
		if err != nil {
			return nil, err
		}
		to := outputs[0]
		if failed {
			to = outputs[1]
		}
		for range times {
			if err := to.line(answer); err != nil {
				return nil, err
			}
		}
	}
	sizes = map[string]int64{}
	for _, out := range outputs {
		if out != nil {
			sizes[out.name] = out.size
		}
	}
	return sizes, nil
}

// result is one content that is being written.
type result struct {
	name string
	size int64
	to   io.WriteCloser
	buf  *bufio.Writer
}

func newResult(store Store, name string) (*result, error) {
	to, err := store.Create(name)
	if err != nil {
		return nil, err
	}
	return &result{name: name, to: to, buf: bufio.NewWriterSize(to, chunk)}, nil
}

func (r *result) line(line []byte) error {
	r.size += int64(len(line)) + 1
	_, err := r.buf.Write(line)
	return errors.Join(err, r.buf.WriteByte('\n'))
}

func (r *result) close() error { return errors.Join(r.buf.Flush(), r.to.Close()) }

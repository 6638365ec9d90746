package lines

import (
	"errors"
	"fmt"
	"io"
)

// Rename copies lines that Check has passed, with the model named as Azure knows
// it. It is what happens to a part on its way to Azure.
func Rename(in io.Reader, out io.Writer, deployment string) error {
	var buf []byte
	return Each(in, func(l Line, raw []byte, _ *Reader) error {
		buf = append(l.Name(buf[:0], raw, deployment), '\n')
		_, err := out.Write(buf)
		return err
	})
}

// Each calls f with every line of what Check has passed.
func Each(in io.Reader, f func(l Line, raw []byte, at *Reader) error) error {
	reader := NewReader(in)
	for n := 1; ; n++ {
		raw, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l, problems := Parse(raw)
		if len(problems) > 0 {
			return fmt.Errorf("line %d of a file that was checked: %s", n, problems[0].Message)
		}
		if err := f(l, raw, reader); err != nil {
			return err
		}
	}
}

package results

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
)

// window is how many bytes of rows are put in order at a time, unless the store says
// otherwise. The leader puts four jobs together at once, and their rows must fit in
// what the pod has for scratch.
const window = 128 << 20

// gap is over how many bytes it is faster to read on than to ask storage again.
const gap = 1 << 20

// ordered writes the rows of a part in the order of its lines. Only Azure decides how
// long they are, so it first learns where each is, and then puts the rows of as many
// lines in order as fit in a window.
func (a *assembler) ordered(ctx context.Context, n int, known *known) error {
	rows := make([]place, a.job.Parts[n].Lines) // by line; no length is none, and no file is a row that missing makes
	err := a.final(ctx, n, known, func(line int, at place, _ []byte) error {
		rows[line] = at
		return nil
	})
	if err != nil {
		return err
	}
	err = a.missing(ctx, n, known, func(line int, raw []byte) error {
		rows[line] = place{length: int64(len(raw)), kind: Failed}
		return nil
	})
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(a.Scratch, "rows-*")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	s := sorter{assembler: a, file: file}
	for len(rows) > 0 {
		size := int64(0)
		s.starts = s.starts[:0]
		for _, row := range rows {
			if size > 0 && size+row.length > cmp.Or(a.Window, window) {
				break
			}
			s.starts = append(s.starts, size)
			size += row.length
		}
		s.places, rows = rows[:len(s.starts)], rows[len(s.starts):]
		if err := s.fill(ctx, n, known); err != nil {
			return err
		}
		if err := s.empty(size); err != nil {
			return err
		}
		s.first += len(s.places)
	}
	return nil
}

// sorter puts the rows of some lines in order, in a file.
type sorter struct {
	*assembler
	file   *os.File
	first  int     // line
	places []place // of the rows of the lines from there on
	starts []int64 // where the file has them
}

// fill writes each row to its place in the file, whatever the order in which they come.
func (s *sorter) fill(ctx context.Context, n int, known *known) error {
	var left []int // rows that storage has, as they lie there
	for i, row := range s.places {
		if row.what != "" {
			left = append(left, i)
		}
	}
	slices.SortFunc(left, func(a, b int) int {
		x, y := s.places[a], s.places[b]
		return cmp.Or(cmp.Compare(x.part, y.part), cmp.Compare(x.what, y.what), cmp.Compare(x.offset, y.offset))
	})
	for len(left) > 0 {
		near := 1
		for near < len(left) && s.follows(left[near-1], left[near]) {
			near++
		}
		if err := s.fetch(ctx, left[:near]); err != nil {
			return fmt.Errorf("results: rows of part %d: %w", s.places[left[0]].part, err)
		}
		left = left[near:]
	}
	return s.missing(ctx, n, known, func(line int, raw []byte) error {
		if i := line - s.first; i >= 0 && i < len(s.places) {
			_, err := s.file.WriteAt(raw, s.starts[i])
			return err
		}
		return nil
	})
}

// follows tells whether row b lies so near behind row a that both are read at once.
func (s *sorter) follows(a, b int) bool {
	x, y := s.places[a], s.places[b]
	return x.part == y.part && x.what == y.what && y.offset-x.offset-x.length <= gap
}

// fetch reads rows that lie near one another.
func (s *sorter) fetch(ctx context.Context, rows []int) error {
	first, last := s.places[rows[0]], s.places[rows[len(rows)-1]]
	in, err := s.Blobs.Read(ctx, s.Outputs, rawPath(s.job, first.part, first.what), first.offset, last.offset+last.length-first.offset)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	buffered := bufio.NewReaderSize(in, gap)
	at := first.offset
	for _, i := range rows {
		row := s.places[i]
		if _, err := buffered.Discard(int(row.offset - at)); err != nil {
			return err
		}
		if _, err := io.CopyN(io.NewOffsetWriter(s.file, s.starts[i]), buffered, row.length); err != nil {
			return err
		}
		at = row.offset + row.length
	}
	return nil
}

// empty writes out what the file has.
func (s *sorter) empty(size int64) error {
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, size), gap)
	var raw []byte
	for _, row := range s.places {
		if row.length == 0 {
			continue
		}
		raw = slices.Grow(raw[:0], int(row.length))[:row.length]
		if _, err := io.ReadFull(in, raw); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if err := s.write(row.kind, raw); err != nil {
			return err
		}
	}
	return nil
}

package enqueue

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// journal remembers in a file which items were accepted, one line each: what was
// written to it stays when the program dies.
type journal struct {
	mu   sync.Mutex
	file *os.File
	seen map[string]bool
	err  error // of the first line that could not be written
}

// openJournal reads a journal and adds to it. Without a path it remembers nothing.
func openJournal(path string) (*journal, error) {
	j := &journal{seen: map[string]bool{}}
	if path == "" {
		return j, nil
	}
	old, err := os.Open(path)
	switch {
	case err == nil:
		lines := bufio.NewScanner(old)
		for lines.Scan() {
			j.seen[lines.Text()] = true
		}
		old.Close()
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return j, err
}

// lineOf is the line of an item with a content.
func lineOf(job, item, sum string) string { return job + "/" + item + " " + sum }

// has says whether an item was accepted with the same content.
func (j *journal) has(job, item, sum string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen[lineOf(job, item, sum)]
}

// add remembers an item. One that cannot be remembered was accepted all the same.
func (j *journal) add(job, item, sum string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return
	}
	if _, err := fmt.Fprintln(j.file, lineOf(job, item, sum)); err != nil && j.err == nil {
		j.err = fmt.Errorf("the journal cannot be written, so a rerun posts items again: %w", err)
	}
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}

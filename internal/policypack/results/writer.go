package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// suffix of the files in the directory, one for each pack.
const suffix = ".jsonl"

// Writer appends the lines of one run of a pack. A nil Writer writes nothing. It
// may be used by several goroutines.
type Writer struct {
	mu     sync.Mutex
	out    *bufio.Writer
	judged int
	failed error
}

// Open starts a run of pack in dir, which it makes. Without a dir the Writer is nil.
func Open(dir string, pack Pack, profile string, rules []Rule) (*Writer, error) {
	if dir == "" {
		return nil, nil
	}
	file, err := open(filepath.Join(dir, pack.Name+suffix))
	if err != nil {
		return nil, fmt.Errorf("results of policy pack %q (%s): %w", pack.Name, EnvDir, err)
	}
	w := &Writer{out: bufio.NewWriter(file)}
	w.write(line{Kind: kindPack, Pack: &pack, Profile: profile, Rules: rules})
	return w, w.Flush()
}

// open opens a file to add to, in a directory that may not be there yet.
func open(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

// Write adds judgements.
func (w *Writer) Write(judgements ...Judgement) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range judgements {
		w.judged++
		w.write(line{Kind: kindJudgement, Judgement: &j})
	}
}

func (w *Writer) write(l line) {
	encoded, err := json.Marshal(l)
	if err == nil {
		_, err = w.out.Write(append(encoded, '\n'))
	}
	w.failed = errors.Join(w.failed, err)
}

// Flush hands over what was written, so that a pack that is killed leaves it.
func (w *Writer) Flush() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.failed, w.out.Flush())
}

// End says that the pack has seen the whole stack. The file stays open until the
// process ends: the engine may go on with another operation.
func (w *Writer) End() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(line{Kind: kindEnd, Judged: w.judged})
	w.judged = 0
	return errors.Join(w.failed, w.out.Flush())
}

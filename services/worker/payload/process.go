package payload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// extractCommand is the argument with which this program reads a document instead of
// doing its work.
const extractCommand = "extract-text"

// Limits of reading a document. The library follows what a document says of itself,
// which may be that it never ends, or grows for ever. Only a process of its own can
// be ended then.
const (
	extractWithin = 30 * time.Second
	extractCopies = 4  // of the largest text that reading may take in memory,
	extractBase   = 64 // and this much, in MiB
)

// Extracting is for main: when this process was started to read a document, it reads
// the one on standard input and returns the exit code.
func Extracting(args []string) (code int, yes bool) {
	if len(args) != 3 || args[1] != extractCommand {
		return 0, false
	}
	most, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return 2, true
	}
	go watch(extractBase<<20 + extractCopies*uint64(most))
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 2, true
	}
	text, err := textOfPDF(data, most)
	var refused *Error
	switch {
	case errors.As(err, &refused):
		fmt.Fprintf(os.Stderr, "%s\n%s", refused.Code, refused.Err)
		return 1, true
	case err != nil:
		return 2, true
	}
	if _, err := os.Stdout.Write(text); err != nil {
		return 2, true
	}
	return 0, true
}

// watch ends the process when it takes more memory than that.
func watch(most uint64) {
	for range time.Tick(50 * time.Millisecond) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > most {
			os.Exit(2)
		}
	}
}

// reading is held while a document is read: one after another, the memory of a pod
// has room for one of them.
var reading sync.Mutex

// extract reads a document in a process of its own.
func extract(data []byte, most int64, within time.Duration) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	reading.Lock()
	defer reading.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	c := exec.CommandContext(ctx, program, extractCommand, strconv.FormatInt(most, 10))
	var text, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(data), &text, &said
	err = c.Run()
	var ended *exec.ExitError
	switch code, reason, known := strings.Cut(said.String(), "\n"); {
	case err == nil:
		return text.Bytes(), nil
	case ctx.Err() != nil:
		return nil, bad(Malformed, "the PDF cannot be read within %s", within)
	case !errors.As(err, &ended):
		return nil, err // no process could be started
	case ended.ExitCode() == 1 && known:
		return nil, &Error{code, errors.New(reason)}
	default:
		return nil, bad(Malformed, "the PDF cannot be read") // it crashed, or grew too large
	}
}

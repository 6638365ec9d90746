package lines_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/lines"
)

// endless makes a file of that many lines of about 1 KB.
type endless struct {
	n, of int
	left  []byte
	text  string
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		if e.n == e.of {
			return 0, io.EOF
		}
		var b bytes.Buffer
		for range min(1000, e.of-e.n) {
			fmt.Fprintf(&b, `{"custom_id":"request-%07d","method":"POST","url":"/v1/chat/completions","body":{"model":"chat","messages":[{"role":"system","content":"You sort tickets. \"Answer\" with one word."},{"role":"user","content":"%s"}],"max_tokens":20}}`+"\n", e.n, e.text)
			e.n++
		}
		e.left = b.Bytes()
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

func wide() lines.Rules {
	return lines.Rules{
		MaxLines: 1_000_000, MaxBytes: 2_000_000_000, MaxParts: 100, PartLines: 100_000, PartBytes: 200_000_000,
		Serve: func(string) (string, int64, *apierror.Error) { return "chat-batch", 1 << 40, nil },
	}
}

// BenchmarkCheck checks and renames 1 GB, and compares it with sha256sum of the same
// bytes on the same core. The ratio must not be below a third.
func BenchmarkCheck(b *testing.B) {
	const count = 1_000_000
	text := strings.Repeat("The printer on floor 3 prints blank pages since monday. ", 14)
	previous := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(previous)
	for b.Loop() {
		path := b.TempDir() + "/in.jsonl"
		size := write(b, path, &endless{of: count, text: text})
		began := time.Now()
		require.NoError(b, exec.CommandContext(b.Context(), "sha256sum", path).Run())
		judge := time.Since(began)
		in := read(b, path)
		began = time.Now()
		sum, err := lines.Check(in, io.Discard, wide())
		took := time.Since(began)
		require.NoError(b, err)
		require.Equal(b, count, sum.Lines)
		b.ReportMetric(float64(size)/took.Seconds()/1e6, "MB/s")
		b.ReportMetric(float64(judge)/float64(took), "of-sha256sum")
		assert.Greater(b, float64(judge)/float64(took), 1.0/3)
	}
}

// A file of any size is checked in the memory of its ids and one line.
func TestCheckingTakesLittleMemory(t *testing.T) { //nolint:paralleltest // it measures the whole process
	if testing.Short() {
		t.Skip("reads 260 MB")
	}
	const most = 100 << 20
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var highest uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse+m.StackInuse)
			select {
			case <-done:
				peak <- highest
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	// As many lines as a file may have; they are short, because ids take the memory.
	sum, err := lines.Check(&endless{of: 1_000_000, text: "x"}, sha256.New(), wide())
	close(done)
	require.NoError(t, err)
	assert.Equal(t, 1_000_000, sum.Lines)
	assert.Less(t, <-peak, uint64(most), "bytes")
}

func write(b *testing.B, path string, from io.Reader) int64 {
	b.Helper()
	file, err := os.Create(path)
	require.NoError(b, err)
	size, err := io.Copy(file, from)
	require.NoError(b, err)
	require.NoError(b, file.Close())
	return size
}

func read(b *testing.B, path string) io.Reader {
	b.Helper()
	file, err := os.Open(path)
	require.NoError(b, err)
	b.Cleanup(func() { file.Close() })
	return file
}

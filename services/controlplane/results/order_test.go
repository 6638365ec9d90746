package results_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/results"
)

// spool is a directory whose size is looked at whenever a part of a blob is written.
type spool struct {
	blobs.Store
	dir  string
	mu   sync.Mutex
	most int64
}

func (s *spool) Write(ctx context.Context, container, name string, r io.Reader) (blobs.Info, error) {
	return s.Store.Write(ctx, container, name, looked{r, s})
}

type looked struct {
	io.Reader
	*spool
}

func (l looked) Read(p []byte) (int, error) {
	files, err := filepath.Glob(filepath.Join(l.dir, "*"))
	if err != nil {
		return 0, err
	}
	size := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	l.mu.Lock()
	l.most = max(l.most, size)
	l.mu.Unlock()
	return l.Reader.Read(p)
}

// part is a job of one part with that many lines, line-0 and so on.
func part(t *testing.T, store blobs.Store, lines int) *jobs.Job {
	t.Helper()
	var in strings.Builder
	for i := range lines {
		fmt.Fprintf(&in, `{"custom_id":"line-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"chat"}}`+"\n", i)
	}
	_, err := store.Write(t.Context(), "in", "file", strings.NewReader(in.String()))
	require.NoError(t, err)
	return &jobs.Job{ID: "batch_1", Tenant: "desk", Lines: lines, Ordered: true, Parts: []jobs.Part{
		{Blob: "file", Length: int64(in.Len()), Lines: lines, Output: "output", Errors: "errors", State: jobs.Ended},
	}}
}

// ids are the custom ids of the rows of a blob, as they come.
func ids(t *testing.T, store blobs.Store, name string) []string {
	t.Helper()
	in, err := store.Read(t.Context(), "out", name, 0, -1)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	var out []string
	for row := range strings.Lines(string(text)) {
		require.True(t, gjson.Valid(row), row)
		out = append(out, gjson.Get(row, "custom_id").String())
	}
	return out
}

// However much Azure has written for a part, putting it in order takes no more disk
// than a window.
func TestRowsArePutInOrderInAWindow(t *testing.T) {
	t.Parallel()
	const lines, window = 200, 100_000
	for name, length := range map[string]int{"rows next to one another": 3_000, "rows far from one another": 90_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &spool{Store: blobs.Dir(t.TempDir()), dir: t.TempDir()}
			s := results.Store{Blobs: store, Inputs: "in", Outputs: "out", Scratch: store.dir, Window: window}
			j := part(t, store, lines)
			files := map[string]*strings.Builder{"output": {}, "errors": {}}
			var answered, rejected []string
			for i := range lines {
				at := i * 77 % lines // as Azure does: in no order
				what, status := "output", 200
				switch {
				case at%20 == 7:
					continue // no row comes back
				case at%10 == 3:
					what, status = "errors", 400
				}
				fmt.Fprintf(files[what], `{"custom_id":"line-%d","response":{"status_code":%d,"body":{"text":"%s"}}}`+"\n", at, status, strings.Repeat("x", length-at))
			}
			for at := range lines {
				id := fmt.Sprintf("line-%d", at)
				if at%20 == 7 || at%10 == 3 {
					rejected = append(rejected, id)
				} else {
					answered = append(answered, id)
				}
			}
			open := func(_ context.Context, file string) (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(files[file].String())), nil
			}
			got, err := s.Collect(t.Context(), j, 0, open, false)
			require.NoError(t, err)
			j.Parts[0].State = jobs.Collected
			made, err := s.Assemble(t.Context(), j)
			require.NoError(t, err)
			assert.Equal(t, got.Results, made.Results)
			assert.Equal(t, []int{170, 20, 10}, []int{made.Results.Answered, made.Results.Failed, made.Results.Missing})
			assert.Equal(t, answered, ids(t, store, results.OutputPath(j)))
			assert.Equal(t, rejected, ids(t, store, results.ErrorsPath(j)))
			assert.Positive(t, store.most)
			assert.LessOrEqual(t, store.most, int64(window))
			left, err := os.ReadDir(store.dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

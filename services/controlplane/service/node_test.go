package service_test

import (
	"embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/npm"
)

//go:embed testdata/openai
var openaiForNode embed.FS

// The same with OpenAI's client for Node.
func TestOpenAIsClientForNodeRunsABatch(t *testing.T) {
	t.Parallel()
	lock, err := fs.Sub(openaiForNode, "testdata/openai")
	require.NoError(t, err)
	project := npm.Project(t, "openai", lock)
	w := open(t)
	signal := filepath.Join(t.TempDir(), "go")
	script, err := filepath.Abs("testdata/openai/journey.mjs")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "node", script, project, w.url, signal)
	command.Stderr = os.Stderr
	done := make(chan struct{})
	var out []byte
	go func() {
		defer close(done)
		out, err = command.Output()
	}()
	for running := true; running; {
		if _, err := os.Stat(signal); err == nil {
			w.pass(30 * time.Second)
		}
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	require.NoError(t, err, "%s", out)
	assert.JSONEq(t, `{"uploaded":true,"counts":{"total":2,"completed":2,"failed":0},"statuses":{"a":200,"b":400},"listed":3,"distinct":3,
		"cancelled":"cancelled","refusal":{"status":404,"code":"not_found"}}`, string(out))
}

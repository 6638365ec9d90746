package demo

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/npm"
)

// OpenAI's client for Node runs a job through the door as it would at OpenAI: models, upload,
// create, poll, cancel, content, list in pages, delete; and it understands refusals.
func TestClientForNode(t *testing.T) {
	t.Parallel()
	project := npm.Project(t, "openai-client", os.DirFS("testdata/node"))
	w, err := open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.close()) })

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	script, err := filepath.Abs("testdata/node/client.cjs")
	require.NoError(t, err)
	client := exec.CommandContext(ctx, "node", script, w.door, north, south)
	client.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(project, "node_modules"))
	var complaint strings.Builder
	client.Stderr = &complaint
	answer, err := client.StdinPipe()
	require.NoError(t, err)
	said, err := client.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, client.Start())
	lines := bufio.NewScanner(said)
	last := ""
	for lines.Scan() {
		last = lines.Text()
		switch last {
		case "a second job": // is created later than the first
			require.NoError(t, w.pass(ctx, step))
		case "jobs end":
			for range int(time.Hour / step) {
				require.NoError(t, w.pass(ctx, step))
			}
		default:
			continue
		}
		_, err := io.WriteString(answer, "\n")
		require.NoError(t, err)
	}
	require.NoError(t, client.Wait(), complaint.String())
	assert.JSONEq(t, `{
		"models": ["tickets"],
		"cancelling": "cancelling", "stopped": "cancelled",
		"status": "completed", "counts": {"total": 2, "completed": 2, "failed": 0}, "results": {"a": 200, "b": 400},
		"newestFirst": true, "othersJob": "404 not_found", "noJSON": "400 invalid_file", "deleted": true
	}`, last)
}

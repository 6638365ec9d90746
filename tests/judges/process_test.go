//go:build judges

package judges

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a judge may take to answer, on two busy cores.
const patience = 5 * time.Minute

// startProcess runs a judge until the test ends, and shows the end of what it said
// if the test fails.
func startProcess(t *testing.T, name string, env, args []string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	command := exec.Command(program(t, name), args...)
	command.Env = append(os.Environ(), env...)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	if !strings.HasPrefix(args[0], "-") {
		name = args[0] // one of several in a file
	}
	var stopped atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := command.Wait(); !stopped.Load() {
			t.Errorf("%s ended by itself: %v", name, err)
		}
	}()
	t.Cleanup(func() {
		stopped.Store(true)
		_ = command.Process.Kill() // it has nothing to keep
		<-ended
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s said last:\n%s", name, end(string(text)))
		}
		log.Close()
	})
}

// end is the end of a log, of each line its beginning.
func end(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	lines = lines[max(0, len(lines)-40):]
	for i, line := range lines {
		lines[i] = line[:min(1200, len(line))]
	}
	return strings.Join(lines, "\n")
}

// freePorts are ports of the loopback interface that nobody listens on now.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close() // after all were taken, so that they differ
		ports = append(ports, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

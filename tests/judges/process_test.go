//go:build judges

package judges

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		select {
		case <-ended:
			t.Errorf("%s %q ended by itself", name, args[:min(1, len(args))])
		default:
		}
		_ = command.Process.Kill() // it has nothing to keep
		<-ended
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			lines := strings.Split(string(text), "\n")
			t.Logf("%s %q said last:\n%s", name, args[:min(1, len(args))], strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
		log.Close()
	})
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

package tests

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
)

// upEnv makes the test binary a process that updates dev and can be killed. Its
// value is the home directory.
const upEnv = "ONEDOOR_TEST_UP"

// upMain is that process.
func upMain(home string) {
	dir, err := filepath.Abs(projectDir)
	if err == nil {
		s := &embedded.Session{Dir: dir, StackFile: stackFiles["dev"], Stack: "dev", Home: home, Progress: os.Stderr}
		_, err = s.Up(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A process that is killed in the middle leaves a cloud that knows more than
// the state does. The next update goes on from there.
func TestTheNextUpdateGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	s := session(t, "dev", stackFiles["dev"])
	killed := exec.Command(os.Args[0])
	killed.Env = append(os.Environ(), upEnv+"="+s.Home)
	require.NoError(t, killed.Start())
	cloud := filepath.Join(s.Home, "azure", "dev.json")
	require.Eventually(t, func() bool {
		info, err := os.Stat(cloud)
		return err == nil && info.Size() > 60_000 // about a third of what dev comes to
	}, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait(), "it was killed before its end")

	up, err := s.Up(t.Context())
	require.NoError(t, err)
	assert.Positive(t, up.Changes["same"], "what was made is kept")
	assert.Positive(t, up.Changes["create"], "it was killed in the middle")
	again, err := s.Preview(t.Context())
	require.NoError(t, err)
	assert.False(t, again.HasChanges(), "%v", again.Changes)
}

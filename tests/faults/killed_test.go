package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/sim"
	"onedoor/sim/core"
	"onedoor/tests/kit"
)

// doomedEnv makes the test binary a process that works on a stack and is killed, with
// everything it has started, once operations have come to a certain point.
const doomedEnv = "ONEDOOR_TEST_DOOMED"

// doomed says what such a process does.
type doomed struct {
	Stack, Home string
	Destroy     bool
	// URNs are the operations that come no further than When. When all that can be under way
	// is, or has come that far, the process is killed. It writes what was struck to Struck,
	// a line each.
	URNs   []string
	When   sim.When
	Struck string
}

// quiet is how long nothing new must have been struck before the kill.
const quiet = 500 * time.Millisecond

// doomedMain is the process; it ends well if nothing was struck.
func doomedMain(spec string) {
	var d doomed
	err := json.Unmarshal([]byte(spec), &d)
	if err == nil {
		_, err = d.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (d *doomed) run() (any, error) {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	s := &embedded.Session{
		Dir: dir, StackFile: kit.StackFiles()[d.Stack], Stack: d.Stack, Home: d.Home,
		WithoutPolicies: true, UpAlone: true,
	}
	var mu sync.Mutex
	var kill *time.Timer
	method := core.Put
	if d.Destroy {
		method = core.Delete
	}
	s.Prepare = func(cloud *sim.Cloud) {
		for _, urn := range d.URNs {
			cloud.Inject(sim.Fault{URN: urn, Method: method, When: d.When, Struck: func(strike sim.Strike) {
				mu.Lock()
				defer func() { mu.Unlock(); select {} }() // comes no further
				f, err := os.OpenFile(d.Struck, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err == nil {
					fmt.Fprintln(f, strike.URN)
					err = f.Close()
				}
				if err != nil {
					panic(err)
				}
				if kill == nil {
					kill = time.AfterFunc(quiet, func() { killEverything(d.Home, d.Stack) })
				}
				kill.Reset(quiet)
			}})
		}
	}
	if d.Destroy {
		return s.Destroy(context.Background(), true)
	}
	return s.Up(context.Background())
}

// killEverything kills the engine, which its lock names, and then this process with the
// program and the cloud.
func killEverything(home, stack string) {
	locks, _ := filepath.Glob(filepath.Join(home, "state", ".pulumi", "locks", "organization", "onedoor", stack, "*.json"))
	for _, lock := range locks {
		var holder struct{ PID int }
		if raw, err := os.ReadFile(lock); err == nil && json.Unmarshal(raw, &holder) == nil && holder.PID > 1 {
			_ = syscall.Kill(holder.PID, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// killed runs a doomed process to its end and returns what was struck, or, if nothing was,
// why it failed by itself.
func killed(t *testing.T, d doomed) (struck []string, failed error) {
	t.Helper()
	d.Struck = filepath.Join(t.TempDir(), "struck")
	spec, err := json.Marshal(d)
	require.NoError(t, err)
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), doomedEnv+"="+string(spec))
	said, err := process.CombinedOutput()
	raw, readErr := os.ReadFile(d.Struck)
	switch {
	case readErr == nil:
		require.Error(t, err, "it was killed before its end")
		return strings.Fields(string(raw)), nil
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return nil, nil
}

// live kills an operation on a stack again and again, until each of the operations was under
// way in a kill, and it comes to its end. What Azure has made by itself meanwhile is taken over
// as the failure says.
func live(t *testing.T, s *embedded.Session, ref *reference, d doomed) {
	t.Helper()
	byItself := slices.DeleteFunc(slices.Clone(ref.order), func(urn string) bool { return typeOf(urn) != byAzure })
	for ended := false; !ended; {
		struck, failed := killed(t, d)
		if failed != nil {
			require.NotEmpty(t, byItself, "%v", failed)
			takeOver(t, s, failed, byItself)
			byItself = nil // once
			continue
		}
		ended = len(struck) == 0
		d.URNs = slices.DeleteFunc(d.URNs, func(urn string) bool { return slices.Contains(struck, urn) })
	}
}

// killPoints are the operations that are killed: one of each type, or, as a sample, some whose
// halves are of all kinds.
func killPoints(ref *reference) []string {
	points := firsts(ref.order)
	if full() {
		return points
	}
	return slices.DeleteFunc(points, func(urn string) bool {
		return !slices.Contains([]string{
			"azure-native:storage/v20240101:StorageAccount", "azure-native:containerservice/v20250101:ManagedCluster",
			"azure-native:authorization/v20220401:RoleAssignment", "kubernetes:core/v1:Namespace",
		}, typeOf(urn))
	})
}

// A stack whose update was killed, with everything, comes to the same end: no operation stays
// pending, nothing is made twice, nothing is left behind.
func TestTheNextUpdateGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	ref := undisturbed(t, "dev")
	for name, when := range map[string]sim.When{"before the write": sim.BeforeStart, "after the write": sim.AnswerLost} {
		if when == sim.BeforeStart && !full() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, "dev")
			s.SkipCheckpoints = false
			live(t, s, ref, doomed{Stack: "dev", Home: s.Home, URNs: killPoints(ref), When: when})
			_, err := s.Refresh(t.Context()) // outputs that others have changed since
			require.NoError(t, err)
			requireSettled(t, s, ref)
		})
	}
}

// The same for a destroy: the next one ends it.
func TestTheNextDestroyGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("part of the full matrix: set " + fullEnv + "=all")
	}
	ref := undisturbed(t, "dev")
	for name, when := range map[string]sim.When{"before the write": sim.BeforeStart, "after the write": sim.AnswerLost} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, "dev")
			_, err := s.Up(t.Context())
			require.NoError(t, err)
			s.SkipCheckpoints = false
			live(t, s, ref, doomed{Stack: "dev", Home: s.Home, URNs: killPoints(ref), When: when, Destroy: true})
			requireGone(t, s)
		})
	}
}

// requireGone ends a destroy and says that nothing of the stack is left.
func requireGone(t *testing.T, s *embedded.Session) {
	t.Helper()
	s.ContinueOnError = false
	_, err := s.Destroy(t.Context(), true)
	require.NoError(t, err)
	assert.Empty(t, slices.Collect(maps.Keys(endOf(t, s))), "left behind")
	assert.Empty(t, stateOf(t, s).Pending)
}

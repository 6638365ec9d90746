//go:build unix

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// helperProject is the project that a helper process and this one work on in turn.
func helperProject(t *testing.T, f *fake) *Run {
	t.Helper()
	r := project(t, f, tiny(knobs{}))
	r.Home = filepath.Join(r.Dir, ".onedoor")
	r.Recorder = ""
	return r
}

// converges runs up and asserts that the stack is then whole.
func converges(t *testing.T, r *Run) *Result {
	t.Helper()
	res, err := r.Up(t.Context())
	require.NoError(t, err)
	assert.Len(t, res.Resources, 6)
	again, err := r.Preview(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"same": 6}, again.Changes)
	return res
}

func stateOf(t *testing.T, r *Run) state {
	t.Helper()
	l, err := r.layout()
	require.NoError(t, err)
	st, err := l.readState()
	require.NoError(t, err)
	return st
}

// TestCtrlC sends SIGINT to a process group in an up, as a terminal does: what is under way is
// finished and recorded, and the next up goes on.
func TestCtrlC(t *testing.T) {
	t.Parallel()
	r := helperProject(t, newFake())
	h := startHelper(t, helperEnv+"=up", dirEnv+"="+r.Dir, blockEnv+"=1s", EnvPulumi+"="+r.CLI.Path)
	h.until(t, "creating first")
	require.NoError(t, syscall.Kill(-h.Process.Pid, syscall.SIGINT))
	assert.Equal(t, "ended interrupted", h.until(t, "ended"), h.stderr)
	require.NoError(t, h.Wait())
	assert.Equal(t, 1, strings.Count(h.stderr.String(), "Interrupted"), h.stderr)

	st := stateOf(t, r)
	assert.Empty(t, st.Pending)
	assert.Contains(t, st.live(), urnFirst, "the create that was under way is recorded")
	assert.NotContains(t, st.live(), urnSecond)
	res := converges(t, r)
	first, _ := res.Find(urnFirst)
	assert.Equal(t, "same", first.Op)
}

// TestCtrlCTwice abandons what is under way; the next up finds it pending.
func TestCtrlCTwice(t *testing.T) {
	t.Parallel()
	r := helperProject(t, newFake())
	var pending []PendingOperation
	r.Landed = func(p PendingOperation) (string, error) { pending = append(pending, p); return "", nil }
	h := startHelper(t, helperEnv+"=up", dirEnv+"="+r.Dir, blockEnv+"=8s", EnvPulumi+"="+r.CLI.Path)
	h.until(t, "creating first")
	start := time.Now()
	require.NoError(t, syscall.Kill(-h.Process.Pid, syscall.SIGINT))
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, syscall.Kill(-h.Process.Pid, syscall.SIGINT))
	assert.Equal(t, "ended interrupted", h.until(t, "ended"), h.stderr)
	assert.Less(t, time.Since(start), 7*time.Second, "the second one does not wait for the create")
	converges(t, r)
	require.Len(t, pending, 1)
	assert.Equal(t, urnFirst, pending[0].URN)
	assert.Equal(t, "creating", pending[0].Kind)
	assert.Equal(t, "fake:index:Thing", pending[0].Type)
	assert.Equal(t, Secret, pending[0].Inputs["password"])
}

// TestContextEnd is an interruption too.
func TestContextEnd(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := helperProject(t, f)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user left")
	f.onMake = func(string) error { cancel(why); time.Sleep(500 * time.Millisecond); return nil }
	_, err := r.Up(ctx)
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindInterrupted, failure.Kind)
	require.ErrorIs(t, err, why)
	assert.Contains(t, stateOf(t, r).live(), urnFirst)
	_, err = r.Up(ctx)
	require.ErrorIs(t, err, why, "nothing is begun after the end")
	f.onMake = nil
	converges(t, r)
}

// TestKilledEngine: kill -9 of the CLI leaves its lock and a pending create.
func TestKilledEngine(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := helperProject(t, f)
	var progress bytes.Buffer
	r.Progress = &progress
	f.onMake = func(name string) error {
		if name == "first" {
			_ = syscall.Kill(engineLock(t, r).PID, syscall.SIGKILL)
			time.Sleep(200 * time.Millisecond)
		}
		return nil
	}
	_, err := r.Up(t.Context())
	var failure *Failure
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, KindEngine, failure.Kind)
	assert.ErrorContains(t, err, "killed")
	require.Len(t, stateOf(t, r).Pending, 1)
	engineLock(t, r) // is still there

	f.onMake = nil
	converges(t, r)
	assert.Contains(t, progress.String(), "Removed the lock that an engine left when it was killed")
	assert.Contains(t, progress.String(), "killed while creating first (fake:index:Thing)")
	assert.Empty(t, stateOf(t, r).Pending)
}

func TestWhatCameOfACreateMustBeKnown(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := helperProject(t, f)
	f.onMake = func(string) error { return syscall.Kill(engineLock(t, r).PID, syscall.SIGKILL) }
	_, err := r.Up(t.Context())
	require.Error(t, err)
	f.onMake = nil
	r.Landed = func(PendingOperation) (string, error) { return "", errors.New("no idea") }
	_, err = r.Up(t.Context())
	assert.ErrorContains(t, err, "what came of it cannot be found out: no idea")
	require.Len(t, stateOf(t, r).Pending, 1, "what was not recovered is not forgotten")
	r.Landed = nil
	converges(t, r)
}

// A create that landed is not made a second time; it is written once more, and read only then.
func TestACreateThatLandedIsWrittenOnceMore(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := helperProject(t, f)
	f.onMake = func(string) error {
		_ = syscall.Kill(engineLock(t, r).PID, syscall.SIGKILL)
		time.Sleep(200 * time.Millisecond)
		return nil
	}
	_, err := r.Up(t.Context())
	require.Error(t, err)
	f.onMake = nil
	r.Landed = func(PendingOperation) (string, error) { return "landed", nil }
	_, err = r.Refresh(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "landed", stateOf(t, r).live()[urnFirst].ID)
	assert.NotEmpty(t, stateOf(t, r).live()[urnFirst].InitErrors, "a refresh leaves it to the next update")
	res, err := r.Up(t.Context())
	require.NoError(t, err)
	first, _ := res.Find(urnFirst)
	assert.Equal(t, "update", first.Op)
	assert.Empty(t, stateOf(t, r).live()[urnFirst].InitErrors)
	converges(t, r)
}

// TestKilledParent: kill -9 of the process that serves program and providers. Its engine is
// left alone and may still hold the stack for a moment.
func TestKilledParent(t *testing.T) {
	t.Parallel()
	r := helperProject(t, newFake())
	h := startHelper(t, helperEnv+"=up", dirEnv+"="+r.Dir, blockEnv+"=5s", EnvPulumi+"="+r.CLI.Path)
	h.until(t, "creating first")
	require.NoError(t, h.Process.Kill())
	_ = h.Wait()
	converges(t, r)
}

func TestSecondProcessIsToldWhoHoldsTheStack(t *testing.T) {
	t.Parallel()
	f := newFake()
	r := helperProject(t, f)
	second := *r
	ran := false
	f.onMake = func(name string) error {
		if name != "first" {
			return nil
		}
		ran = true
		_, err := second.Preview(context.Background())
		var locked *Locked
		if assert.ErrorAs(t, err, &locked) {
			assert.Equal(t, os.Getpid(), locked.Holder.PID)
			assert.Equal(t, "up", locked.Holder.Operation)
			assert.ErrorContains(t, err, "stack dev is in use: up in process")
			assert.FileExists(t, locked.File)
		}
		return nil
	}
	_, err := r.Up(t.Context())
	require.NoError(t, err)
	assert.True(t, ran)
	_, err = second.Preview(t.Context())
	require.NoError(t, err, "the stack is free again")
}

// TestLockOfALivingEngine: a pulumi that somebody runs by hand on the same state.
func TestLockOfALivingEngine(t *testing.T) {
	t.Parallel()
	l := layout{home: t.TempDir(), project: "p", stack: "dev"}
	require.NoError(t, os.MkdirAll(l.engineLocks(), 0o755))
	file := filepath.Join(l.engineLocks(), "x.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"pid":1,"username":"ann","hostname":"elsewhere","timestamp":"2026-01-01T00:00:00Z"}`), 0o644))
	err := l.cancelStale(t.Context(), t.Logf)
	var locked *Locked
	require.ErrorAs(t, err, &locked)
	assert.ErrorContains(t, err, "process 1 on elsewhere")
	assert.ErrorContains(t, err, file)
	assert.FileExists(t, file)
}

// TestNoNetwork runs every operation with proxies that refuse and count.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	r := helperProject(t, newFake())
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer lis.Close()
	var connections atomic.Int64
	go func() {
		for {
			conn, err := lis.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			conn.Close()
		}
	}()
	env := []string{helperEnv + "=cycle", dirEnv + "=" + r.Dir, EnvPulumi + "=" + r.CLI.Path, "NO_PROXY=", "no_proxy="}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		proxy := "=http://" + lis.Addr().String()
		env = append(env, name+proxy, strings.ToLower(name)+proxy)
	}
	h := startHelper(t, env...)
	assert.Equal(t, "ended ok", h.until(t, "ended"), h.stderr)
	assert.Zero(t, connections.Load(), "connections to the proxy")
}

// TestInterruptsCountOnce: a caller that ends its context on the same signal.
func TestInterruptsCountOnce(t *testing.T) {
	t.Parallel()
	var said []int
	i := &interrupts{say: func(n int) { said = append(said, n) }}
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	p, err := os.StartProcess(sleep, []string{"sleep", "20"}, &os.ProcAttr{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Kill(); _, _ = p.Wait() })
	i.attach(p)
	i.add(&i.seen)
	i.add(&i.ended)
	assert.Equal(t, []int{1}, said)
	i.add(&i.seen)
	assert.Equal(t, []int{1, 2}, said)
	assert.True(t, i.any())
}

// TestOrphanIsWaitedFor: an engine whose parent was killed ends within moments.
func TestOrphanIsWaitedFor(t *testing.T) {
	t.Parallel()
	l := layout{home: t.TempDir(), project: "p", stack: "dev"}
	require.NoError(t, os.MkdirAll(l.engineLocks(), 0o755))
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	orphan, err := os.StartProcess(sleep, []string{"pulumi", "1"}, &os.ProcAttr{})
	require.NoError(t, err)
	go func() { _, _ = orphan.Wait() }()
	writeLock := func(pid int) {
		host, err := os.Hostname()
		require.NoError(t, err)
		data, err := json.Marshal(Holder{PID: pid, Host: host, Since: time.Now()})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(l.engineLocks(), "x.json"), data, 0o644))
	}
	writeLock(orphan.Pid)
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	require.NoError(t, l.cancelStale(t.Context(), say))
	require.Len(t, said, 2)
	assert.Contains(t, said[0], "Waiting for the engine of an earlier run to end")
	assert.Contains(t, said[1], "Removed the lock")

	if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		// This very process is no engine, so its id must have been reused.
		writeLock(os.Getpid())
		said = nil
		require.NoError(t, l.cancelStale(t.Context(), say))
		assert.Len(t, said, 1)
	}
}

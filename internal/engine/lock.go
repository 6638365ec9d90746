package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// How long an operation waits for another one that may be about to end.
const (
	ownLockPatience = 300 * time.Millisecond
	// An engine whose program was killed ends within seconds, because its calls fail.
	orphanPatience = 20 * time.Second
)

// Holder is the process that holds a stack.
type Holder struct {
	PID       int       `json:"pid"`
	Host      string    `json:"hostname"`
	Operation string    `json:"operation,omitempty"`
	Since     time.Time `json:"timestamp"`
}

// String names the holder in messages.
func (h Holder) String() string {
	s := fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Local().Format("15:04:05"))
	if h.Operation != "" {
		s = h.Operation + " in " + s
	}
	return s
}

// Locked is returned when another process works on the stack.
type Locked struct {
	Stack  string
	Holder Holder
	// File is the lock to remove when the holder is known to be gone.
	File string
}

// Error implements error.
func (e *Locked) Error() string {
	return fmt.Sprintf("stack %s is in use: %s; wait until it has ended, or stop it (if it is gone for certain, delete %s)", e.Stack, e.Holder, e.File)
}

// lock takes the stack for this process. The system gives the lock back when the process
// dies; the file beside it only says who holds it.
func (l layout) lock(ctx context.Context, op Operation) (unlock func(), err error) {
	waitCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	held := errors.New("held")
	release, err := lockFile(waitCtx, l.ownLock(), ownLockPatience, func() { cancel(held) })
	if errors.Is(err, held) {
		locked := &Locked{Stack: l.stack, File: l.ownLock()}
		if data, err := os.ReadFile(l.ownLock() + ".json"); err == nil {
			_ = json.Unmarshal(data, &locked.Holder)
		}
		return nil, locked
	}
	if err != nil {
		return nil, fmt.Errorf("locking stack %s: %w", l.stack, err)
	}
	host, _ := os.Hostname()
	data, err := json.Marshal(Holder{PID: os.Getpid(), Host: host, Operation: string(op), Since: time.Now().Truncate(time.Second)})
	if err == nil {
		err = writeFile(l.ownLock()+".json", data)
	}
	if err != nil {
		release()
		return nil, err
	}
	return func() {
		_ = os.Remove(l.ownLock() + ".json")
		release()
	}, nil
}

// cancelStale removes the locks that engines left behind which are no longer alive, as
// `pulumi cancel` would, and waits for one that is about to end. It runs under lock, so no
// live engine of this package can hold one, but an orphan or a `pulumi` run by hand can.
func (l layout) cancelStale(ctx context.Context, say func(string, ...any)) error {
	host, _ := os.Hostname()
	deadline := time.Now().Add(orphanPatience)
	waiting := false
	for {
		files, err := filepath.Glob(filepath.Join(l.engineLocks(), "*.json"))
		if err != nil {
			return err
		}
		var held *Locked
		for _, file := range files {
			data, err := os.ReadFile(file)
			if errors.Is(err, os.ErrNotExist) {
				continue // released in this moment
			}
			if err != nil {
				return err
			}
			var h Holder
			if err := json.Unmarshal(data, &h); err == nil && (h.Host != host || processAlive(h.PID)) {
				held = &Locked{Stack: l.stack, Holder: h, File: file}
				continue
			}
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("removing the stale lock of a dead engine: %w", err)
			}
			_ = os.Remove(file + ".attrs")
			say("Removed the lock that an engine left when it was killed (%s).", h)
		}
		if held == nil {
			return nil
		}
		if held.Holder.Host != host || time.Now().After(deadline) {
			return held
		}
		if !waiting {
			say("Waiting for the engine of an earlier run to end (%s).", held.Holder)
			waiting = true
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

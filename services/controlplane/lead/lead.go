// Package lead owns which instance leads: by a lease of the cluster, or by a lock
// on a file.
package lead

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lease elects by a lease.
type Lease struct {
	Client    coordination.LeasesGetter
	Namespace string
	Name      string
	Identity  string // of this instance: the pod's name
	Log       *slog.Logger
}

// The times of a lease: a leader that cannot renew stops five seconds before
// another one may begin.
// https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
const (
	duration = 30 * time.Second
	renew    = 25 * time.Second
	retry    = 5 * time.Second
)

// Run calls f whenever this instance leads, until the context ends. The context of f
// ends when the lease is lost; it is given back only after f has returned, so that
// no two ever work at a time.
func (l Lease) Run(ctx context.Context, f func(context.Context)) error {
	var one sync.Mutex // f runs
	for ctx.Err() == nil {
		if err := l.once(ctx, &one, f); err != nil {
			return err
		}
	}
	one.Lock() // it has returned
	defer one.Unlock()
	return nil
}

// once stands for election until the lease is won and lost again.
func (l Lease) once(ctx context.Context, one *sync.Mutex, f func(context.Context)) error {
	stand, giveBack := context.WithCancel(context.WithoutCancel(ctx))
	defer giveBack()
	var leads atomic.Bool
	withdraw := context.AfterFunc(ctx, func() {
		if !leads.Load() {
			giveBack()
		}
	})
	defer withdraw()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}, Client: l.Client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
		},
		LeaseDuration: duration, RenewDeadline: renew, RetryPeriod: retry, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(held context.Context) {
				leads.Store(true)
				one.Lock()
				defer one.Unlock()
				defer giveBack()
				work, stop := context.WithCancel(held)
				defer stop()
				defer context.AfterFunc(ctx, stop)()
				l.Log.Info("this instance leads")
				f(work)
			},
			OnStoppedLeading: func() { l.Log.Info("this instance does not lead") },
		},
	})
	if err != nil {
		return fmt.Errorf("lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	elector.Run(stand)
	return nil
}

// File elects by a lock on a file of this machine.
type File string

// Run calls f once this process has the lock, and keeps it until f returns.
func (p File) Run(ctx context.Context, f func(context.Context)) error {
	file, err := os.OpenFile(string(p), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer file.Close() // which gives the lock back
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			f(ctx)
			return nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", p, err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// Package lead owns which instance leads: by a lease of the cluster, or by a lock
// on a file.
package lead

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
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

// The times of a lease. What is done as the leader ends so long after the last
// renewal began, whether or not the API server still answers: that leaves it ten
// seconds to stop before another instance may begin.
// https://pkg.go.dev/k8s.io/client-go/tools/leaderelection
const (
	duration = 30 * time.Second
	working  = 20 * time.Second
	retry    = 5 * time.Second
)

// Run calls f whenever this instance leads, until the context ends. The context of f
// ends when the lease is lost; it is given back only after f has returned, so that
// no two ever work at a time.
func (l Lease) Run(ctx context.Context, f func(context.Context)) error {
	for ctx.Err() == nil {
		if err := l.once(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// once stands for election until the lease is won, lost again and f has returned.
func (l Lease) once(ctx context.Context, f func(context.Context)) error {
	stand, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	late := time.AfterFunc(duration, func() {
		l.Log.Warn("the lease was not renewed in time", "lease", l.Namespace+"/"+l.Name)
		leave()
	})
	late.Stop() // until it is won
	defer late.Stop()
	lock := punctual{&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}, Client: l.Client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
	}, late}
	won, ended := make(chan context.Context, 1), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: duration, RenewDeadline: working - retry, RetryPeriod: retry,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(held context.Context) { won <- held },
			OnStoppedLeading: func() { close(ended) },
		},
	})
	if err != nil {
		return fmt.Errorf("lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	go elector.Run(stand)
	select {
	case <-ctx.Done():
	case <-ended:
	case held := <-won:
		work, stop := context.WithCancel(held)
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		l.Log.Info("this instance leads")
		f(work)
		l.Log.Info("this instance does not lead")
	}
	leave()
	<-ended
	l.giveBack(ctx, lock)
	return nil
}

// punctual is a lock that puts off the end of the work whenever it is taken or
// renewed: from when that began, as nobody knows how long the answer was on its way.
type punctual struct {
	*resourcelock.LeaseLock
	late *time.Timer
}

func (p punctual) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return p.write(ctx, record, p.LeaseLock.Create)
}

func (p punctual) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return p.write(ctx, record, p.LeaseLock.Update)
}

func (p punctual) write(ctx context.Context, record resourcelock.LeaderElectionRecord, f func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	began := time.Now()
	err := f(ctx, record)
	if err == nil {
		p.late.Reset(working - time.Since(began))
	}
	return err
}

// giveBack lets others have the lease at once, if the API server says that it is
// this instance's. What cannot be given back ends by itself.
func (l Lease) giveBack(ctx context.Context, lock punctual) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retry)
	defer cancel()
	record, _, err := lock.Get(ctx)
	if err == nil && record.HolderIdentity == l.Identity {
		now := metav1.Now()
		err = lock.LeaseLock.Update(ctx, resourcelock.LeaderElectionRecord{ // which fails if somebody has taken it meanwhile
			LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now, LeaderTransitions: record.LeaderTransitions,
		})
	}
	if err != nil {
		l.Log.Info("the lease was not given back", "lease", l.Namespace+"/"+l.Name, "error", err)
	}
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

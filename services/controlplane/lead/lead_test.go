package lead_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	testclient "k8s.io/client-go/testing"

	"onedoor/services/controlplane/lead"
)

// work counts who works at the same time, and takes a moment to stop.
type work struct {
	now, most, total atomic.Int32
}

func (w *work) run(ctx context.Context) {
	w.total.Add(1)
	if n := w.now.Add(1); n > w.most.Load() {
		w.most.Store(n)
	}
	<-ctx.Done()
	time.Sleep(200 * time.Millisecond)
	w.now.Add(-1)
}

// A leader that stops gives the lease back when its work has ended, and only then.
func TestTheLeaseGoesFromOneToTheNext(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset()
	var w work
	var all sync.WaitGroup
	start := func(name string) context.CancelFunc {
		ctx, stop := context.WithCancel(t.Context())
		l := lead.Lease{Client: cluster.CoordinationV1(), Namespace: "onedoor-batch", Name: "control-plane", Identity: name, Log: slog.New(slog.DiscardHandler)}
		all.Go(func() { assert.NoError(t, l.Run(ctx, w.run)) })
		return stop
	}
	holder := func() string {
		lease, err := cluster.CoordinationV1().Leases("onedoor-batch").Get(t.Context(), "control-plane", metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	stopA := start("a")
	require.Eventually(t, func() bool { return holder() == "a" && w.now.Load() == 1 }, 10*time.Second, 10*time.Millisecond)
	stopB := start("b")
	time.Sleep(300 * time.Millisecond)
	assert.Equal(t, int32(1), w.total.Load(), "one leads")
	stopA()
	require.Eventually(t, func() bool { return holder() == "" }, 10*time.Second, 5*time.Millisecond, "it is given back")
	assert.Equal(t, int32(0), w.now.Load(), "after the work has ended")
	require.Eventually(t, func() bool { return holder() == "b" && w.now.Load() == 1 }, 30*time.Second, 10*time.Millisecond)
	stopB()
	all.Wait()
	assert.Equal(t, int32(1), w.most.Load(), "never two at a time")
}

// Somebody else has taken the lease: this instance stops.
func TestALostLeaseEndsTheWork(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset()
	ctx, stop := context.WithCancel(t.Context())
	l := lead.Lease{Client: cluster.CoordinationV1(), Namespace: "n", Name: "l", Identity: "a", Log: slog.New(slog.DiscardHandler)}
	began, ended := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	var once sync.Once
	go func() {
		done <- l.Run(ctx, func(ctx context.Context) {
			once.Do(func() {
				close(began)
				<-ctx.Done()
				close(ended)
			})
		})
	}()
	<-began
	cluster.PrependReactor("update", "leases", func(testclient.Action) (bool, runtime.Object, error) {
		return true, nil, errors.NewConflict(schema.GroupResource{Resource: "leases"}, "l", nil)
	})
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		require.Fail(t, "the work goes on without the lease")
	}
	stop()
	require.NoError(t, <-done)
}

// The API server does not answer the leader any more: its work ends before another
// may begin, and what it says when it is heard again takes nothing from the other.
func TestALeaderThatIsCutOffEndsBeforeTheNextBegins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := fake.NewClientset()
		cutOff := &fake.Clientset{} // the same cluster by another line
		cutOff.AddReactor("*", "leases", testclient.ObjectReaction(cluster.Tracker()))
		var w work
		var all sync.WaitGroup
		start := func(name string, client *fake.Clientset) context.CancelFunc {
			ctx, stop := context.WithCancel(t.Context())
			l := lead.Lease{Client: client.CoordinationV1(), Namespace: "n", Name: "l", Identity: name, Log: slog.New(slog.DiscardHandler)}
			all.Go(func() { assert.NoError(t, l.Run(ctx, w.run)) })
			return stop
		}
		stopA := start("a", cutOff)
		time.Sleep(time.Second)
		require.Equal(t, int32(1), w.now.Load())
		stopB := start("b", cluster)
		time.Sleep(time.Minute)
		require.Equal(t, int32(1), w.total.Load(), "a renews its lease")
		heard := make(chan struct{})
		cutOff.PrependReactor("*", "leases", func(testclient.Action) (bool, runtime.Object, error) {
			select {
			case <-heard:
				return false, nil, nil
			default: // it is lost, and nobody hears of that
				<-heard
				return true, nil, errors.NewTimeoutError("lost", 0)
			}
		})
		time.Sleep(29 * time.Second)
		assert.Equal(t, int32(0), w.now.Load(), "the lease lasts for 30 s")
		time.Sleep(16 * time.Second)
		assert.Equal(t, int32(1), w.now.Load())
		assert.Equal(t, int32(2), w.total.Load(), "b leads")
		close(heard)
		time.Sleep(time.Second)
		lease, err := cluster.CoordinationV1().Leases("n").Get(t.Context(), "l", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "b", *lease.Spec.HolderIdentity)
		stopA()
		stopB()
		all.Wait()
		assert.Equal(t, int32(1), w.most.Load(), "never two at a time")
	})
}

func TestAFileIsLockedByOne(t *testing.T) {
	t.Parallel()
	file := lead.File(filepath.Join(t.TempDir(), "lock"))
	var w work
	first, stopFirst := context.WithCancel(t.Context())
	second, stopSecond := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, file.Run(first, w.run)) })
	require.Eventually(t, func() bool { return w.now.Load() == 1 }, 5*time.Second, 5*time.Millisecond)
	all.Go(func() { assert.NoError(t, file.Run(second, w.run)) })
	time.Sleep(100 * time.Millisecond)
	assert.Equal(t, int32(1), w.total.Load())
	stopFirst()
	require.Eventually(t, func() bool { return w.total.Load() == 2 }, 5*time.Second, 5*time.Millisecond)
	stopSecond()
	all.Wait()
	assert.Equal(t, int32(1), w.most.Load())
}

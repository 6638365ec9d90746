package service_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
)

// The account answers, and then nothing more comes: before the first byte, or amid
// the content. Only the job whose content it is waits.
func TestAnAnswerThatStandsStillHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]int{"BeforeTheHeader": 0, "AmidTheContent": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.faulty, w.idle = true, 100*time.Millisecond
			var stalls atomic.Bool
			stalled := make(chan string, 1) // the content that comes no further, from the first on
			w.behind(func(rw http.ResponseWriter, r *http.Request, account http.Handler) {
				if !stalls.Load() || !isContent(r) {
					account.ServeHTTP(rw, r)
					return
				}
				select {
				case stalled <- r.URL.Path:
				case first := <-stalled:
					if stalled <- first; first != r.URL.Path {
						account.ServeHTTP(rw, r)
						return
					}
				}
				if sent > 0 {
					whole := httptest.NewRecorder()
					account.ServeHTTP(whole, r)
					rw.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
					_, _ = rw.Write(whole.Body.Bytes()[:sent])
					_ = http.NewResponseController(rw).Flush()
				}
				<-r.Context().Done()
			})
			stalls.Store(true)
			one, other := w.submit("desk", lines(3), nil), w.submit("labs", lines(3), nil)
			var failed error
			for range 60 {
				require.NoError(t, w.sim.Advance(30*time.Second))
				if err := w.Tick(t.Context()); err != nil {
					failed = err
				}
			}
			require.ErrorContains(t, failed, "nothing came for 100ms")
			ended := 0
			for tenant, id := range map[string]string{"desk": one, "labs": other} {
				if !w.job(tenant, id).Open() {
					ended++
				}
			}
			assert.Equal(t, 1, ended)
			stalls.Store(false)
			for tenant, id := range map[string]string{"desk": one, "labs": other} {
				assert.Len(t, w.rows(tenant, w.ended(tenant, id).Output), 3)
			}
		})
	}
}

// A leader whose tick hangs renews its lease all the same: the platform must see it.
func TestATickThatHangsIsSeen(t *testing.T) {
	t.Parallel()
	w := open(t)
	asked, goOn := make(chan struct{}, 1), make(chan struct{})
	w.behind(func(rw http.ResponseWriter, r *http.Request, account http.Handler) {
		if isContent(r) {
			asked <- struct{}{}
			<-goOn
		}
		account.ServeHTTP(rw, r)
	})
	healthy := func() int {
		said := httptest.NewRecorder()
		w.Status().ServeHTTP(said, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return said.Code
	}
	id := w.submit("desk", lines(2), nil)
	ended := make(chan error, 1)
	go func() {
		for {
			if err := w.sim.Advance(30 * time.Second); err != nil {
				ended <- err
				return
			}
			err := w.Tick(context.Background())
			if j, e := (jobs.Store{Table: w.table}).Job(context.Background(), "desk", id); err != nil || e != nil || !j.Open() {
				ended <- errors.Join(err, e)
				return
			}
		}
	}()
	<-asked
	assert.Equal(t, http.StatusOK, healthy())
	require.NoError(t, w.sim.Advance(time.Hour))
	assert.Equal(t, http.StatusOK, healthy())
	require.NoError(t, w.sim.Advance(time.Second))
	assert.Equal(t, http.StatusServiceUnavailable, healthy())
	close(goOn)
	require.NoError(t, <-ended)
	assert.Equal(t, http.StatusOK, healthy())
}

// Two lead for a moment. One collects results and removes them at the account; the
// other, which was about to read them, finds nothing there and keeps what it has.
func TestResultsAreKeptThatAnotherLeaderHasCollected(t *testing.T) {
	t.Parallel()
	w := open(t)
	first := w.Service
	asked, goOn := make(chan struct{}, 1), make(chan struct{})
	w.behind(func(rw http.ResponseWriter, r *http.Request, account http.Handler) {
		if isContent(r) {
			asked <- struct{}{}
			<-goOn
		}
		account.ServeHTTP(rw, r)
	})
	second := w.Service
	w.Service = first
	id := w.submit("desk", lines(20), map[string]string{"pilot": "10"})
	w.until("desk", id, func(j *jobs.Job) bool { return j.Parts[0].State == jobs.Running })
	require.NoError(t, second.Tick(t.Context()))
	require.NoError(t, w.sim.Advance(time.Hour))
	both := make(chan error, 1)
	go func() { both <- second.Tick(context.Background()) }()
	<-asked
	require.Equal(t, jobs.Ended, w.job("desk", id).Parts[0].State)
	w.tick()
	require.Equal(t, jobs.Collected, w.job("desk", id).Parts[0].State)
	close(goOn)
	require.NoError(t, <-both)
	code, body, _ := w.call(http.MethodPost, "/v1/batches/"+id+"/confirm", "desk", "", "")
	require.Equal(t, http.StatusOK, code, body)
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, 20, j.Results.Answered)
	assert.Len(t, w.rows("desk", j.Output), 20)
}

// A row that is longer than any line may be is no row; those behind it are.
func TestARowThatIsTooLongDoesNotKeepAJobFromEnding(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.behind(func(rw http.ResponseWriter, r *http.Request, account http.Handler) {
		if !isContent(r) {
			account.ServeHTTP(rw, r)
			return
		}
		whole := httptest.NewRecorder()
		account.ServeHTTP(whole, r)
		long := `{"custom_id":"row-1","response":{"status_code":200,"body":{"text":"` + strings.Repeat("x", 17<<20) + `"}}}`
		for row := range strings.Lines(whole.Body.String()) {
			if strings.Contains(row, `"row-1"`) {
				row = long + "\n"
			}
			_, _ = rw.Write([]byte(row))
		}
	})
	j := w.ended("desk", w.submit("desk", lines(4), map[string]string{"order": "input"}))
	assert.Equal(t, account.Completed, j.Status)
	assert.Equal(t, map[string]string{"row-0": "200", "row-2": "200", "row-3": "200"}, w.rows("desk", j.Output))
	assert.Equal(t, map[string]string{"row-1": "missing_row"}, w.rows("desk", j.Errors))
}

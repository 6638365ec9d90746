package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/services/controlplane/stamp"
	"onedoor/services/internal/ring"
)

// crowd is an account with n jobs that run, and a control plane that looks after
// them.
func crowd(tb testing.TB, n int) (*service.Service, *time.Time) {
	tb.Helper()
	dir := tb.TempDir()
	writeKey(tb, dir)
	stamps := stamp.Stamps{Keys: ring.Ring(dir), Signing: "1"}
	now := start
	table := ledger.NewLocal()
	store := jobs.Store{Table: table}
	type object struct {
		ID       string            `json:"id"`
		Status   string            `json:"status"`
		Metadata map[string]string `json:"metadata"`
	}
	listed := make([]object, n)
	for i := range listed {
		j := &jobs.Job{ID: jobs.NewJobID(start.Add(time.Duration(i))), Tenant: "desk", Alias: "chat", Deployment: "chat-batch", Lines: 1, Status: account.InProgress, Created: start, Started: start, Deadline: start.Add(24 * time.Hour)}
		id := "batch_" + strconv.Itoa(i)
		j.Parts = []jobs.Part{{Lines: 1, Tokens: 1, Reserved: 1, State: jobs.Running, Status: account.InProgress, Batch: id}}
		require.NoError(tb, store.Add(context.Background(), j))
		metadata, err := stamps.Metadata(stamp.Stamp{Tenant: "desk", Job: j.ID})
		require.NoError(tb, err)
		listed[i] = object{id, "in_progress", metadata}
	}
	azure := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		if after := r.URL.Query().Get("after"); after != "" {
			_, _ = fmt.Sscanf(after, "batch_%d", &from)
			from++
		}
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		until := min(from+limit, n)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": listed[from:until], "has_more": until < n})
	}))
	tb.Cleanup(azure.Close)
	s, err := service.New(service.Parts{
		Settings: given(), Table: table, Blobs: blobs.Dir(dir), Bus: &intake.Memory{}, Account: account.New(azure.URL, credential("x"), http.DefaultClient),
		Identity: callers{}, KeysDir: dir, Signing: "1", Now: func() time.Time { return now }, Log: quiet(),
	})
	require.NoError(tb, err)
	return s, &now
}

// look is the time that a look at all jobs takes.
func look(tb testing.TB, s *service.Service, now *time.Time) time.Duration {
	tb.Helper()
	*now = now.Add(time.Minute)
	began := time.Now()
	require.NoError(tb, s.Tick(context.Background()))
	return time.Since(began)
}

// list is the time that listing all jobs takes, page by page.
func list(tb testing.TB, s *service.Service, n int) time.Duration {
	tb.Helper()
	door := httptest.NewServer(s.Handler())
	defer door.Close()
	w := world{url: door.URL}
	api := w.as("desk")
	began, seen := time.Now(), 0
	pages := api.Batches.ListAutoPaging(context.Background(), client.BatchListParams{Limit: param.NewOpt[int64](100)})
	for pages.Next() {
		seen++
	}
	require.NoError(tb, pages.Err())
	require.Equal(tb, n, seen)
	return time.Since(began)
}

// BenchmarkManyJobs looks at and lists 10,000 jobs, and compares it with ten times
// the time for 1,000: it must be linear.
func BenchmarkManyJobs(b *testing.B) {
	const few, many = 1_000, 10_000
	for b.Loop() {
		s, now := crowd(b, few)
		look(b, s, now)
		fewLook, fewList := look(b, s, now), list(b, s, few)
		s, now = crowd(b, many)
		look(b, s, now)
		manyLook, manyList := look(b, s, now), list(b, s, many)
		perLook, perList := float64(manyLook)/float64(fewLook)*few/many, float64(manyList)/float64(fewList)*few/many
		b.ReportMetric(manyLook.Seconds(), "s/look")
		b.ReportMetric(manyList.Seconds(), "s/list")
		b.ReportMetric(perLook, "look-of-linear")
		b.ReportMetric(perList, "list-of-linear")
		assert.Less(b, perLook, 2.0)
		assert.Less(b, perList, 2.0)
	}
}

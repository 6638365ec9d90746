package telemetry

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
)

// Outputs that only the account has are at risk: from the first that it can have
// made, until all are copied.
func TestOutputsThatAreNotCopiedCountDown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	m := New(14 * 24 * time.Hour)
	job := func(id string, parts ...jobs.Part) *jobs.Job {
		return &jobs.Job{ID: id, Tenant: "labs", Deployment: "chat", Status: account.InProgress, Deadline: now.Add(time.Hour), Parts: parts}
	}
	part := func(state jobs.State, ago time.Duration) jobs.Part {
		return jobs.Part{State: state, Tried: now.Add(-ago)}
	}
	open := []*jobs.Job{
		job("both", part(jobs.Ended, 24*time.Hour), part(jobs.Ended, 48*time.Hour), part(jobs.Collected, 96*time.Hour)),
		job("copied", part(jobs.Collected, 24*time.Hour)),
		job("running", part(jobs.Running, 24*time.Hour)),
	}
	compare := func(want string) {
		t.Helper()
		require.NoError(t, testutil.GatherAndCompare(m.Registry, strings.NewReader(want), "onedoor_batch_outputs_seconds", "onedoor_batch_deadline_seconds"))
	}
	m.Observe(open, now)
	compare(`
# HELP onedoor_batch_deadline_seconds What is left to the deadline of an open job; of the leader alone.
# TYPE onedoor_batch_deadline_seconds gauge
onedoor_batch_deadline_seconds{batch_job="both"} 3600
onedoor_batch_deadline_seconds{batch_job="copied"} 3600
onedoor_batch_deadline_seconds{batch_job="running"} 3600
# HELP onedoor_batch_outputs_seconds What is left at the least until the account deletes outputs that are not copied yet; of the leader alone.
# TYPE onedoor_batch_outputs_seconds gauge
onedoor_batch_outputs_seconds{batch_job="both",tenant="labs"} 1.0368e+06
`)
	m.Leads(false)
	compare("")
}

package demo_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/demo"
)

// Every ticket ends as an answer or a refusal, what met a busy model was tried again, both
// tenants are billed, nobody gets round the door, and two runs agree to the byte.
func TestBatch(t *testing.T) {
	t.Parallel()
	var progress, again bytes.Buffer
	began := time.Now()
	report, err := demo.Batch(t.Context(), demo.Options{Progress: &progress})
	require.NoError(t, err)
	assert.Less(t, time.Since(began), 20*time.Second)

	require.Len(t, report.Tenants, 2)
	tickets := 0
	for _, tenant := range report.Tenants {
		tickets += tenant.Tickets
		assert.Equal(t, "completed", tenant.Status, tenant.Name)
		assert.Equal(t, tenant.Tickets, tenant.Answered+len(tenant.Refusals), tenant.Name)
		require.Len(t, tenant.Refusals, 1, tenant.Name)
		assert.Equal(t, "content_filter", tenant.Refusals[0].Code, tenant.Name)
		assert.Positive(t, tenant.CostUSD, tenant.Name)
		sorted := 0
		for _, n := range tenant.Categories {
			sorted += n
		}
		assert.Equal(t, tenant.Answered, sorted, tenant.Name)
	}
	assert.Equal(t, 50, tickets)
	assert.Equal(t, 4, report.AccountJobs, "two jobs, and two for the lines that were tried again")
	var statuses []int
	for _, a := range report.Attempts {
		statuses = append(statuses, a.Status)
	}
	assert.Equal(t, []int{403, 403, 404}, statuses)

	second, err := demo.Batch(t.Context(), demo.Options{Progress: &again})
	require.NoError(t, err)
	assert.Equal(t, progress.String(), again.String())
	first, err := json.Marshal(report)
	require.NoError(t, err)
	other, err := json.Marshal(second)
	require.NoError(t, err)
	assert.Equal(t, string(first), string(other))
	report.Print(&progress)
	if *update {
		require.NoError(t, os.WriteFile(golden, progress.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), progress.String(), "go test ./services/demo -update rewrites it")
}

// golden is the screen of a run.
const golden = "testdata/batch.txt"

var update = flag.Bool("update", false, "rewrite the golden file")

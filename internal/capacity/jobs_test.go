package capacity

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJobsFollowFromFilesAndEnqueuedTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reason               string
		in                   Nightly
		enqueued             int
		lines, files, atOnce int
		finish               time.Duration
		late                 bool
	}{
		"One":       {"all fits into one file", Nightly{50_000, 1000, 1000, 24 * time.Hour}, 1_000_000_000, 50_000, 1, 1, 24 * time.Hour, false},
		"Lines":     {"a file has 100,000 lines", Nightly{100_001, 10, 100, 24 * time.Hour}, 1_000_000_000, 100_000, 2, 2, 24 * time.Hour, false},
		"Bytes":     {"a file has 200 MB", Nightly{100_000, 10, 4000, 24 * time.Hour}, 1_000_000_000, 50_000, 2, 2, 24 * time.Hour, false},
		"Quota":     {"what the quota does not take waits for a window", Nightly{100_000, 1000, 100, 48 * time.Hour}, 50_000_000, 50_000, 2, 1, 48 * time.Hour, false},
		"Late":      {"then a shorter deadline cannot be promised", Nightly{100_000, 1000, 100, 47 * time.Hour}, 50_000_000, 50_000, 2, 1, 48 * time.Hour, true},
		"Overnight": {"nor one within the window", Nightly{1, 1, 1, 24*time.Hour - 1}, 1000, 1, 1, 1, 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, err := JobsFor(c.in, c.enqueued)
			require.NoError(t, err)
			assert.Equal(t, []int{c.lines, c.files, c.atOnce}, []int{j.Lines, j.Files, j.AtOnce}, c.reason)
			assert.Equal(t, c.finish, j.Finish, c.reason)
			assert.Equal(t, c.late, j.Late, c.reason)
		})
	}
	j, err := JobsFor(Nightly{100_000, 1000, 100, 24 * time.Hour}, 50_000_000)
	require.NoError(t, err)
	assert.Equal(t, "100000 items in files of 50000 lines (at most 100000 lines, 200000000 bytes and 50000000 enqueued tokens) = 2 jobs, 1 at once x 50000000 tokens; 2 after one another x 24h0m0s = 48h0m0s", j.Why)
}

func TestJobsThatNoFileOrQuotaTakesAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   Nightly
		want string
	}{
		"Nothing":  {Nightly{0, 1, 1, 0}, "0 items, want 1 to"},
		"Quota":    {Nightly{1, 1001, 1, 0}, "1001 tokens of input for an item, want 1 to 1000, the deployment's enqueued tokens"},
		"Line":     {Nightly{1, 1, MaxFileBytes + 1, 0}, "200000001 bytes for an item's line"},
		"TooMany":  {Nightly{10_001, 1000, 1, 0}, "10001 items in files of 1 lines are 10001 files, want at most 10000"},
		"NoTokens": {Nightly{1, 0, 1, 0}, "0 tokens of input"},
	} {
		_, err := JobsFor(c.in, 1000)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := JobsFor(Nightly{10_000, 1000, MaxFileBytes, 0}, 1000)
	require.NoError(t, err, "the legal neighbour of each")
}

// Whatever the input: every item has a place, no file is too large, and what is
// enqueued at once is no more than the quota.
func TestJobsProperties(t *testing.T) {
	t.Parallel()
	property := func(items, tokens, bytes uint16, enqueued uint32) bool {
		n := Nightly{Items: int(items), Tokens: int(tokens), Bytes: int(bytes) * 3000, Deadline: time.Hour}
		j, err := JobsFor(n, int(enqueued))
		if err != nil {
			return true
		}
		return j.Files*j.Lines >= n.Items && (j.Files-1)*j.Lines < n.Items && j.Lines <= MaxLines && j.Lines*n.Bytes <= MaxFileBytes &&
			j.AtOnce >= 1 && j.AtOnce*j.Lines*n.Tokens <= int(enqueued) && j.Late
	}
	require.NoError(t, quick.Check(property, &quick.Config{MaxCount: 5000}))
}

func TestOutputsExpireWithinWhatAzureTakes(t *testing.T) {
	t.Parallel()
	for days, seconds := range map[int]int{14: 1_209_600, 30: 2_592_000} {
		got, err := OutputExpiry(days)
		require.NoError(t, err)
		assert.Equal(t, seconds, got)
	}
	for _, days := range []int{13, 31} {
		_, err := OutputExpiry(days)
		require.ErrorContains(t, err, "want 14 to 30")
	}
}

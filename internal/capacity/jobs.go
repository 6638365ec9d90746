package capacity

import (
	"fmt"
	"time"
)

// Limits of the files that batch jobs are made from. An input file may have an
// expiry of 14 to 30 days, and an account takes 10,000 files with one but 500
// without.
// https://learn.microsoft.com/azure/ai-services/openai/how-to/batch
const (
	MaxLines       = 100_000
	MaxFileBytes   = 200_000_000 // 200 MB
	MaxFiles       = 10_000
	MinOutputDays  = 14
	MaxOutputDays  = 30
	secondsOfADay  = 24 * 60 * 60
	maxItemsOfJobs = 1_000_000_000
)

// Nightly is a job that begins at a fixed time and must be done by another.
type Nightly struct {
	Items    int // lines, one for each call
	Tokens   int // of an item's input: what a job counts against the quota of enqueued tokens
	Bytes    int // of an item's line
	Deadline time.Duration
}

// Jobs is what a Nightly comes to.
type Jobs struct {
	Lines  int           // of each file but the last
	Files  int           // each is a job
	AtOnce int           // jobs whose tokens fit into the quota together
	Finish time.Duration // after which all are done if Azure takes its whole window for each
	Late   bool          // Finish is after the deadline
	Why    string
}

// JobsFor cuts the items into files that Azure takes, and these into jobs that the
// deployment's quota of enqueued tokens takes at once. Input tokens count from the
// submission of a job to its end, so what does not fit waits for another job's
// window to end. It fails when not even one item fits.
func JobsFor(n Nightly, enqueued int) (Jobs, error) {
	switch {
	case n.Items < 1 || n.Items > maxItemsOfJobs:
		return Jobs{}, fmt.Errorf("%d items, want 1 to %d", n.Items, maxItemsOfJobs)
	case n.Tokens < 1 || n.Tokens > enqueued:
		return Jobs{}, fmt.Errorf("%d tokens of input for an item, want 1 to %d, the deployment's enqueued tokens", n.Tokens, enqueued)
	case n.Bytes < 1 || n.Bytes > MaxFileBytes:
		return Jobs{}, fmt.Errorf("%d bytes for an item's line, want 1 to %d, the limit of a file", n.Bytes, MaxFileBytes)
	}
	j := Jobs{Lines: min(MaxLines, MaxFileBytes/n.Bytes, enqueued/n.Tokens, n.Items)}
	j.Files = ceil(int64(n.Items), int64(j.Lines))
	if j.Files > MaxFiles {
		return Jobs{}, fmt.Errorf("%d items in files of %d lines are %d files, want at most %d, what an account holds", n.Items, j.Lines, j.Files, MaxFiles)
	}
	j.AtOnce = min(j.Files, enqueued/(j.Lines*n.Tokens))
	waves := ceil(int64(j.Files), int64(j.AtOnce))
	j.Finish = time.Duration(waves) * BatchWindow
	j.Late = j.Finish > n.Deadline
	j.Why = fmt.Sprintf("%d items in files of %d lines (at most %d lines, %d bytes and %d enqueued tokens) = %d jobs, %d at once x %d tokens; %d after one another x %s = %s",
		n.Items, j.Lines, MaxLines, MaxFileBytes, enqueued, j.Files, j.AtOnce, j.Lines*n.Tokens, waves, BatchWindow, j.Finish)
	return j, nil
}

// OutputExpiry is after how many seconds Azure deletes the files of a job, for a
// number of days that it takes.
func OutputExpiry(days int) (seconds int, err error) {
	if days < MinOutputDays || days > MaxOutputDays {
		return 0, fmt.Errorf("%d days, want %d to %d: Azure takes no other expiry, and without one an account is full after 500 files", days, MinOutputDays, MaxOutputDays)
	}
	return days * secondsOfADay, nil
}

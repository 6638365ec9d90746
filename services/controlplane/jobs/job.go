// Package jobs owns what callers know as files and batches, and what the control
// plane knows about them: every job with its parts is one document, so that each
// change of it happens or does not. How parts get on belongs to package schedule.
package jobs

import (
	"time"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/lines"
)

// File is a file of a caller.
type File struct {
	ID        string         `json:"id"`
	Tenant    string         `json:"tenant"`
	Name      string         `json:"name"`
	Purpose   string         `json:"purpose"` // "batch", or "batch_output"
	Created   time.Time      `json:"created"`
	Container string         `json:"container"`
	Blob      string         `json:"blob"`
	Bytes     int64          `json:"bytes"`
	Input     *lines.Summary `json:"input,omitempty"` // of a batch input

	etag string
}

// The purposes of files.
const (
	InputPurpose  = "batch"
	OutputPurpose = "batch_output"
)

// Job is a batch of a caller.
type Job struct {
	ID         string            `json:"id"`
	Tenant     string            `json:"tenant"`
	File       string            `json:"file"`
	Alias      string            `json:"alias"`
	Deployment string            `json:"deployment"`
	URL        string            `json:"url"` // of its lines
	Lines      int               `json:"lines"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Once       string            `json:"once,omitempty"`    // row of the promise that a key of idempotency stands for
	Nightly    string            `json:"nightly,omitempty"` // declared job that it is a run of
	Adopted    bool              `json:"adopted,omitempty"` // found at the account, where the ledger had lost it
	Ordered    bool              `json:"ordered"`           // results come in the order of the input
	Pilot      *Pilot            `json:"pilot,omitempty"`
	Parts      []Part            `json:"parts"`

	Created    time.Time `json:"created"`
	Deadline   time.Time `json:"deadline"`
	Started    time.Time `json:"started"`    // when the first part became a job; zero before
	Finalizing time.Time `json:"finalizing"` // when the last part had ended; zero before
	Cancelling time.Time `json:"cancelling"` // when the caller asked for it; zero if never
	Late       time.Time `json:"late"`       // when the deadline had passed; zero if it has not
	Ended      time.Time `json:"ended"`      // zero before

	Status  account.Status  `json:"status"`
	Faults  []account.Fault `json:"faults,omitempty"`
	Output  string          `json:"output"` // file of the caller; "" for none
	Errors  string          `json:"errors"` // file of the caller; "" for none
	Results Results         `json:"results"`
	Cost    *Money          `json:"cost,omitempty"` // of the answers; nil before the end, or without a price

	etag string
}

// Pilot runs a few lines before all others, and says what all will cost.
type Pilot struct {
	Items     int    `json:"items"`
	Budget    *Money `json:"budget,omitempty"`    // up to which the rest goes on by itself
	Cost      *Money `json:"cost,omitempty"`      // of the pilot; nil before it has ended, or without a price
	Projected *Money `json:"projected,omitempty"` // cost of all lines
	Confirmed bool   `json:"confirmed"`
}

// Stopping tells whether what has not begun is not to begin, and what runs is to be
// cancelled.
func (j *Job) Stopping() bool { return !j.Cancelling.IsZero() || !j.Late.IsZero() }

// Open tells whether work is left to be done.
func (j *Job) Open() bool { return !j.Status.Ended() }

// Rows is how many lines the account has dealt with.
func (j *Job) Rows() int {
	rows := 0
	for i := range j.Parts {
		if j.Parts[i].Again == 0 {
			rows += j.Parts[i].Rows
		}
	}
	return rows
}

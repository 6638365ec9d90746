package jobs

import (
	"time"

	"onedoor/services/controlplane/account"
)

// State is how far a part is.
type State string

// The states, in the order in which a part goes through them. Before each step that
// changes something elsewhere, the state that announces it is written down: who
// finds it there cannot know whether the step was taken, and looks.
const (
	Held       State = "held"       // until the pilot is confirmed
	Waiting    State = "waiting"    // for room among the enqueued tokens
	Reserved   State = "reserved"   // its tokens count
	Uploading  State = "uploading"  // a file is being made at the account, or was
	Uploaded   State = "uploaded"   // the account has the file and may not have read it yet
	Submitting State = "submitting" // a job is being made at the account, or was
	Running    State = "running"    // the account has the job
	Ended      State = "ended"      // and will not change it any more; its tokens are free
	Collected  State = "collected"  // its results are in the platform's storage
	Dropped    State = "dropped"    // it never became a job
	Failed     State = "failed"     // the account did not take it, for a reason that stays
)

// Part is what becomes one job of the account: a run of lines of the caller's file,
// or lines that are tried again.
type Part struct {
	Blob     string `json:"blob"`     // in the container of inputs
	Offset   int64  `json:"offset"`   // in bytes of it
	Length   int64  `json:"length"`   // in bytes
	Lines    int    `json:"lines"`    //
	Tokens   int64  `json:"tokens"`   // estimate of the input
	No       int    `json:"no"`       // that stamps name the part by
	Of       int    `json:"of"`       // index of the part whose lines these are; its own unless they are tried again
	Again    int    `json:"again"`    // how often its lines were tried before
	Pilot    bool   `json:"pilot"`    // runs before all others
	Followed bool   `json:"followed"` // lines of it are tried again in another part

	State    State     `json:"state"`
	Attempt  int       `json:"attempt"` // of making a job; the stamp tells one from another
	Tried    time.Time `json:"tried"`   // when the last step was announced that changes something elsewhere
	After    time.Time `json:"after"`   // before which nothing is tried
	Refusals int       `json:"refusals"`

	Input   string          `json:"input"` // file of the account
	Batch   string          `json:"batch"` // job of the account
	Status  account.Status  `json:"status"`
	Output  string          `json:"output"` // file of the account
	Errors  string          `json:"errors"` // file of the account
	Faults  []account.Fault `json:"faults,omitempty"`
	Rows    int             `json:"rows"`    // that the account has dealt with
	Results Results         `json:"results"` // of a part that is collected

	// Tokens that were ever counted, and ever freed. They differ by Tokens while the
	// part counts, and by nothing else at any time.
	Reserved int64 `json:"reserved"`
	Refunded int64 `json:"refunded"`
}

// Results are what came of lines.
type Results struct {
	Answered int `json:"answered"`
	Refused  int `json:"refused"` // by the content filter: a result, and never tried again
	Failed   int `json:"failed"`  // with the reason in the file of errors
	Missing  int `json:"missing"` // no row came back
	Usage
}

// Usage are the tokens of answers.
type Usage struct {
	Input  int64 `json:"input"`  // with those from the cache
	Cached int64 `json:"cached"` // of them
	Output int64 `json:"output"`
}

// Add adds the results of other lines.
func (r *Results) Add(o Results) {
	r.Answered += o.Answered
	r.Refused += o.Refused
	r.Failed += o.Failed
	r.Missing += o.Missing
	r.Usage.Add(o.Usage)
}

// Add adds the tokens of other answers.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Cached += o.Cached
	u.Output += o.Output
}

// Done tells whether nothing is left to do for the part.
func (p *Part) Done() bool {
	return p.State == Collected || p.State == Dropped || p.State == Failed
}

// Counts are the tokens of the part that count as enqueued. They do from before the
// job is made until it has ended: also while it is being cancelled.
func (p *Part) Counts() int64 { return p.Reserved - p.Refunded }

// Reserve begins to count the tokens of a part that waits.
func (p *Part) Reserve() {
	p.State = Reserved
	p.Reserved += p.Tokens
}

// Release ends it. A second time changes nothing.
func (p *Part) Release(next State) {
	p.State = next
	p.Refunded = p.Reserved
}

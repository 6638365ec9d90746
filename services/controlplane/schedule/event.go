package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"onedoor/internal/event"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/jobs"
)

// Event is something that somebody may have to hear of.
type Event struct {
	Name    string         `json:"name"`
	At      time.Time      `json:"at"` // when it happened
	Tenant  string         `json:"tenant,omitempty"`
	Alias   string         `json:"alias,omitempty"`
	Job     string         `json:"job,omitempty"`
	Batch   string         `json:"batch,omitempty"`  // job of the account, of Foreign
	Status  account.Status `json:"status,omitempty"` // of Terminal
	Lines   int            `json:"lines,omitempty"`  // of Terminal
	Results jobs.Results   `json:"results"`          // of Terminal
	Detail  string         `json:"detail,omitempty"` // what a person needs to know beyond that
}

// The events.
const (
	Submitted = event.Submitted
	Terminal  = event.Terminal
	Late      = event.Late
	Foreign   = event.Foreign
	Adopted   = event.Adopted
	Missed    = event.Missed
)

// ID is what the event is told apart by: it can be said again after a crash, and its
// time may differ then.
func (e Event) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{e.Name, e.Tenant, e.Job, e.Batch}, "\n")))
	return hex.EncodeToString(sum[:16])
}

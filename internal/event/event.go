// Package event owns the names of the control plane's events and of their fields: the
// program writes them into telemetry, queries read them there. Neither knows the
// other.
package event

// The events.
const (
	Submitted = "batch.job.submitted"
	Terminal  = "batch.job.terminal"
	Late      = "batch.job.late"
	Foreign   = "batch.door.foreign"
	Adopted   = "batch.door.adopted"
	Missed    = "batch.nightly.missed"
)

// Family begins the names of all of them.
const Family = "batch."

// The fields that are text.
const (
	ID     = "id" // the same however often the event is sent
	At     = "at" // when it happened, as in RFC 3339; the time of the row is when it was sent
	Tenant = "tenant"
	Alias  = "alias"
	Job    = "jobId"
	Status = "status" // of Terminal
	Detail = "detail" // what a person needs to know beyond that
)

// The fields that are numbers, all of Terminal.
const (
	Items    = "items" // lines of the job
	Answered = "answered"
	Refused  = "refused" // by the content filter, which is a result
	Input    = "inputTokens"
	Cached   = "cachedTokens" // of Input
	Output   = "outputTokens"
)

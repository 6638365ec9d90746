package core

import "time"

// Behaviour is how the service treats files and jobs: what no caller can see
// coming. A job keeps the one that held when it was created, but for the time of
// a cancellation, which is that of the cancellation.
type Behaviour struct {
	// FilePending is how long an uploaded file is pending.
	FilePending time.Duration
	// Validating, Running and Finalizing are how long a job stays in each state;
	// PerRow is added to Running for each row.
	Validating, Running, Finalizing time.Duration
	PerRow                          time.Duration
	// Cancelling is how long a job stays in cancelling; Azure says up to ten minutes.
	Cancelling time.Duration
	// CancelLoses makes a job that is cancelled end as completed.
	CancelLoses bool
	// Expires ends a job 24 hours after its creation as expired, with what is
	// done by then. Azure documents both this and that jobs go on (A832).
	Expires bool
	// ExpirySkew is added to the expires_at that jobs show.
	ExpirySkew time.Duration
	// EstimatePercent is what share of the exact count of tokens the estimate of
	// a fail-fast account sees when a job is created; 0 means all of it.
	EstimatePercent int64
	// LateWindowCheck makes the service accept a completion window other than
	// 24h and fail the job later.
	LateWindowCheck bool
	// Missing and Repeated are custom ids whose rows are left out of the output,
	// or written twice.
	Missing, Repeated []string
	// InOrder writes results in the order of the input. Azure promises none, and
	// by default the order is another one (A840).
	InOrder bool
	// Shape changes how objects are written.
	Shape Shape
}

// Shape is the way objects are written, which differs between versions of the
// API. The zero value is that of the v1 API.
type Shape struct {
	Capitalised bool // "Validating"
	EmptyIDs    bool // "" for a file id that is not there, instead of null
	ISOTimes    bool // time stamps as text
	NullCounts  bool // null in request_counts until the job runs, instead of 0
	OmitTimes   bool // null for in_progress_at and finalizing_at, whatever happened
}

// DefaultBehaviour is what Microsoft's samples show for a job of three rows
// (A830).
func DefaultBehaviour() Behaviour {
	return Behaviour{
		FilePending: 5 * time.Second,
		Validating:  237 * time.Second,
		Running:     112 * time.Second,
		Finalizing:  49 * time.Second,
		Cancelling:  60 * time.Second,
	}
}

// Package annotations names what workloads say of themselves in Kubernetes
// annotations, for the rules of capacity: figures that no other property holds.
// Who declares a workload writes them, who judges it reads them.
package annotations

// On a ScaledObject or a ScaledJob.
const (
	// Deployment is the model deployment that the workload calls, as
	// "account/deployment".
	Deployment = "onedoor.io/deployment"
	// TokensPerMinute is what one replica can use of it, tokens a minute.
	TokensPerMinute = "onedoor.io/tokens-per-minute"
	// Receivers is how many messages one replica waits for or holds at once.
	Receivers = "onedoor.io/receivers"
	// P99 is the 99th percentile of the whole work on one message, as "90s".
	P99 = "onedoor.io/p99"
	// Batch is how many messages a receiver fetches and works on one after another.
	Batch = "onedoor.io/batch"
	// Renew is how often the lock of a message is renewed, as "2m30s"; "0s" for never.
	Renew = "onedoor.io/renew"
)

// On the Deployment of the control plane.
const (
	// BatchOutputDays is after how many days Azure deletes the output files of jobs.
	BatchOutputDays = "onedoor.io/batch-output-days"
	// BatchOutputContainer is the blob container that outputs are copied to.
	BatchOutputContainer = "onedoor.io/batch-output-container"
)

// ReserveTag is the tag of a model deployment with the tokens a minute that are
// kept for people who wait.
const ReserveTag = "interactive-reserve"

// FloorTag is the tag of a resource group with what its stack may cost while nobody
// uses it, in whole US dollars a month.
const FloorTag = "budget-monthly-floor-usd"

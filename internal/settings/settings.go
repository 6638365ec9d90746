// Package settings owns what a deployment tells the control plane in its file: the
// deployment writes it, the program reads it. Neither knows the other.
package settings

import (
	"errors"
	"fmt"

	"onedoor/internal/capacity"
)

// Settings are what the control plane reads from its file. All of it is plain, no
// part is secret. Fields are only ever added.
type Settings struct {
	Directory            string             `json:"directory"`            // GUID of the Entra tenant that issues callers' tokens
	Audience             string             `json:"audience"`             // of those tokens
	Region               string             `json:"region"`               // that the account is in
	Aliases              map[string]Alias   `json:"aliases"`              // that take batch jobs
	Plans                map[string]Plan    `json:"plans"`                // what tenants buy
	Tenants              map[string]Tenant  `json:"tenants"`              // who may call
	Queues               map[string]Intake  `json:"queues"`               // by modality
	NightlyJobs          map[string]Nightly `json:"nightlyJobs"`          // by name
	Topic                string             `json:"topic"`                // that takes all work
	Ledger               string             `json:"ledger"`               // table
	InputContainer       string             `json:"inputContainer"`       // of batch jobs
	OutputContainer      string             `json:"outputContainer"`      // of batch jobs
	OutputExpirySeconds  int                `json:"outputExpirySeconds"`  // after which Azure deletes the files of jobs
	PollSeconds          int                `json:"pollSeconds"`          // between two looks at the account's jobs
	DeadlineSeconds      int                `json:"deadlineSeconds"`      // of a job whose caller names none; then it is cancelled
	MaxLines             int                `json:"maxLines"`             // of a file that Azure takes
	MaxFileBytes         int                `json:"maxFileBytes"`         // of a file that Azure takes
	BatchWindowSeconds   int                `json:"batchWindowSeconds"`   // that Azure may take for a job
	ForgetSeconds        int                `json:"forgetSeconds"`        // after the end of a job, after which the ledger forgets it; 0 for never
	MaxFilesInTheAccount int                `json:"maxFilesInTheAccount"` // that have an expiry
}

// Alias is a model that takes batch jobs.
type Alias struct {
	Deployment     string `json:"deployment"`     // in the batch account
	Model          string `json:"model"`          // in Azure's catalogue, that prices go by
	SKU            string `json:"sku"`            // of the deployment, that prices go by
	Residency      string `json:"residency"`      // the narrowest promise that it keeps
	EnqueuedTokens int    `json:"enqueuedTokens"` // of all jobs that have not ended
}

// Plan is what a tenant buys.
type Plan struct {
	TokensPerMinute int      `json:"tokensPerMinute"`
	Quota           int      `json:"quota"` // tokens in a period; 0 for none
	Period          string   `json:"period"`
	Aliases         []string `json:"aliases"` // sorted
}

// Tenant is who may call.
type Tenant struct {
	Applications []string `json:"applications"` // client ids whose tokens speak for it, sorted
	Plan         string   `json:"plan"`
	Residency    string   `json:"residency"`
}

// Intake is how work of a modality goes on its way.
type Intake struct {
	ContentType       string `json:"contentType"` // that messages are sorted by
	Payloads          string `json:"payloads"`    // container
	Results           string `json:"results"`     // container
	Alias             string `json:"alias"`       // of the model that its workers call; "" for a queue without workers, where work of any alias waits
	PriceAs           string `json:"priceAs"`     // model/SKU of the price table that items are counted by, as workers are told; "" counts nothing
	TimeToLiveSeconds int    `json:"timeToLiveSeconds"`
}

// Nightly is a batch job that starts by itself.
type Nightly struct {
	Schedule        string `json:"schedule"`        // five fields of cron, in UTC
	Tenant          string `json:"tenant"`          // that it is billed to
	Alias           string `json:"alias"`           // of the model
	Source          string `json:"source"`          // prefix of the input's files in the container of inputs
	DeadlineSeconds int    `json:"deadlineSeconds"` // after the start; then it is cancelled, and somebody hears of it
}

// leastPoll is how often Azure lets the jobs of an account be listed, in seconds.
// https://learn.microsoft.com/azure/ai-services/openai/how-to/batch
const leastPoll = 60

// Check says what Azure would refuse of the settings.
func (s Settings) Check() []error {
	var found []error
	if s.PollSeconds < leastPoll {
		found = append(found, fmt.Errorf("%d s between polls, want at least %d", s.PollSeconds, leastPoll))
	}
	if s.OutputExpirySeconds%SecondsOfADay != 0 {
		found = append(found, fmt.Errorf("outputs expire after %d s, want whole days", s.OutputExpirySeconds))
	} else if _, err := capacity.OutputExpiry(s.OutputExpirySeconds / SecondsOfADay); err != nil {
		found = append(found, fmt.Errorf("outputs expire after %w", err))
	}
	if s.OutputContainer == "" {
		found = append(found, errors.New("no container of outputs: they would be gone when Azure deletes its files"))
	}
	if s.ForgetSeconds != 0 && s.ForgetSeconds < leastForget {
		found = append(found, fmt.Errorf("jobs are forgotten %d s after their end, want 0 for never, or at least %d: until then one that the ledger has lost may still run", s.ForgetSeconds, leastForget))
	}
	return found
}

// leastForget is how long the ledger knows a job that has ended, in seconds, at the
// least: longer than any runs, which is 14 days.
const leastForget = 15 * SecondsOfADay

// Forget is after how many seconds the ledger forgets a job whose files storage keeps
// for so many days.
func Forget(days int) int { return max(days*SecondsOfADay, leastForget) }

// SecondsOfADay is the unit of expiries, which are whole days.
const SecondsOfADay = 24 * 60 * 60

package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/capacity"
	"onedoor/internal/ref"
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
	MaxFilesInTheAccount int                `json:"maxFilesInTheAccount"` // that have an expiry
}

// Alias is a model that takes batch jobs.
type Alias struct {
	Deployment     string `json:"deployment"`     // in the batch account
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

func (s Settings) check() []error {
	var found []error
	if s.PollSeconds < leastPoll {
		found = append(found, fmt.Errorf("%d s between polls, want at least %d", s.PollSeconds, leastPoll))
	}
	if s.OutputExpirySeconds%secondsOfADay != 0 {
		found = append(found, fmt.Errorf("outputs expire after %d s, want whole days", s.OutputExpirySeconds))
	} else if _, err := capacity.OutputExpiry(s.OutputExpirySeconds / secondsOfADay); err != nil {
		found = append(found, fmt.Errorf("outputs expire after %w", err))
	}
	if s.OutputContainer == "" {
		found = append(found, errors.New("no container of outputs: they would be gone when Azure deletes its files"))
	}
	return found
}

const secondsOfADay = 24 * 60 * 60

// configFile is the settings' name in their object.
const configFile = "config.json"

// config declares the settings as an object that never changes: its name is of its
// content, so that pods which start with a new one are told apart from those that
// still run with the old, and an update that fails leaves them what they have.
func (b *builder) config() (pulumi.StringOutput, error) {
	text, err := json.MarshalIndent(b.args.Settings, "", "  ")
	if err != nil {
		return pulumi.StringOutput{}, err
	}
	sum := sha256.Sum256(text)
	name := pulumi.String(app + "-" + hex.EncodeToString(sum[:4]))
	metadata := b.metadata(nil)
	metadata.Name = name
	made, err := corev1.NewConfigMap(b.ctx, b.name+"-config", &corev1.ConfigMapArgs{
		Metadata: metadata, Immutable: pulumi.Bool(true), Data: pulumi.ToStringMap(map[string]string{configFile: string(text) + "\n"}),
	}, b.in...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("configuration: %w", err)
	}
	return ref.After(name, made), nil
}

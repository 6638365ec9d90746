package account

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Status is that of a job.
type Status string

// The states, in the letters of OpenAI. https://platform.openai.com/docs/api-reference/batch/object
const (
	Validating Status = "validating"
	InProgress Status = "in_progress"
	Finalizing Status = "finalizing"
	Cancelling Status = "cancelling"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
	Expired    Status = "expired"
)

// Ended tells whether the job will not change any more. Times are no sign of it:
// some are set on jobs that run, and missing on those that have ended.
func (s Status) Ended() bool {
	return s == Completed || s == Failed || s == Cancelled || s == Expired
}

// Fault is something wrong with the input, as the account found it.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// Batch is a job of the account.
type Batch struct {
	ID                  string
	Status              Status
	Created             time.Time // zero where the account does not say
	Input               string    // file
	Output, Errors      string    // files; "" where there is none
	Completed, Rejected int       // rows; 0 where the account does not say
	Faults              []Fault
	Metadata            map[string]string
}

func batch(r gjson.Result) Batch {
	b := Batch{
		ID: r.Get("id").String(), Input: r.Get("input_file_id").String(), Output: r.Get("output_file_id").String(), Errors: r.Get("error_file_id").String(),
		Completed: int(r.Get("request_counts.completed").Int()), Rejected: int(r.Get("request_counts.failed").Int()),
		Created: moment(r.Get("created_at")), Metadata: map[string]string{},
	}
	b.Status = Status(strings.ToLower(r.Get("status").String()))
	if b.Status == "canceled" { // Microsoft's samples have both
		b.Status = Cancelled
	}
	r.Get("errors.data").ForEach(func(_, e gjson.Result) bool {
		b.Faults = append(b.Faults, Fault{Code: e.Get("code").String(), Message: e.Get("message").String(), Param: e.Get("param").String(), Line: int(e.Get("line").Int())})
		return true
	})
	if metadata := r.Get("metadata"); metadata.IsObject() {
		metadata.ForEach(func(key, value gjson.Result) bool {
			b.Metadata[key.String()] = value.String()
			return true
		})
	}
	return b
}

// moment reads a time, which is seconds or text.
func moment(r gjson.Result) time.Time {
	if r.Type == gjson.Number {
		return time.Unix(r.Int(), 0)
	}
	return r.Time() // zero for null
}

// OverLimit tells whether the job failed because too much was enqueued: some
// regions say so only then.
func (b Batch) OverLimit() bool {
	for _, f := range b.Faults {
		if f.Code == TokenLimit {
			return b.Status == Failed
		}
	}
	return false
}

// Quota is what the account says of a deployment's enqueued tokens; zero where it
// does not.
type Quota struct{ Enqueued, Most int64 }

// expires is how the account is told when to delete a file.
type expires struct {
	Seconds int    `json:"seconds"`
	Anchor  string `json:"anchor"`
}

// Create makes a job of a file. The endpoint is always the same: the account reads
// from the lines which one they are for.
func (c *Client) Create(ctx context.Context, input string, expiry int, metadata map[string]string) (Batch, Quota, error) {
	answer, header, err := c.send(ctx, "/batches", struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
		Output   expires           `json:"output_expires_after"`
	}{input, "/chat/completions", "24h", metadata, expires{expiry, "created_at"}})
	if err != nil {
		return Batch{}, Quota{}, err
	}
	enqueued, _ := strconv.ParseInt(header.Get("deployment-enqueued-tokens"), 10, 64) // 0 where it is missing
	most, _ := strconv.ParseInt(header.Get("deployment-maximum-enqueued-tokens"), 10, 64)
	return batch(answer), Quota{enqueued, most}, nil
}

// Batches are all jobs of the account, whoever made them.
func (c *Client) Batches(ctx context.Context) ([]Batch, error) {
	var out []Batch
	err := c.pages(ctx, "/batches", url.Values{}, func(r gjson.Result) { out = append(out, batch(r)) })
	return out, err
}

// Cancel asks the account to end a job. It may take 10 minutes, and the job may end
// otherwise. That it has ended already is no error.
func (c *Client) Cancel(ctx context.Context, id string) error {
	ctx, stop := context.WithTimeout(ctx, callTimeout)
	defer stop()
	response, err := c.do(ctx, http.MethodPost, "/batches/"+escape(id)+"/cancel", "", nil)
	var refusal *Error
	if errors.As(err, &refusal) && (refusal.Status == http.StatusBadRequest || refusal.Status == http.StatusConflict) {
		return nil // it has ended, and the next look at it says how
	}
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Backoff is how long to wait before a job that did not fit is tried again: twice
// as long each time, up to an hour.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
func Backoff(attempt int) time.Duration {
	const first, most = 5 * time.Second, time.Hour
	d := first
	for range attempt {
		if d *= 2; d >= most {
			return most
		}
	}
	return d
}

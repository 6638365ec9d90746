// Package demo shows the asynchronous door at work on one machine: the real control
// plane with local stores before a simulated account, in virtual time, with OpenAI's
// own client as the caller. Nothing leaves the machine.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// Options are how Batch runs.
type Options struct {
	// Progress receives a line for each thing that happens; nil means silence.
	Progress io.Writer
	// Pause is the real time between two steps, so that a person can follow.
	Pause time.Duration
}

// step is the virtual time between two steps.
const step = 15 * time.Second

// patience is how much virtual time the jobs get. They need a quarter of an hour.
const patience = 6 * time.Hour

// Batch sorts 50 tickets of two tenants by batch jobs, and tries to go round the door.
func Batch(ctx context.Context, o Options) (report *Report, err error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	dir, err := os.MkdirTemp("", "onedoor-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w, err := open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r := &run{world: w, options: o, jobs: map[string]*openai.Batch{}}
	for _, tenant := range tenants {
		if err := r.submit(ctx, tenant); err != nil {
			return nil, fmt.Errorf("%s: %w", tenant, err)
		}
	}
	report = &Report{Model: model, SKU: sku}
	if report.Attempts, err = r.goRound(ctx); err != nil {
		return nil, err
	}
	if err := r.wait(ctx); err != nil {
		return nil, err
	}
	report.VirtualSeconds = int(w.azure.Now().Sub(start).Seconds())
	report.AccountJobs = w.azure.State().Jobs.Len()
	for _, tenant := range tenants {
		result, err := r.collect(ctx, tenant)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tenant, err)
		}
		report.Tenants = append(report.Tenants, result)
	}
	return report, nil
}

// run is one demonstration.
type run struct {
	*world
	options Options
	jobs    map[string]*openai.Batch // of each tenant
}

// say writes a line of progress.
func (r *run) say(format string, args ...any) {
	fmt.Fprintf(r.options.Progress, "%s  %s\n", r.azure.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// api is OpenAI's client; only the address is another.
func api(url, token string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url), option.WithAPIKey(token), option.WithMaxRetries(0))
}

// submit uploads the tickets of a tenant and creates its job.
func (r *run) submit(ctx context.Context, tenant string) error {
	tickets := ticketsOf(tenant)
	lines, err := file(tickets)
	if err != nil {
		return err
	}
	client := api(r.door+"/v1", tenant)
	uploaded, err := client.Files.New(ctx, openai.FileNewParams{
		File: openai.File(strings.NewReader(lines), "tickets.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
	})
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	job, err := client.Batches.New(ctx, openai.BatchNewParams{
		InputFileID: uploaded.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: "24h",
		Metadata: map[string]string{"order": "input"},
	})
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	r.jobs[tenant] = job
	r.say("%s uploads %d tickets and creates a batch", tenant, len(tickets))
	return nil
}

// goRound tries what must not work: the account itself with a tenant's token, and another
// tenant's job.
func (r *run) goRound(ctx context.Context) ([]Attempt, error) {
	direct := api(r.account+"/openai/v1", north)
	_, submitting := direct.Batches.New(ctx, openai.BatchNewParams{InputFileID: "file-any", Endpoint: "/chat/completions", CompletionWindow: "24h"})
	_, uploading := direct.Files.New(ctx, openai.FileNewParams{File: openai.File(strings.NewReader("{}"), "any.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch})
	client := api(r.door+"/v1", north)
	_, reading := client.Batches.Get(ctx, r.jobs[south].ID)
	var out []Attempt
	for _, a := range []struct {
		what string
		err  error
	}{
		{north + " uploads a file to the account itself", uploading},
		{north + " submits a job at the account itself", submitting},
		{north + " reads the job of " + south, reading},
	} {
		var refused *openai.Error
		if a.err == nil {
			return nil, fmt.Errorf("%s: it was accepted, want a refusal", a.what)
		} else if !errors.As(a.err, &refused) {
			return nil, fmt.Errorf("%s: %w", a.what, a.err)
		}
		out = append(out, Attempt{What: a.what, Status: refused.StatusCode, Code: refused.Code})
		r.say("%s: %d %s", a.what, refused.StatusCode, refused.Code)
	}
	return out, nil
}

// wait lets time pass until all jobs have ended, and says how they get on.
func (r *run) wait(ctx context.Context) error {
	said, taken := map[string]string{}, 0
	for range int(patience / step) {
		if err := r.pass(ctx, step); err != nil {
			return err
		}
		for jobs := r.azure.State().Jobs.Len(); taken < jobs; {
			taken++
			r.say("the account takes job %d", taken)
		}
		running := 0
		for _, tenant := range tenants {
			client := api(r.door+"/v1", tenant)
			job, err := client.Batches.Get(ctx, r.jobs[tenant].ID)
			if err != nil {
				return fmt.Errorf("%s: %w", tenant, err)
			}
			r.jobs[tenant] = job
			done := job.RequestCounts.Completed + job.RequestCounts.Failed
			line := fmt.Sprintf("%s %-11s %s %2d of %d", tenant, job.Status, bar(done, job.RequestCounts.Total), done, job.RequestCounts.Total)
			if said[tenant] != line {
				said[tenant] = line
				r.say("%s", line)
			}
			if !ended(job.Status) {
				running++
			}
		}
		if running == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.options.Pause):
		}
	}
	return fmt.Errorf("the jobs have not ended after %s of virtual time", patience)
}

func ended(status openai.BatchStatus) bool {
	return slices.Contains([]openai.BatchStatus{
		openai.BatchStatusCompleted, openai.BatchStatusFailed, openai.BatchStatusExpired, openai.BatchStatusCancelled,
	}, status)
}

// bar is 20 characters wide.
func bar(done, total int64) string {
	const width = 20
	full := 0
	if total > 0 {
		full = int(done * width / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// row is a result as clients read it.
type row struct {
	CustomID string `json:"custom_id"`
	Response struct {
		StatusCode int `json:"status_code"`
		Body       struct {
			Error *struct {
				Code string `json:"code"`
			} `json:"error"`
			Choices []struct {
				Message struct {
					Content string `json:"content"`
				} `json:"message"`
			} `json:"choices"`
		} `json:"body"`
	} `json:"response"`
}

// collect reads the results of a tenant's job, and what they cost.
func (r *run) collect(ctx context.Context, tenant string) (Tenant, error) {
	job := r.jobs[tenant]
	t := Tenant{Name: tenant, Status: string(job.Status), Tickets: int(job.RequestCounts.Total), Categories: map[string]int{}, Refusals: []Refusal{}}
	client := api(r.door+"/v1", tenant)
	answer, err := client.Files.Content(ctx, job.OutputFileID)
	if err != nil {
		return t, fmt.Errorf("results: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	rows := json.NewDecoder(answer.Body)
	for {
		var got row
		if err := rows.Decode(&got); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return t, fmt.Errorf("results: %w", err)
		}
		if err := t.add(got); err != nil {
			return t, err
		}
	}
	return t, r.bill(ctx, &t)
}

// add counts a result.
func (t *Tenant) add(got row) error {
	if e := got.Response.Body.Error; e != nil {
		t.Refusals = append(t.Refusals, Refusal{Ticket: got.CustomID, Status: got.Response.StatusCode, Code: e.Code})
		return nil
	}
	if len(got.Response.Body.Choices) == 0 {
		return fmt.Errorf("results: %s has neither an answer nor an error", got.CustomID)
	}
	var sorted struct {
		Category string `json:"category"`
		Urgent   bool   `json:"urgent"`
	}
	if err := json.Unmarshal([]byte(got.Response.Body.Choices[0].Message.Content), &sorted); err != nil {
		return fmt.Errorf("results: %s: %w", got.CustomID, err)
	}
	t.Answered++
	t.Categories[sorted.Category]++
	if sorted.Urgent {
		t.Urgent = append(t.Urgent, got.CustomID)
	}
	return nil
}

// bill asks the control plane what the tenant has used.
func (r *run) bill(ctx context.Context, t *Tenant) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.door+"/usage", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+t.Name)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("usage: status %d", answer.StatusCode)
	}
	var used struct {
		PricesOf string `json:"prices_of"`
		Total    struct {
			Input  int64   `json:"input_tokens"`
			Output int64   `json:"output_tokens"`
			Cost   float64 `json:"cost_usd"`
		} `json:"total"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&used); err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	t.InputTokens, t.OutputTokens, t.CostUSD, t.PricesOf = used.Total.Input, used.Total.Output, used.Total.Cost, used.PricesOf
	return nil
}

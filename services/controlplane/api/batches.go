package api

import (
	"net/http"
	"time"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/jobs"
)

// batchObject is a job as OpenAI's clients read it, with what the platform adds.
type batchObject struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	Endpoint         string            `json:"endpoint"`
	Model            string            `json:"model"`
	Errors           *faults           `json:"errors"`
	InputFileID      string            `json:"input_file_id"`
	CompletionWindow string            `json:"completion_window"`
	Status           account.Status    `json:"status"`
	OutputFileID     *string           `json:"output_file_id"`
	ErrorFileID      *string           `json:"error_file_id"`
	CreatedAt        int64             `json:"created_at"`
	InProgressAt     *int64            `json:"in_progress_at"`
	ExpiresAt        int64             `json:"expires_at"`
	FinalizingAt     *int64            `json:"finalizing_at"`
	CompletedAt      *int64            `json:"completed_at"`
	FailedAt         *int64            `json:"failed_at"`
	ExpiredAt        *int64            `json:"expired_at"`
	CancellingAt     *int64            `json:"cancelling_at"`
	CancelledAt      *int64            `json:"cancelled_at"`
	RequestCounts    counts            `json:"request_counts"`
	Usage            *tokens           `json:"usage,omitempty"`
	Metadata         map[string]string `json:"metadata"`
	OneDoor          extension         `json:"onedoor"`
}

type faults struct {
	Object string          `json:"object"`
	Data   []account.Fault `json:"data"`
}

// counts are of lines: a refusal is a result.
type counts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

type tokens struct {
	Input        int64        `json:"input_tokens"`
	InputDetails inputDetails `json:"input_tokens_details"`
	Output       int64        `json:"output_tokens"`
	Total        int64        `json:"total_tokens"`
}

type inputDetails struct {
	Cached int64 `json:"cached_tokens"`
}

// extension is what OpenAI has no words for.
type extension struct {
	Refused int          `json:"refused"`             // by the content filter; among the completed
	Missing int          `json:"missing"`             // without a row; among the failed
	CostUSD *float64     `json:"cost_usd"`            // null before the end, or without a price
	Parts   []partObject `json:"parts"`               // jobs of Azure's that it was cut into
	Pilot   *pilotObject `json:"pilot,omitempty"`     // of a job that has one
	Adopted bool         `json:"adopted,omitempty"`   // found at Azure where the ledger had lost it
	Nightly string       `json:"nightly,omitempty"`   // declared job that it is a run of
	Batches []string     `json:"azure_ids,omitempty"` // of those jobs, for a support request
}

type partObject struct {
	State  jobs.State     `json:"state"`
	Status account.Status `json:"status,omitempty"` // at Azure
	Lines  int            `json:"lines"`
	Again  int            `json:"again,omitempty"` // how often its lines were tried before
}

type pilotObject struct {
	Items        int      `json:"items"`
	PerItemUSD   *float64 `json:"per_item_usd"`  // null before the pilot has ended, or without a price
	ProjectedUSD *float64 `json:"projected_usd"` // of all lines
	BudgetUSD    *float64 `json:"budget_usd"`
	Confirmed    bool     `json:"confirmed"`
}

func dollars(m *jobs.Money) *float64 {
	if m == nil {
		return nil
	}
	d := m.Dollars()
	return &d
}

func unix(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func batchOf(j *jobs.Job) batchObject {
	b := batchObject{
		ID: j.ID, Object: "batch", Endpoint: j.URL, Model: j.Alias, InputFileID: j.File, CompletionWindow: window, Status: j.Status,
		OutputFileID: given(j.Output), ErrorFileID: given(j.Errors), CreatedAt: j.Created.Unix(), InProgressAt: unix(j.Started),
		ExpiresAt: j.Deadline.Unix(), FinalizingAt: unix(j.Finalizing), CancellingAt: unix(j.Cancelling), Metadata: j.Metadata,
		RequestCounts: counts{Total: j.Lines, Completed: j.Rows()},
		OneDoor: extension{
			Refused: j.Results.Refused, Missing: j.Results.Missing, CostUSD: dollars(j.Cost), Parts: []partObject{}, Adopted: j.Adopted, Nightly: j.Nightly,
		},
	}
	if len(j.Faults) > 0 {
		b.Errors = &faults{Object: "list", Data: j.Faults}
	}
	switch j.Status {
	case account.Completed:
		b.CompletedAt = unix(j.Ended)
	case account.Failed:
		b.FailedAt = unix(j.Ended)
	case account.Expired:
		b.ExpiredAt = unix(j.Ended)
	case account.Cancelled:
		b.CancelledAt = unix(j.Ended)
	}
	if r := j.Results; !j.Open() {
		b.RequestCounts.Completed, b.RequestCounts.Failed = r.Answered+r.Refused, r.Failed+r.Missing
		b.Usage = &tokens{Input: r.Input, InputDetails: inputDetails{r.Cached}, Output: r.Output, Total: r.Input + r.Output}
	}
	for n := range j.Parts {
		p := &j.Parts[n]
		b.OneDoor.Parts = append(b.OneDoor.Parts, partObject{State: p.State, Status: p.Status, Lines: p.Lines, Again: p.Again})
		if p.Batch != "" {
			b.OneDoor.Batches = append(b.OneDoor.Batches, p.Batch)
		}
	}
	if p := j.Pilot; p != nil {
		b.OneDoor.Pilot = &pilotObject{Items: p.Items, ProjectedUSD: dollars(p.Projected), BudgetUSD: dollars(p.Budget), Confirmed: p.Confirmed}
		if p.Cost != nil {
			each := p.Cost.Dollars() / float64(p.Items)
			b.OneDoor.Pilot.PerItemUSD = &each
		}
	}
	return b
}

func (a *API) listBatches(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	p, err := pageOf(r, maxPage)
	if err != nil {
		return err
	}
	found, err := a.Jobs.Jobs(r.Context(), by.Tenant, p.after, p.limit+1)
	if err != nil {
		return err
	}
	out := make([]batchObject, len(found))
	for i, j := range found {
		out[i] = batchOf(j)
	}
	return answer(w, http.StatusOK, listOf(out, p.limit, func(b batchObject) string { return b.ID }))
}

func (a *API) job(r *http.Request, by identity.Caller) (*jobs.Job, error) {
	id := r.PathValue("id")
	j, err := a.Jobs.Job(r.Context(), by.Tenant, id)
	return j, absent(err, "id", "batch", id)
}

func (a *API) getBatch(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	j, err := a.job(r, by)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, batchOf(j))
}

// cancelBatch notes that the caller wants the job to end. The leader sees to it;
// lines that have run until then are kept, and billed.
func (a *API) cancelBatch(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	j, err := a.job(r, by)
	if err != nil {
		return err
	}
	now := a.Now()
	err = a.Jobs.Change(r.Context(), j, func(j *jobs.Job) error {
		switch {
		case !j.Cancelling.IsZero() && j.Open():
			return nil // a second time changes nothing
		case !j.Open() || !j.Finalizing.IsZero():
			return apierror.New(apierror.NotCancellable, "id", "batch %s is %s: there is nothing left to cancel", j.ID, j.Status)
		}
		j.Cancelling, j.Status = now, account.Cancelling
		return nil
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, batchOf(j))
}

// confirmBatch lets a job go on whose pilot has said what it will cost.
func (a *API) confirmBatch(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	j, err := a.job(r, by)
	if err != nil {
		return err
	}
	err = a.Jobs.Change(r.Context(), j, func(j *jobs.Job) error {
		switch {
		case j.Pilot == nil:
			return apierror.New(apierror.InvalidRequest, "id", "batch %s has no pilot and runs by itself; metadata.pilot asks for one", j.ID)
		case !j.Open() || j.Stopping():
			return apierror.New(apierror.Conflict, "id", "batch %s is %s: there is nothing left to confirm", j.ID, j.Status)
		}
		j.Pilot.Confirmed = true
		return nil
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, batchOf(j))
}

package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/lines"
	"onedoor/services/controlplane/usage"
)

// newBatch is what a caller says of a job.
type newBatch struct {
	File     string            `json:"input_file_id"`
	Endpoint string            `json:"endpoint"`
	Window   string            `json:"completion_window"`
	Metadata map[string]string `json:"metadata"`
}

// window is the only one that there is. Deadlines are in the metadata.
const window = "24h"

// Metadata that mean something to the platform. All other metadata are the
// caller's own.
const (
	pilotKey    = "pilot"      // 10 to 50 lines that run first
	budgetKey   = "budget_usd" // up to which the rest runs by itself after the pilot
	orderKey    = "order"      // "input": rows come in the order of the lines
	deadlineKey = "deadline"   // a Go duration from now, or a time as in RFC 3339
)

// Limits of metadata, as OpenAI has them, and of what they say.
const (
	maxPairs     = 16
	maxKey       = 64
	maxValue     = 512
	minPilot     = 10
	maxPilot     = 50
	maxDeadline  = 14 * 24 * time.Hour // Azure's copies of files are gone then
	idempotency  = "Idempotency-Key"
	maxIdempoKey = 255
)

func (a *API) createBatch(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	var body newBatch
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.File == "" {
		return apierror.New(apierror.InvalidRequest, "input_file_id", "input_file_id is not set, want the id of a file that was uploaded with purpose %q", jobs.InputPurpose)
	}
	once, err := onceOf(r, by.Tenant, body)
	if err != nil {
		return err
	}
	// What the first post found is not asked of the second: the batch itself is what the
	// plan has no more room for, and its file may be gone.
	switch j, err := a.first(r.Context(), once); {
	case err == nil:
		return answer(w, http.StatusOK, batchOf(j))
	case !errors.Is(err, ledger.ErrNotFound):
		return err
	}
	f, err := a.Jobs.File(r.Context(), by.Tenant, body.File)
	if err != nil {
		return absent(err, "input_file_id", "file", body.File)
	}
	j, err := a.planned(f, body)
	if err != nil {
		return err
	}
	if err := a.pilot(r.Context(), j, f); err != nil {
		return err
	}
	if err := a.allowed(r.Context(), j); err != nil {
		return err
	}
	if j, err = a.add(r.Context(), once, j); err != nil {
		return err
	}
	return answer(w, http.StatusOK, batchOf(j))
}

// promise is what a key of idempotency stands for.
type promise struct {
	Job  string `json:"job"`
	Body string `json:"body"` // hash
}

// once is the key of idempotency of a post, and what is posted with it. Without a key
// it is empty.
type once struct {
	tenant string
	key    string // hash
	body   string // hash
}

func onceOf(r *http.Request, tenant string, body newBatch) (once, error) {
	key := r.Header.Get(idempotency)
	if key == "" {
		return once{}, nil
	}
	if len(key) > maxIdempoKey {
		return once{}, apierror.New(apierror.InvalidRequest, idempotency, "%s has %d bytes, want at most %d", idempotency, len(key), maxIdempoKey)
	}
	text, err := json.Marshal(body)
	return once{tenant, digest(key), digest(string(text))}, err
}

// first is the job that a key was used for; ledger.ErrNotFound if there is none.
func (a *API) first(ctx context.Context, o once) (*jobs.Job, error) {
	if o.key == "" {
		return nil, ledger.ErrNotFound
	}
	kept, err := a.promised(ctx, o)
	if err != nil {
		return nil, err
	}
	return a.Jobs.Job(ctx, o.tenant, kept.Job)
}

// promised is the promise that was made for a key; ledger.ErrNotFound if none was.
func (a *API) promised(ctx context.Context, o once) (promise, error) {
	d, err := a.Jobs.Table.Get(ctx, jobs.OnceKey(o.tenant, o.key))
	if err != nil {
		return promise{}, err
	}
	var kept promise
	if err := json.Unmarshal(d.Data, &kept); err != nil {
		return promise{}, err
	}
	if kept.Body != o.body {
		return promise{}, apierror.New(apierror.IdempotencyReuse, idempotency, "%s was used for another batch; use a new key for each", idempotency)
	}
	return kept, nil
}

// add adds the job, and for a key the one that was promised, however often it is asked
// to.
func (a *API) add(ctx context.Context, o once, j *jobs.Job) (*jobs.Job, error) {
	if o.key == "" {
		return j, a.Jobs.Add(ctx, j)
	}
	mine, err := json.Marshal(promise{j.ID, o.body})
	if err != nil {
		return nil, err
	}
	j.Once = o.key
	_, err = a.Jobs.Table.Insert(ctx, ledger.Document{Key: jobs.OnceKey(o.tenant, o.key), Data: mine})
	if errors.Is(err, ledger.ErrExists) { // of a post at the same time, or of one that died before it added its job
		kept, err := a.promised(ctx, o)
		if err != nil {
			return nil, err
		}
		j.ID = kept.Job
	} else if err != nil {
		return nil, err
	}
	err = a.Jobs.Add(ctx, j)
	if errors.Is(err, ledger.ErrExists) {
		return a.Jobs.Job(ctx, j.Tenant, j.ID)
	}
	return j, err
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// planned is the job that a caller asks for, before anything is written down. All
// that is wrong is said at once.
func (a *API) planned(f jobs.File, body newBatch) (*jobs.Job, error) {
	if f.Input == nil {
		return nil, apierror.New(apierror.InvalidRequest, "input_file_id", "file %s is a result; name a file that was uploaded with purpose %q", f.ID, jobs.InputPurpose)
	}
	var found []string
	param := ""
	bad := func(key, format string, args ...any) {
		if param == "" {
			param = key
		}
		found = append(found, key+" "+fmt.Sprintf(format, args...))
	}
	if strings.TrimPrefix(body.Endpoint, "/v1") != strings.TrimPrefix(f.Input.URL, "/v1") {
		bad("endpoint", "is %q, want %q as in the lines of the file", cut(body.Endpoint), f.Input.URL)
	}
	if body.Window != window {
		bad("completion_window", "is %q, want %q; metadata.%s sets a deadline", cut(body.Window), window, deadlineKey)
	}
	if len(body.Metadata) > maxPairs {
		bad("metadata", "has %d pairs, want at most %d", len(body.Metadata), maxPairs)
	}
	for _, key := range slices.Sorted(maps.Keys(body.Metadata)) {
		if len(key) > maxKey || len(body.Metadata[key]) > maxValue {
			bad("metadata."+cut(key), "has a key of %d and a value of %d bytes, want at most %d and %d", len(key), len(body.Metadata[key]), maxKey, maxValue)
		}
	}
	now := a.Now()
	j := &jobs.Job{
		ID: jobs.NewJobID(now), Tenant: f.Tenant, File: f.ID, Alias: f.Input.Alias, Deployment: f.Input.Deployment, URL: f.Input.URL, Lines: f.Input.Lines,
		Metadata: body.Metadata, Created: now, Deadline: now.Add(time.Duration(a.Settings.DeadlineSeconds) * time.Second), Status: account.Validating,
	}
	for n, p := range f.Input.Parts {
		j.Parts = append(j.Parts, jobs.Part{Blob: f.Blob, Offset: p.Offset, Length: p.Length, Lines: p.Lines, Tokens: p.Tokens, No: n, Of: n, State: jobs.Waiting})
	}
	options(j, now, bad)
	if len(found) > 0 {
		return nil, apierror.New(apierror.InvalidRequest, param, "%s", strings.Join(found, "; "))
	}
	// The settings may be other ones than at the upload.
	known, refusal := a.serve(f.Tenant, f.Input.Alias)
	if refusal != nil {
		return nil, refusal
	}
	j.Deployment = known.Deployment
	return j, nil
}

// options reads what metadata say to the platform.
func options(j *jobs.Job, now time.Time, bad func(key, format string, args ...any)) {
	if text, ok := j.Metadata[orderKey]; ok {
		if j.Ordered = text == "input"; !j.Ordered {
			bad("metadata."+orderKey, "is %q, want \"input\", or leave it out", text)
		}
	}
	if text, ok := j.Metadata[deadlineKey]; ok {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			var d time.Duration
			d, err = time.ParseDuration(text)
			at = now.Add(d)
		}
		if err != nil || !at.After(now) || at.After(now.Add(maxDeadline)) {
			bad("metadata."+deadlineKey, "is %q, want a duration such as \"12h\" or a time such as \"2026-12-01T06:00:00Z\", from now up to %s ahead", text, maxDeadline)
		}
		j.Deadline = at
	}
	text, ok := j.Metadata[pilotKey]
	if !ok {
		if _, ok := j.Metadata[budgetKey]; ok {
			bad("metadata."+budgetKey, "is set without metadata.%s, whose cost it is compared with", pilotKey)
		}
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minPilot || n > maxPilot {
		bad("metadata."+pilotKey, "is %q, want %d to %d lines", text, minPilot, maxPilot)
	}
	j.Pilot = &jobs.Pilot{Items: n}
	if text, ok := j.Metadata[budgetKey]; ok {
		usd, err := strconv.ParseFloat(text, 64)
		if err != nil || !(usd > 0 && usd <= 1e6) {
			bad("metadata."+budgetKey, "is %q, want US dollars, above 0 and up to 1000000", text)
		}
		budget := jobs.Money(math.Round(usd * 1e6))
		j.Pilot.Budget = &budget
	}
}

// pilot cuts the pilot off the first part. A file with no more lines than it needs
// none.
func (a *API) pilot(ctx context.Context, j *jobs.Job, f jobs.File) error {
	if j.Pilot == nil {
		return nil
	}
	if j.Lines <= j.Pilot.Items {
		j.Pilot = nil
		return nil
	}
	for n := range j.Parts {
		j.Parts[n].State = jobs.Held
	}
	in, err := a.Blobs.Read(ctx, f.Container, f.Blob, 0, -1)
	if errors.Is(err, blobs.ErrNotFound) {
		return gone("input_file_id", f.ID)
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	first := jobs.Part{Blob: f.Blob, State: jobs.Waiting, Pilot: true}
	whole := errors.New("the pilot is whole")
	err = lines.Each(in, func(l lines.Line, _ []byte, at *lines.Reader) error {
		if first.Lines == j.Pilot.Items || first.Lines == j.Parts[0].Lines {
			return whole
		}
		first.Lines, first.Length, first.Tokens = first.Lines+1, first.Length+at.Length, first.Tokens+l.Tokens
		return nil
	})
	if err != nil && !errors.Is(err, whole) {
		return err
	}
	j.Pilot.Items = first.Lines
	rest := &j.Parts[0]
	rest.Offset, rest.Length, rest.Lines, rest.Tokens = first.Length, rest.Length-first.Length, rest.Lines-first.Lines, rest.Tokens-first.Tokens
	if rest.Lines == 0 {
		j.Parts = j.Parts[1:]
	}
	j.Parts = slices.Insert(j.Parts, 0, first)
	for n := range j.Parts {
		j.Parts[n].No, j.Parts[n].Of = n, n
	}
	return nil
}

// allowed refuses a job that the tenant's plan does not pay for: with what was used
// in this period, and what is still to run.
func (a *API) allowed(ctx context.Context, j *jobs.Job) error {
	plan := a.Settings.Plans[a.Settings.Tenants[j.Tenant].Plan]
	if plan.Quota == 0 {
		return nil
	}
	now := a.Now()
	used, err := a.Usage.Tokens(ctx, j.Tenant, plan.Period, now)
	if err != nil {
		return err
	}
	open, err := a.Jobs.Open(ctx, j.Tenant)
	if err != nil {
		return err
	}
	var waits, wants int64
	for _, other := range open {
		for n := range other.Parts {
			if p := &other.Parts[n]; !p.Done() {
				waits += p.Tokens
			} else {
				used += p.Results.Input + p.Results.Output
			}
		}
	}
	for n := range j.Parts {
		wants += j.Parts[n].Tokens
	}
	if used+waits+wants <= int64(plan.Quota) {
		return nil
	}
	return apierror.New(apierror.QuotaExceeded, "input_file_id", "the file has about %d tokens of input; of the %d tokens (%s) that plan %q gives tenant %q, %d are used and %d wait. Send less, wait for the next period, or buy a larger plan",
		wants, plan.Quota, plan.Period, a.Settings.Tenants[j.Tenant].Plan, j.Tenant, used, waits).After(usage.End(plan.Period, now).Sub(now))
}

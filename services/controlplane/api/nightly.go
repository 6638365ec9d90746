package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/schedule"
)

// startNightly starts a declared job: once for each time that its schedule names,
// however often it is asked to, because the ids of file and job follow from both.
func (a *API) startNightly(w http.ResponseWriter, r *http.Request, _ identity.Caller) error {
	called := r.PathValue("name")
	declared, ok := a.Settings.NightlyJobs[called]
	if !ok {
		return apierror.New(apierror.NotFound, "name", "no nightly job %q is declared, want one of %s", cut(called), names(a.Settings.NightlyJobs))
	}
	at, err := schedule.LastRun(declared.Schedule, a.Now())
	if err != nil {
		return apierror.New(apierror.InvalidRequest, "name", "nightly job %q: %s", called, err)
	}
	file, id := jobs.Run(called, at)
	j, err := a.Jobs.Job(r.Context(), declared.Tenant, id)
	if errors.Is(err, ledger.ErrNotFound) {
		if deadline := at.Add(time.Duration(declared.DeadlineSeconds) * time.Second); !a.Now().Before(deadline) {
			return apierror.New(apierror.Conflict, "name", "nightly job %q was to start at %s and to end by %s: wait for its next time, or post its input as a batch", called, at.Format(time.RFC3339), deadline.Format(time.RFC3339))
		}
		j, err = a.run(r.Context(), called, declared, at, file, id)
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, batchOf(j))
}

// run makes the job of a run.
func (a *API) run(ctx context.Context, called string, declared settings.Nightly, at time.Time, fileID, id string) (*jobs.Job, error) {
	f, err := a.Jobs.File(ctx, declared.Tenant, fileID)
	if errors.Is(err, ledger.ErrNotFound) {
		f, err = a.gather(ctx, called, declared, at, fileID)
	}
	if err != nil {
		return nil, err
	}
	known, refusal := a.serve(declared.Tenant, declared.Alias)
	switch {
	case refusal != nil:
		return nil, refusal
	case f.Input.Alias != declared.Alias:
		return nil, apierror.New(apierror.InvalidFile, "file", "the input of nightly job %q is for alias %q, want %q as declared", called, f.Input.Alias, declared.Alias)
	}
	j := &jobs.Job{
		ID: id, Tenant: declared.Tenant, File: f.ID, Alias: declared.Alias, Deployment: known.Deployment, URL: f.Input.URL, Lines: f.Input.Lines, Nightly: called,
		Created: a.Now(), Deadline: at.Add(time.Duration(declared.DeadlineSeconds) * time.Second), Status: account.Validating,
	}
	for n, p := range f.Input.Parts {
		j.Parts = append(j.Parts, jobs.Part{Blob: f.Blob, Offset: p.Offset, Length: p.Length, Lines: p.Lines, Tokens: p.Tokens, No: n, Of: n, State: jobs.Waiting})
	}
	err = a.Jobs.Add(ctx, j)
	if errors.Is(err, ledger.ErrExists) { // asked twice at once
		return a.Jobs.Job(ctx, j.Tenant, j.ID)
	}
	return j, err
}

// gather makes one file of all that lies below the job's source.
func (a *API) gather(ctx context.Context, called string, declared settings.Nightly, at time.Time, id string) (jobs.File, error) {
	found, err := a.Blobs.List(ctx, a.Settings.InputContainer, declared.Source)
	if err != nil {
		return jobs.File{}, err
	}
	if len(found) == 0 {
		return jobs.File{}, apierror.New(apierror.NotFound, "name", "nightly job %q has no input: put files of JSON lines below %s in container %s", called, declared.Source, a.Settings.InputContainer)
	}
	f := jobs.File{
		ID: id, Tenant: declared.Tenant, Name: fmt.Sprintf("%s-%s.jsonl", called, at.Format("2006-01-02")), Purpose: jobs.InputPurpose, Created: at,
		Container: a.Settings.InputContainer, Blob: "files/" + declared.Tenant + "/" + id + ".jsonl",
	}
	in := &chain{ctx: ctx, from: a.Blobs, container: a.Settings.InputContainer, left: found}
	defer func() { _ = in.Close() }()
	if err := a.check(ctx, &f, in); err != nil {
		return jobs.File{}, err
	}
	err = a.Jobs.AddFile(ctx, f)
	if errors.Is(err, ledger.ErrExists) {
		return a.Jobs.File(ctx, f.Tenant, f.ID)
	}
	return f, err
}

// chain reads blobs one after another, with a line break between them.
type chain struct {
	ctx       context.Context
	from      blobs.Store
	container string
	left      []blobs.Info
	now       io.ReadCloser
	last      byte
}

func (c *chain) Read(p []byte) (int, error) {
	for {
		if c.now == nil {
			if len(c.left) == 0 {
				return 0, io.EOF
			}
			in, err := c.from.Read(c.ctx, c.container, c.left[0].Name, 0, -1)
			if err != nil {
				return 0, err
			}
			c.left, c.now = c.left[1:], in
			if c.last != 0 && c.last != '\n' {
				c.now = prefixed{io.MultiReader(strings.NewReader("\n"), in), in}
			}
		}
		n, err := c.now.Read(p)
		if n > 0 {
			c.last = p[n-1]
		}
		if errors.Is(err, io.EOF) {
			_ = c.now.Close()
			c.now, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Close closes the blob that is being read.
func (c *chain) Close() error {
	if c.now == nil {
		return nil
	}
	return c.now.Close()
}

// prefixed is a reader with something before it.
type prefixed struct {
	io.Reader
	io.Closer
}

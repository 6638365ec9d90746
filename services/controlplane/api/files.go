package api

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/lines"
)

// fileObject is a file as OpenAI's clients read it.
type fileObject struct {
	ID        string `json:"id"`
	Object    string `json:"object"`
	Bytes     int64  `json:"bytes"`
	CreatedAt int64  `json:"created_at"`
	Filename  string `json:"filename"`
	Purpose   string `json:"purpose"`
	Status    string `json:"status"`
}

func fileOf(f jobs.File) fileObject {
	return fileObject{ID: f.ID, Object: "file", Bytes: f.Bytes, CreatedAt: f.Created.Unix(), Filename: f.Name, Purpose: f.Purpose, Status: "processed"}
}

// A file may hold what ten jobs of Azure's take by lines and bytes, and becomes at
// most maxParts jobs where a small deployment takes few tokens at a time.
const (
	jobsPerFile = 10
	maxParts    = 100
)

// rules are what a file of the tenant must keep.
func (a *API) rules(tenant string) lines.Rules {
	s := a.Settings
	return lines.Rules{
		MaxLines: jobsPerFile * s.MaxLines, MaxBytes: jobsPerFile * int64(s.MaxFileBytes), MaxParts: maxParts,
		PartLines: s.MaxLines, PartBytes: int64(s.MaxFileBytes),
		Serve: func(alias string) (string, int64, *apierror.Error) {
			known, refusal := a.serve(tenant, alias)
			return known.Deployment, int64(known.EnqueuedTokens), refusal
		},
	}
}

// maxField is the longest field of a form that is no file, in bytes.
const maxField = 4 << 10

// upload takes a file. It is read once, checked and stored as it passes by.
func (a *API) upload(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	if a.Closing() {
		return apierror.New(apierror.ServiceUnavailable, "", "this instance is stopping and takes no new uploads; ask again, and another one answers").After(time.Second)
	}
	form, err := r.MultipartReader()
	if err != nil {
		return apierror.New(apierror.InvalidRequest, "body", "the body is no multipart form: %s; send the fields purpose and file", err)
	}
	file, err := a.form(r.Context(), by.Tenant, form)
	if err != nil {
		return a.forget(r.Context(), file, err)
	}
	if err := a.Jobs.AddFile(r.Context(), *file); err != nil { // it may be written down all the same, so its blob stays
		return err
	}
	return answer(w, http.StatusOK, fileOf(*file))
}

// form reads a form and stores its file. With an error, the file is what was stored
// of it; nil for nothing.
func (a *API) form(ctx context.Context, tenant string, form *multipart.Reader) (file *jobs.File, err error) {
	purpose := ""
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return file, torn(err)
		}
		switch name := part.FormName(); name {
		case "file":
			if file != nil {
				return file, apierror.New(apierror.InvalidRequest, "file", "the form has two files; upload them one by one")
			}
			if file, err = a.store(ctx, tenant, part); err != nil {
				return nil, err
			}
		case "purpose":
			text, err := io.ReadAll(io.LimitReader(part, maxField))
			if err != nil {
				return file, torn(err)
			}
			purpose = string(text)
		default:
			return file, apierror.New(apierror.InvalidRequest, name, "the form has the field %q, want purpose and file alone: how long files are kept is the platform's to say", cut(name))
		}
	}
	switch {
	case purpose != jobs.InputPurpose:
		return file, apierror.New(apierror.InvalidRequest, "purpose", "purpose is %q, want %q", cut(purpose), jobs.InputPurpose)
	case file == nil:
		return nil, apierror.New(apierror.InvalidRequest, "file", "the form has no file; send the field file with a file of JSON lines")
	}
	return file, nil
}

// torn is the refusal of a body that cannot be read to its end.
func torn(err error) error {
	return apierror.New(apierror.InvalidRequest, "body", "the body cannot be read to its end: %s; send it again", err)
}

// forget removes what was stored of a file that is refused.
func (a *API) forget(ctx context.Context, file *jobs.File, refusal error) error {
	if file == nil {
		return refusal
	}
	return errors.Join(refusal, a.Blobs.Delete(context.WithoutCancel(ctx), file.Container, file.Blob))
}

// store stores a file while it is checked. Nothing of it stays if it is refused.
func (a *API) store(ctx context.Context, tenant string, part *multipart.Part) (*jobs.File, error) {
	now := a.Now()
	file := &jobs.File{
		ID: jobs.NewFileID(now), Tenant: tenant, Name: part.FileName(), Purpose: jobs.InputPurpose, Created: now, Container: a.Settings.InputContainer,
	}
	file.Blob = "files/" + tenant + "/" + file.ID + ".jsonl"
	return file, a.check(ctx, file, part)
}

// check stores what in has as the file, and notes what it holds.
func (a *API) check(ctx context.Context, file *jobs.File, in io.Reader) error {
	rules := a.rules(file.Tenant)
	read, pipe := io.Pipe()
	type checked struct {
		sum lines.Summary
		err error
	}
	done := make(chan checked, 1)
	source := &source{Reader: in}
	go func() {
		sum, err := lines.Check(io.TeeReader(source, pipe), nil, rules)
		pipe.CloseWithError(err) // nil is the end of the blob; an error makes none
		done <- checked{sum, err}
	}()
	info, stored := a.Blobs.Write(ctx, file.Container, file.Blob, read)
	read.CloseWithError(stored) // or the check would wait for a store that has given up
	result := <-done
	var refusal *apierror.Error
	switch {
	case errors.As(result.err, &refusal):
		// A client that is not let finish its request may not read the answer.
		_, _ = io.Copy(io.Discard, io.LimitReader(source, rules.MaxBytes))
		return refusal
	case source.err != nil:
		return torn(source.err)
	case stored != nil:
		return stored
	case result.err != nil:
		return result.err
	}
	file.Bytes, file.Input = info.Size, &result.sum
	return nil
}

// source remembers why a caller's bytes ended.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// maxFilePage is the longest list of files, as OpenAI has it.
const maxFilePage = 10_000

func (a *API) listFiles(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	p, err := pageOf(r, maxFilePage)
	if err != nil {
		return err
	}
	purpose := r.URL.Query().Get("purpose")
	var out []fileObject
	after := p.after
	for len(out) <= p.limit {
		found, err := a.Jobs.Files(r.Context(), by.Tenant, after, p.limit+1)
		if err != nil {
			return err
		}
		for _, f := range found {
			if after = f.ID; purpose == "" || purpose == f.Purpose {
				out = append(out, fileOf(f))
			}
		}
		if len(found) <= p.limit {
			break
		}
	}
	return answer(w, http.StatusOK, listOf(out, p.limit, func(f fileObject) string { return f.ID }))
}

func (a *API) file(r *http.Request, by identity.Caller) (jobs.File, error) {
	id := r.PathValue("id")
	f, err := a.Jobs.File(r.Context(), by.Tenant, id)
	return f, absent(err, "id", "file", id)
}

func (a *API) getFile(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	f, err := a.file(r, by)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, fileOf(f))
}

func (a *API) deleteFile(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	f, err := a.file(r, by)
	if err != nil {
		return err
	}
	open, err := a.Jobs.Open(r.Context(), by.Tenant)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(open, func(j *jobs.Job) bool { return j.File == f.ID }); at >= 0 {
		return apierror.New(apierror.Conflict, "id", "file %s is the input of batch %s, which has not ended; cancel the batch, or wait for its end", f.ID, open[at].ID)
	}
	if err := a.Jobs.RemoveFile(r.Context(), f); err != nil {
		return err
	}
	if err := a.Blobs.Delete(r.Context(), f.Container, f.Blob); err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"id": f.ID, "object": "file", "deleted": true})
}

func (a *API) content(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	f, err := a.file(r, by)
	if err != nil {
		return err
	}
	in, err := a.Blobs.Read(r.Context(), f.Container, f.Blob, 0, -1)
	if errors.Is(err, blobs.ErrNotFound) {
		return gone("id", f.ID)
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(f.Bytes, 10))
	w.Header().Set("Content-Disposition", `attachment; filename="`+strings.Map(plain, f.Name)+`"`)
	if _, err := io.Copy(w, in); err != nil {
		panic(http.ErrAbortHandler) // part of it is written: all that is left is to end the connection
	}
	return nil
}

// gone is the refusal of a file whose content storage does not keep any more.
func gone(param, id string) error {
	return apierror.New(apierror.NotFound, param, "the content of file %s is not kept any more; upload it again, or run its batch again", id)
}

// plain keeps what may stand in a header.
func plain(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '_'
	}
	return r
}

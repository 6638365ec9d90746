package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/internal/claim"
)

// maxPayload is the largest payload that passes through the service, in bytes.
// Larger ones are uploaded to storage with a URL that the service signs.
const maxPayload = 64 << 20

// takes says what payloads may be, for a message.
const takes = "application/json, application/jsonl, multipart/form-data, or that of a file, as in text/plain"

// uploadLife is how long a signed URL is good for.
const uploadLife = time.Hour

// item is what a request says of an item: modality, alias, job and item as query
// parameters, and the payload's type as the content type; the payload is the body.
func (a *API) item(r *http.Request, tenant, job, id string) (intake.Item, error) {
	query := r.URL.Query()
	modality := query.Get("modality")
	queue, ok := a.Settings.Queues[modality]
	if !ok {
		return intake.Item{}, apierror.New(apierror.InvalidRequest, "modality", "modality is %q, want one of %s", cut(modality), names(a.Settings.Queues))
	}
	alias := query.Get("alias")
	if !a.sold(tenant, alias) {
		return intake.Item{}, apierror.New(apierror.ModelNotAllowed, "alias", "alias is %q, which your plan does not sell; it sells %s", cut(alias), a.plan(tenant))
	}
	if queue.Alias != "" && alias != queue.Alias {
		return intake.Item{}, apierror.New(apierror.InvalidRequest, "alias", "alias is %q, but the workers of modality %q have quota for %q alone; post with alias=%s, or send the work as a batch", cut(alias), modality, queue.Alias, queue.Alias)
	}
	kind := r.Header.Get("Content-Type")
	m := claim.Message{Tenant: tenant, Modality: modality, Alias: alias, Job: job, Item: id, Type: kind, Correlation: cmp.Or(r.Header.Get(correlation), traceOf(r.Context()))}
	if refusal := fits(m); refusal != nil {
		return intake.Item{}, refusal
	}
	if kind != "" {
		if _, _, err := mime.ParseMediaType(kind); err != nil {
			return intake.Item{}, apierror.New(apierror.UnsupportedContent, "Content-Type", "Content-Type is %q, want that of the payload: %s", cut(kind), takes)
		}
	}
	return intake.Item{
		Message: m, Payloads: queue.Payloads, ContentType: queue.ContentType, TimeToLive: time.Duration(queue.TimeToLiveSeconds) * time.Second,
	}, nil
}

// correlation is the header of the id that follows an item through logs and traces.
const correlation = "X-Correlation-Id"

// fits refuses an item whose message could not be signed: with all that is wrong, and
// where the caller said it.
func fits(m claim.Message) *apierror.Error {
	saidIn := map[string]string{"job": "job", "item": "item", "type": "Content-Type", "correlation": correlation}
	found := m.Misfits("job", "item", "type", "correlation")
	if len(found) == 0 {
		return nil
	}
	said := make([]string, len(found))
	for i, f := range found {
		said[i] = fmt.Sprintf("%s is %q, want %s", saidIn[f.Field], f.Got, f.Want)
	}
	code := apierror.InvalidRequest
	if found[0].Field == "type" {
		code = apierror.UnsupportedContent
	}
	return apierror.New(code, saidIn[found[0].Field], "%s", strings.Join(said, "; "))
}

// traceOf is the id of the trace that a call is a part of, or else an id of its own.
func traceOf(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return token()
}

// token is a name that nobody else has.
func token() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // which never fails
	return hex.EncodeToString(b)
}

// sold tells whether the tenant's plan sells an alias.
func (a *API) sold(tenant, alias string) bool {
	return slices.Contains(a.Settings.Plans[a.Settings.Tenants[tenant].Plan].Aliases, alias)
}

// plan are the aliases of the tenant's plan, for a message.
func (a *API) plan(tenant string) string {
	return strings.Join(a.Settings.Plans[a.Settings.Tenants[tenant].Plan].Aliases, ", ")
}

// names are the keys of a map, sorted, for a message.
func names[T any](of map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(of)), ", ")
}

// itemObject is an item that was taken.
type itemObject struct {
	Object      string     `json:"object"`
	Job         string     `json:"job"`
	Item        string     `json:"item"`
	Status      string     `json:"status"` // queued, or awaiting_upload
	Correlation string     `json:"correlation_id"`
	UploadURL   string     `json:"upload_url,omitempty"` // PUT the payload there with x-ms-blob-type: BlockBlob, then commit
	ExpiresAt   *time.Time `json:"upload_expires_at,omitempty"`
}

// postItem takes an item of a queue. The names of job and item make a second post
// the same as the first, as long as the payload is the same.
func (a *API) postItem(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	query := r.URL.Query()
	job, id := query.Get("job"), query.Get("item")
	if job == "" {
		job = "single"
	}
	if id == "" {
		id = token()
	}
	item, err := a.item(r, by.Tenant, job, id)
	if err != nil {
		return err
	}
	out := itemObject{Object: "item", Job: job, Item: id, Status: "queued", Correlation: item.Correlation}
	switch upload := query.Get("upload"); upload {
	case "":
	case "url":
		return a.signed(w, r, item, out)
	default:
		return apierror.New(apierror.InvalidRequest, "upload", "upload is %q, want \"url\" for a URL to put the payload to, or leave it out and send the payload as the body", cut(upload))
	}
	if item.Type == "" { // what was uploaded may have one of its own
		return apierror.New(apierror.UnsupportedContent, "Content-Type", "the request has no Content-Type, by which workers read the payload; set %s", takes)
	}
	body := &source{Reader: r.Body}
	payload, err := a.Blobs.Write(r.Context(), item.Payloads, item.Path(), &whole{&io.LimitedReader{R: body, N: maxPayload + 1}})
	switch {
	case body.err != nil:
		return torn(body.err)
	case errors.Is(err, errTooLarge):
		a.Items(by.Tenant, item.Modality, "rejected")
		return apierror.New(apierror.PayloadTooLarge, "body", "the payload has more than %d bytes; post with upload=url, and put it there", maxPayload)
	case err != nil:
		return err
	}
	return a.send(w, r, item, payload, out)
}

// signed answers where the caller may put the payload itself.
func (a *API) signed(w http.ResponseWriter, r *http.Request, item intake.Item, out itemObject) error {
	if a.Intake.Signer == nil {
		return apierror.New(apierror.UnsupportedContent, "upload", "this instance stores payloads on disk and signs no URLs; send the payload as the body")
	}
	until := a.Now().Add(uploadLife)
	url, err := a.Intake.Signer.UploadURL(r.Context(), item.Payloads, item.Path(), a.Now(), until)
	if err != nil {
		return err
	}
	out.Status, out.ExpiresAt, out.UploadURL = "awaiting_upload", &until, url
	return answer(w, http.StatusCreated, out)
}

// errTooLarge ends a payload that is larger than allowed.
var errTooLarge = errors.New("the payload is too large")

// whole fails where the limit cuts a payload.
type whole struct{ *io.LimitedReader }

func (l *whole) Read(p []byte) (int, error) {
	n, err := l.LimitedReader.Read(p)
	if l.N == 0 {
		return n, errTooLarge
	}
	return n, err
}

// commitItem takes an item whose payload was uploaded with a signed URL.
func (a *API) commitItem(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	job, id := r.PathValue("job"), r.PathValue("item")
	item, err := a.item(r, by.Tenant, job, id)
	if err != nil {
		return err
	}
	payload, err := a.Blobs.Stat(r.Context(), item.Payloads, item.Path())
	if errors.Is(err, blobs.ErrNotFound) {
		return apierror.New(apierror.NotFound, "item", "item %q of job %q has no payload: PUT it to its upload_url first", cut(id), cut(job))
	}
	if err != nil {
		return err
	}
	return a.send(w, r, item, payload, itemObject{Object: "item", Job: job, Item: id, Status: "queued", Correlation: item.Correlation})
}

func (a *API) send(w http.ResponseWriter, r *http.Request, item intake.Item, payload blobs.Info, out itemObject) error {
	if err := a.Intake.Post(r.Context(), item, payload); err != nil {
		return err
	}
	a.Items(item.Tenant, item.Modality, "accepted")
	return answer(w, http.StatusAccepted, out)
}

// letterObject is a dead letter.
type letterObject struct {
	Sequence   int64     `json:"sequence"`
	Modality   string    `json:"modality"`
	Alias      string    `json:"alias"`
	Job        string    `json:"job"`
	Item       string    `json:"item"`
	Reason     string    `json:"reason"`
	Detail     string    `json:"detail"`
	DiedAt     time.Time `json:"died_at"`
	Deliveries int       `json:"deliveries"`
}

// modality is that of a request about dead letters.
func (a *API) modality(r *http.Request) (string, error) {
	modality := r.URL.Query().Get("modality")
	if _, ok := a.Settings.Queues[modality]; !ok {
		return "", apierror.New(apierror.InvalidRequest, "modality", "modality is %q, want one of %s", cut(modality), names(a.Settings.Queues))
	}
	return modality, nil
}

func (a *API) listDead(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	modality, err := a.modality(r)
	if err != nil {
		return err
	}
	p, err := pageOf(r, maxPage)
	if err != nil {
		return err
	}
	from, err := behind(p)
	if err != nil {
		return err
	}
	found, err := a.Intake.Letters(r.Context(), modality, by.Tenant, from, p.limit+1)
	if err != nil {
		return err
	}
	out := []letterObject{}
	for _, l := range found {
		out = append(out, letterObject{l.Sequence, modality, l.Alias, l.Job, l.Item, l.Reason, l.Detail, l.Died, l.Delivered})
	}
	return answer(w, http.StatusOK, listOf(out, p.limit, func(l letterObject) string { return strconv.FormatInt(l.Sequence, 10) }))
}

// behind is the sequence number that a page begins with.
func behind(p page) (int64, error) {
	if p.after == "" {
		return 0, nil
	}
	last, err := strconv.ParseInt(p.after, 10, 63) // of 63 bits, so that there is one behind it
	if err != nil || last < 0 {
		return 0, apierror.New(apierror.InvalidRequest, "after", "after is %q, want the sequence number that the page before ended with", cut(p.after))
	}
	return last + 1, nil
}

// letter is which dead letter a request is about.
func (a *API) letter(r *http.Request) (string, int64, error) {
	modality, err := a.modality(r)
	if err != nil {
		return "", 0, err
	}
	sequence, err := strconv.ParseInt(r.PathValue("sequence"), 10, 64)
	if err != nil {
		return "", 0, intake.ErrNoLetter
	}
	return modality, sequence, nil
}

func (a *API) redrive(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	modality, sequence, err := a.letter(r)
	if err != nil {
		return err
	}
	queue := a.Settings.Queues[modality]
	err = a.Intake.Redrive(r.Context(), modality, by.Tenant, sequence, intake.Item{ContentType: queue.ContentType, TimeToLive: time.Duration(queue.TimeToLiveSeconds) * time.Second})
	if err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, map[string]any{"sequence": sequence, "status": "queued"})
}

func (a *API) discard(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	modality, sequence, err := a.letter(r)
	if err != nil {
		return err
	}
	if err := a.Intake.Discard(r.Context(), modality, by.Tenant, sequence); err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"sequence": sequence, "deleted": true})
}

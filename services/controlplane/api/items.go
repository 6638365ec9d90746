package api

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/internal/claim"
)

// maxPayload is the largest payload that passes through the service, in bytes.
// Larger ones are uploaded to storage with a URL that the service signs.
const maxPayload = 64 << 20

// maxType is the longest content type that a message carries, in bytes.
const maxType = 255

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
	if kind != "" {
		if _, _, err := mime.ParseMediaType(kind); err != nil || len(kind) > maxType {
			return intake.Item{}, apierror.New(apierror.UnsupportedContent, "Content-Type", "Content-Type is %q, want that of the payload, of up to %d bytes: %s", cut(kind), maxType, takes)
		}
	}
	correlation := r.Header.Get("X-Correlation-Id")
	if correlation == "" {
		correlation = token()
	}
	return intake.Item{
		Message:  claim.Message{Tenant: tenant, Modality: modality, Alias: alias, Job: job, Item: id, Type: kind, Correlation: correlation},
		Payloads: queue.Payloads, ContentType: queue.ContentType, TimeToLive: time.Duration(queue.TimeToLiveSeconds) * time.Second,
	}, nil
}

// token is a name that nobody else has.
func token() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // which never fails
	return hex.EncodeToString(b)
}

// name is what jobs and items may be called: it becomes a part of a blob's name.
var name = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_-])?$`)

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
	if !name.MatchString(job) || !name.MatchString(id) {
		return apierror.New(apierror.InvalidRequest, "item", "job %q and item %q, want 1 to 128 letters, digits, dots, dashes and underscores each, without a dot at either end", cut(job), cut(id))
	}
	if query.Get("upload") == "url" {
		if a.Intake.Signer == nil {
			return apierror.New(apierror.UnsupportedContent, "upload", "this instance stores payloads on disk and signs no URLs; send the payload as the body")
		}
		until := a.Now().Add(uploadLife)
		out.Status, out.ExpiresAt = "awaiting_upload", &until
		if out.UploadURL, err = a.Intake.Signer.UploadURL(r.Context(), item.Payloads, item.Path(), a.Now(), until); err != nil {
			return err
		}
		return answer(w, http.StatusCreated, out)
	}
	if item.Type == "" { // what was uploaded may have one of its own
		return apierror.New(apierror.UnsupportedContent, "Content-Type", "the request has no Content-Type, by which workers read the payload; set %s", takes)
	}
	body := &io.LimitedReader{R: r.Body, N: maxPayload + 1}
	payload, err := a.Blobs.Write(r.Context(), item.Payloads, item.Path(), &whole{body})
	switch {
	case errors.Is(err, errTooLarge):
		a.Items(by.Tenant, item.Modality, "rejected")
		return apierror.New(apierror.PayloadTooLarge, "body", "the payload has more than %d bytes; post with upload=url, and put it there", maxPayload)
	case err != nil:
		return err
	}
	return a.send(w, r, item, payload, out)
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
	found, err := a.Intake.Letters(r.Context(), modality, by.Tenant, p.limit+1)
	if err != nil {
		return err
	}
	out := []letterObject{}
	for _, l := range found {
		out = append(out, letterObject{l.Sequence, modality, l.Alias, l.Job, l.Item, l.Reason, l.Detail, l.Died, l.Delivered})
	}
	return answer(w, http.StatusOK, listOf(out, p.limit, func(l letterObject) string { return strconv.FormatInt(l.Sequence, 10) }))
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

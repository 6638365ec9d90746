// Package api owns what callers see: OpenAI's files, batches and models, and what
// the platform adds to them. Existing clients work when their base URL is changed.
// Whatever a caller may not see does not exist for it.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/usage"
)

// API answers callers.
type API struct {
	Settings settings.Settings
	Jobs     jobs.Store
	Usage    usage.Store
	Prices   usage.Prices
	Blobs    blobs.Store
	Intake   intake.Intake
	Identity identity.Verifier
	Now      func() time.Time
	Log      *slog.Logger
	Items    func(tenant, modality, outcome string) // counts items
	Closing  func() bool                            // true once no new uploads are taken
}

// handler answers a caller. An error that is no *apierror.Error is the service's.
type handler func(w http.ResponseWriter, r *http.Request, by identity.Caller) error

// Handler serves the API.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	tenant := func(pattern string, h handler) { mux.Handle(pattern, a.as(forTenants, h)) }
	tenant("POST /v1/files", a.upload)
	tenant("GET /v1/files", a.listFiles)
	tenant("GET /v1/files/{id}", a.getFile)
	tenant("DELETE /v1/files/{id}", a.deleteFile)
	tenant("GET /v1/files/{id}/content", a.content)
	tenant("POST /v1/batches", a.createBatch)
	tenant("GET /v1/batches", a.listBatches)
	tenant("GET /v1/batches/{id}", a.getBatch)
	tenant("POST /v1/batches/{id}/cancel", a.cancelBatch)
	tenant("POST /v1/batches/{id}/confirm", a.confirmBatch)
	tenant("GET /v1/models", a.listModels)
	tenant("GET /v1/models/{id}", a.getModel)
	tenant("POST /v1/items", a.postItem)
	tenant("POST /v1/items/{job}/{item}/commit", a.commitItem)
	tenant("GET /dlq", a.listDead)
	tenant("POST /dlq/{sequence}/redrive", a.redrive)
	tenant("DELETE /dlq/{sequence}", a.discard)
	tenant("GET /usage", a.usage)
	mux.Handle("POST /v1/nightly/{name}", a.as(forNightly, a.startNightly))
	mux.Handle("POST /v1/usage", a.as(forWorkers, a.report))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		apierror.New(apierror.NotFound, "", "there is no %s %s here; the API has files, batches, models and items below /v1, and /dlq and /usage", r.Method, r.URL.Path).Write(w)
	})
	return mux
}

// Who may call a route.
func forTenants(c identity.Caller) bool { return c.Tenant != "" }
func forNightly(c identity.Caller) bool { return c.Nightly }
func forWorkers(c identity.Caller) bool { return c.Modality != "" }

// as lets callers in that may, and writes what went wrong.
func (a *API) as(may func(identity.Caller) bool, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := readable(r)
		var by identity.Caller
		if err == nil {
			by, err = identity.Of(r, a.Identity)
		}
		if err == nil && !may(by) {
			err = apierror.New(apierror.Forbidden, "Authorization", "this account may not call %s %s", r.Method, r.URL.Path)
		}
		if err == nil {
			err = h(w, r, by)
		}
		if err == nil {
			return
		}
		refusal := apierror.From(err)
		if refusal.Code == apierror.ServiceUnavailable && !errors.Is(err, context.Canceled) {
			a.Log.ErrorContext(r.Context(), "a call was not answered", "method", r.Method, "route", r.Pattern, "tenant", by.Tenant, "error", err)
		}
		refusal.Write(w)
	})
}

// readable refuses what would be heeded in part only.
func readable(r *http.Request) error {
	if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
		return apierror.New(apierror.InvalidRequest, "query", "the query of the URL cannot be read: %s; escape it as application/x-www-form-urlencoded", err)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return apierror.New(apierror.UnsupportedContent, "Content-Encoding", "Content-Encoding is %q, want none: send the body as it is", cut(coding))
	}
	return nil
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may be gone
	return nil
}

// maxBody is the longest body of JSON, in bytes.
const maxBody = 64 << 10

// decode reads a body of JSON. What it does not know it refuses: a caller would
// believe that it was heeded.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return apierror.New(apierror.InvalidRequest, cmp.Or(kind.Field, "body"), "%s is of JSON's type %s, want %s", cmp.Or(kind.Field, "the body"), kind.Value, typeName(kind.Type))
	}
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return apierror.New(apierror.InvalidRequest, "body", "the body is not the JSON that this call takes: %s", err)
	}
	return nil
}

// typeName is a type as JSON calls it.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int64:
		return "a whole number"
	default:
		return "object"
	}
}

// page is which part of a list is asked for.
type page struct {
	after string
	limit int
}

// Limits of lists, as OpenAI has them.
const (
	defaultPage = 20
	maxPage     = 100
)

func pageOf(r *http.Request, most int) (page, error) {
	p := page{after: r.URL.Query().Get("after"), limit: defaultPage}
	if p.after != "" && !jobs.IsID(p.after) {
		return page{}, apierror.New(apierror.InvalidRequest, "after", "after is %q, which is no id: name the last_id of the page before", cut(p.after))
	}
	if most > maxPage {
		p.limit = most
	}
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return page{}, apierror.New(apierror.InvalidRequest, "limit", "limit is %q, want 1 to %d", text, most)
		}
		p.limit = n
	}
	if order := r.URL.Query().Get("order"); order != "" && order != "desc" {
		return page{}, apierror.New(apierror.InvalidRequest, "order", "order is %q, want \"desc\": lists begin with the newest", order)
	}
	return p, nil
}

// list is a list as OpenAI's clients read it.
type list[T any] struct {
	Object  string  `json:"object"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// listOf is a list of up to limit of all, which has one more if there is another
// page.
func listOf[T any](all []T, limit int, id func(T) string) list[T] {
	l := list[T]{Object: "list", Data: all, HasMore: len(all) > limit}
	if l.HasMore {
		l.Data = all[:limit]
	}
	if len(l.Data) == 0 {
		l.Data = []T{}
		return l
	}
	first, last := id(l.Data[0]), id(l.Data[len(l.Data)-1])
	l.FirstID, l.LastID = &first, &last
	return l
}

// absent is the refusal of what the caller does not have, and named as param.
func absent(err error, param, what, id string) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return apierror.New(apierror.NotFound, param, "no %s %q: it never existed, was deleted, or is another tenant's", what, cut(id))
	}
	return err
}

// cut shortens what a message quotes.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

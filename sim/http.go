package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"onedoor/sim/core"
)

// maxBody is ARM's limit for a request body, 4 MB.
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
const maxBody = 4 << 20

// ARM returns the endpoint that real Azure clients talk to: resources by id,
// collections, long-running operations, etags. A bearer token must be there;
// any will do (A080).
func (c *Cloud) ARM() http.Handler { return &armHandler{cloud: c} }

type armHandler struct{ cloud *Cloud }

// ServeHTTP implements http.Handler.
func (h *armHandler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	defer h.cloud.enter()()
	if !strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ") {
		w.Header().Set("WWW-Authenticate", `Bearer authorization_uri="https://login.microsoftonline.com/"`)
		fail(w, http.StatusUnauthorized, &core.Error{Code: "AuthenticationFailed", Message: "Authorization: got no bearer token, want any; fix: send one"})
		return
	}
	version := req.URL.Query().Get("api-version")
	if version == "" {
		fail(w, http.StatusBadRequest, &core.Error{Code: "MissingApiVersionParameter", Message: "api-version: got nothing, want one; fix: add it to the query"})
		return
	}
	path := core.Clean(req.URL.Path)
	if id, result, ok := operationOf(path); ok {
		h.poll(w, req, id, result)
		return
	}
	if h.asked(w, req, path) {
		return
	}
	op := core.Op{ID: path, APIVersion: version, IfMatch: req.Header.Get("If-Match"), IfNoneMatch: req.Header.Get("If-None-Match")}
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		op.Method = core.Get
		if core.TypeOf(path) == "" {
			op.Method = core.List
		}
	case http.MethodPut:
		op.Method = core.Put
	case http.MethodPatch:
		op.Method = core.Patch
	case http.MethodDelete:
		if id, ok := core.DeletedID(h.cloud.State(), path); ok {
			h.purge(w, id)
			return
		}
		op.Method = core.Delete
	case http.MethodPost:
		h.act(w, path)
		return
	default:
		e := &core.Error{Code: core.MethodNotAllowed, Target: path, Message: fmt.Sprintf("method of %s: got %q, want GET, HEAD, PUT, PATCH, DELETE or POST, the ones the simulator knows; fix: use one of them", path, req.Method)}
		fail(w, e.Status(), e)
		return
	}
	if op.Method == core.Put || op.Method == core.Patch {
		decoder := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody))
		// No body is an empty one: that is how a table is made.
		if err := decoder.Decode(&op.Body); err != nil && !errors.Is(err, io.EOF) {
			e := &core.Error{Code: core.InvalidRequestContent, Target: path, Message: fmt.Sprintf("body: got what is no JSON object (%v), want one of at most 4 MB; fix: correct it", err)}
			fail(w, e.Status(), e)
			return
		}
	}
	h.answer(w, req, op)
}

// answer applies op and writes what ARM would.
func (h *armHandler) answer(w http.ResponseWriter, req *http.Request, op core.Op) {
	writes := op.Method != core.Get && op.Method != core.List
	if writes {
		if fault := h.cloud.strike(op, "", "", BeforeStart); fault != nil {
			if fault.Code == core.TooManyRequests {
				w.Header().Set("Retry-After", injectedRetryAfter)
			}
			fail(w, fault.Status(), fault)
			return
		}
		op.Fail = h.cloud.strike(op, "", "", AfterApply)
	}
	answer, err := h.cloud.do(op)
	switch {
	case err != nil:
		fail(w, http.StatusInternalServerError, &core.Error{Code: "InternalServerError", Message: err.Error()})
		return
	case answer.Error != nil:
		if answer.RetryAt > 0 {
			w.Header().Set("Retry-After", retryAfter(answer, h.cloud.State().Now))
		}
		fail(w, answer.Status, answer.Error)
		return
	}
	if o := answer.Operation; o != nil && core.AnswersWhenDone(op.Method, o.Target) {
		if err := h.cloud.wait(req.Context(), o.End); err != nil {
			return // the client has gone
		}
		answer = h.done(answer)
		if answer.Error != nil {
			fail(w, answer.Status, answer.Error)
			return
		}
	}
	if writes && h.cloud.lose(op, "", "") != nil {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	if o := answer.Operation; o != nil {
		at := operationURL(req, o.Target, o.ID)
		w.Header().Set("Azure-AsyncOperation", at("operations"))
		w.Header().Set("Location", at("operationResults"))
		soon(w)
	}
	if op.Method == core.List {
		items := answer.Items
		if items == nil {
			items = []map[string]any{}
		}
		send(w, answer.Status, map[string]any{"value": items})
		return
	}
	if etag := h.cloud.State().EtagHeader(op.ID); etag != "" && answer.Body != nil {
		w.Header().Set("ETag", etag)
	}
	if req.Method == http.MethodHead {
		w.WriteHeader(headStatus(op.ID))
		return
	}
	send(w, writeStatus(op, answer.Status), answer.Body)
}

// retryAfter is in whole seconds: how long a client that sent too much is kept
// away (A403), and no time at all where something else is in the way, because
// virtual time goes on when somebody asks.
func retryAfter(answer core.Answer, now time.Duration) string {
	if answer.Error.Code != core.TooManyRequests {
		return "0"
	}
	return strconv.Itoa(int(math.Ceil((answer.RetryAt - now).Seconds())))
}

// soon tells the client of a long operation (A081) not to wait. A client of the Azure SDK takes 0 for "not
// given" and falls back to 30 seconds, so it is told in milliseconds too.
func soon(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "0")
	w.Header().Set("Retry-After-Ms", "1")
}

// operationURL returns where the state of an operation is, in the form of most
// resource providers.
func operationURL(req *http.Request, target, id string) func(kind string) string {
	scheme := "http"
	if req.TLS != nil {
		scheme = "https"
	}
	provider, _, _ := strings.Cut(core.TypeOf(target), "/")
	return func(kind string) string {
		return fmt.Sprintf("%s://%s/subscriptions/%s/providers/%s/locations/sim/%s/%s?api-version=%s&target=%s",
			scheme, req.Host, core.SubscriptionOf(target), provider, kind, id, req.URL.Query().Get("api-version"), escape(target))
	}
}

func escape(id string) string {
	return strings.ReplaceAll(strings.ReplaceAll(id, " ", "%20"), "&", "%26")
}

// operationOf takes the operation out of a path that operationURL made.
func operationOf(path string) (id string, result, ok bool) {
	parts := strings.Split(path, "/")
	if len(parts) != 9 || parts[5] != "locations" || parts[6] != "sim" {
		return "", false, false
	}
	return parts[8], parts[7] == "operationResults", parts[7] == "operations" || parts[7] == "operationResults"
}

// poll lets virtual time go on to the next end of any operation, then tells how
// this one stands. ARM keeps finished operations for some time; here they are
// known by their number for ever.
func (h *armHandler) poll(w http.ResponseWriter, req *http.Request, id string, result bool) {
	state := h.cloud.State()
	seq, err := strconv.Atoi(strings.TrimPrefix(id, "op-"))
	if err != nil || seq < 1 || seq > state.Seq {
		e := &core.Error{Code: core.NotFound, Target: id, Message: fmt.Sprintf("operation: got %q, want one that was started here; fix: use the address from the response", id)}
		fail(w, e.Status(), e)
		return
	}
	if _, running := state.Operations[id]; running {
		if at, ok := state.Next(); ok {
			if err := h.cloud.wait(req.Context(), at); err != nil {
				return // the client has gone
			}
		}
	}
	state = h.cloud.State()
	_, running := state.Operations[id]
	failure := h.cloud.failure(id)
	target := req.URL.Query().Get("target")
	switch {
	case running && result:
		at := operationURL(req, target, id)
		w.Header().Set("Location", at("operationResults"))
		soon(w)
		w.WriteHeader(http.StatusAccepted)
	case running:
		soon(w)
		send(w, http.StatusOK, map[string]any{"name": id, "status": "InProgress"})
	case failure != nil && result:
		fail(w, failure.Status(), failure)
	case failure != nil:
		send(w, http.StatusOK, map[string]any{"name": id, "status": "Failed", "error": failure})
	case result:
		if r, ok := state.Find(target); ok {
			send(w, http.StatusOK, state.Show(r))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		send(w, http.StatusOK, map[string]any{"name": id, "status": "Succeeded"})
	}
}

// failure returns why an operation failed, if it did.
func (c *Cloud) failure(id string) *core.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fails[id]
}

func send(w http.ResponseWriter, status int, body map[string]any) {
	if status == http.StatusNoContent || body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone; nobody to tell
}

func fail(w http.ResponseWriter, status int, e *core.Error) {
	w.Header().Set("x-ms-error-code", string(e.Code))
	send(w, status, map[string]any{"error": e})
}

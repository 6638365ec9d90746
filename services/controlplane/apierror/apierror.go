// Package apierror owns how the control plane says no: OpenAI's error body, with a
// code that never changes and a text that names the line, key or allowance and how
// to mend it.
package apierror

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Code is what programs tell refusals by. Codes are never renamed.
type Code string

// The codes, with the status that each goes out with.
const (
	InvalidRequest     Code = "invalid_request"      // 400
	InvalidFile        Code = "invalid_file"         // 400: Problems say where
	FileTooLarge       Code = "file_too_large"       // 413
	ModelNotFound      Code = "model_not_found"      // 404
	ModelNotAllowed    Code = "model_not_allowed"    // 403: plan or residency
	Unauthenticated    Code = "invalid_token"        // 401
	Forbidden          Code = "not_allowed"          // 403
	NotFound           Code = "not_found"            // 404
	Conflict           Code = "conflict"             // 409
	NotCancellable     Code = "batch_ended"          // 409
	QuotaExceeded      Code = "tenant_quota"         // 429
	ServiceUnavailable Code = "service_unavailable"  // 503: nothing is lost, ask again
	PayloadTooLarge    Code = "payload_too_large"    // 413
	UnsupportedContent Code = "unsupported_content"  // 415
	IdempotencyReuse   Code = "idempotency_key_used" // 409
)

var status = map[Code]int{
	InvalidRequest: http.StatusBadRequest, InvalidFile: http.StatusBadRequest, FileTooLarge: http.StatusRequestEntityTooLarge,
	ModelNotFound: http.StatusNotFound, ModelNotAllowed: http.StatusForbidden, Unauthenticated: http.StatusUnauthorized,
	Forbidden: http.StatusForbidden, NotFound: http.StatusNotFound, Conflict: http.StatusConflict, NotCancellable: http.StatusConflict,
	QuotaExceeded: http.StatusTooManyRequests, ServiceUnavailable: http.StatusServiceUnavailable,
	PayloadTooLarge: http.StatusRequestEntityTooLarge, UnsupportedContent: http.StatusUnsupportedMediaType, IdempotencyReuse: http.StatusConflict,
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Code    string `json:"code"`            // Azure's, where it has one
	Message string `json:"message"`         // with the remedy
	Param   string `json:"param,omitempty"` // key of the line, as in "body.model"
	Line    int    `json:"line"`            // from 1
}

// Error is a refusal.
type Error struct {
	Code     Code
	Message  string
	Param    string        // key, header or query parameter
	Problems []Problem     // of a file, in the order of its lines
	Retry    time.Duration // after which to ask again; 0 for not said
}

// New is a refusal with that text.
func New(code Code, param, format string, args ...any) *Error {
	return &Error{Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
}

// After is the refusal with a time to ask again.
func (e *Error) After(d time.Duration) *Error {
	out := *e
	out.Retry = d
	return &out
}

// Status is the HTTP status of the refusal.
func (e *Error) Status() int { return status[e.Code] }

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// kind is OpenAI's "type".
func (e *Error) kind() string {
	switch s := e.Status(); {
	case s == http.StatusTooManyRequests:
		return "rate_limit_error"
	case s == http.StatusUnauthorized:
		return "authentication_error"
	case s == http.StatusForbidden:
		return "permission_error"
	case s >= http.StatusInternalServerError:
		return "server_error"
	default:
		return "invalid_request_error"
	}
}

// body is OpenAI's; line and problems are ours, and clients pass over them.
type body struct {
	Message  string    `json:"message"`
	Type     string    `json:"type"`
	Param    *string   `json:"param"`
	Code     Code      `json:"code"`
	Line     int       `json:"line,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// unavailableFor is what a caller waits when storage or the account is down.
const unavailableFor = 10 * time.Second

// From is err as a refusal: itself if it is one, else that the service cannot work
// now. What was the matter is for the log, not for the caller.
func From(err error) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	return New(ServiceUnavailable, "", "the service cannot reach its storage or the model account now; nothing that was accepted is lost. Ask again after the time in Retry-After.").After(unavailableFor)
}

// Write answers with the refusal.
func (e *Error) Write(w http.ResponseWriter) {
	b := body{Message: e.Message, Type: e.kind(), Code: e.Code, Problems: e.Problems}
	if e.Param != "" {
		b.Param = &e.Param
	}
	if len(e.Problems) > 0 {
		b.Line = e.Problems[0].Line
	}
	w.Header().Set("Content-Type", "application/json")
	if e.Retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(e.Retry, time.Second)/time.Second)))
	}
	w.WriteHeader(e.Status())
	_ = json.NewEncoder(w).Encode(map[string]body{"error": b}) // the caller may be gone
}

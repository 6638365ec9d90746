package core

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
)

// Error is the error body of the service.
type Error struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type,omitempty"`
	Param   string `json:"param,omitempty"`
	// Inner tells which content filter struck (A843).
	Inner map[string]any `json:"innererror,omitempty"`
	// RetryAfter is in seconds; 0 says nothing.
	RetryAfter int `json:"-"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// Refused is the answer that carries an error.
func Refused(e *Error) Answer {
	a := Answer{Status: e.Status, Error: e, Body: map[string]any{"error": e}, Header: map[string]string{}}
	if e.RetryAfter > 0 {
		a.Header["Retry-After"] = strconv.Itoa(e.RetryAfter)
	}
	return a
}

// Invalid refuses a request for what it holds.
func Invalid(param, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "invalid_request", Type: "invalid_request_error", Param: param, Message: fmt.Sprintf(format, args...)}
}

// notFound is the answer to ids and paths that nobody knows; codes and texts of
// such answers are not published (A803).
func notFound(format string, args ...any) *Error {
	return &Error{Status: http.StatusNotFound, Code: "404", Message: fmt.Sprintf(format, args...)}
}

func okay(status int, body any) Answer {
	return Answer{Status: status, Body: body, Header: map[string]string{}}
}

func (a Answer) with(header map[string]string) Answer {
	a.Header = maps.Clone(a.Header)
	maps.Copy(a.Header, header)
	return a
}

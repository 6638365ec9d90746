package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"onedoor/sim/openai/core"
)

// Handler returns the service as it answers requests that come in at e.
func (s *Service) Handler(e Entry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { s.serve(e, w, req) })
}

func (s *Service) serve(e Entry, w http.ResponseWriter, req *http.Request) {
	r := s.route(e, req)
	if fault := s.strike(r.Operation, Before); fault != nil {
		s.spoil(w, r, fault)
		return
	}
	answer, err := s.answer(&r, w, req)
	if err != nil {
		// The simulator itself failed, such as a disk that is full.
		answer = core.Refused(&core.Error{Status: http.StatusInternalServerError, Code: "SimulatorFailed", Message: err.Error()})
	}
	fault := s.strike(r.Operation, After)
	if fault != nil && fault.Truncate == 0 {
		s.spoil(w, r, fault)
		return
	}
	s.record(r, answer.Status)
	for key, value := range answer.Header {
		w.Header().Set(key, value)
	}
	if answer.Content != "" {
		s.sendContent(w, answer, fault)
		return
	}
	send(w, answer)
}

// answer asks the core; what must not be read for a request that is refused anyway is
// read after the core has been asked whether it may be made.
func (s *Service) answer(r *core.Request, w http.ResponseWriter, req *http.Request) (core.Answer, error) {
	if err := core.Admit(s.State(), *r); err != nil {
		return core.Refused(err), nil
	}
	if r.Operation == core.CreateFile {
		return s.upload(r, req)
	}
	if err := readBody(r, w, req); err != nil {
		return core.Refused(err), nil
	}
	return s.apply(*r)
}

// maxBody bounds the body of everything but an upload.
const maxBody = 32 << 20

func readBody(r *core.Request, w http.ResponseWriter, req *http.Request) *core.Error {
	query := req.URL.Query()
	r.Page = core.Page{After: query.Get("after"), Purpose: query.Get("purpose")}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return core.Invalid("limit", "limit is %q, must be a number above 0.", text)
		}
		r.Page.Limit = n
	}
	if req.Method != http.MethodPost || r.Operation == core.CancelBatch {
		return nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return core.Invalid("", "The body cannot be read: %v", err)
	}
	r.Body = body
	switch r.Operation {
	case core.CreateBatch:
		r.Batch = &core.NewBatch{}
		err = json.Unmarshal(body, r.Batch)
	case core.ImportFile:
		var in struct {
			Purpose    string `json:"purpose"`
			Filename   string `json:"filename"`
			ContentURL string `json:"content_url"`
		}
		err = json.Unmarshal(body, &in)
		r.File = &core.NewFile{Name: in.Filename, Purpose: in.Purpose, Source: in.ContentURL}
	}
	if err != nil {
		return core.Invalid("", "The body is no JSON object of the expected form: %v", err)
	}
	return nil
}

func send(w http.ResponseWriter, answer core.Answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(answer.Status)
	_ = json.NewEncoder(w).Encode(answer.Body) // the client has gone; nobody to tell
}

// sendContent streams a file, or only the first bytes of it.
func (s *Service) sendContent(w http.ResponseWriter, answer core.Answer, fault *Fault) {
	content, size, err := s.store.Open(answer.Content)
	if err != nil {
		send(w, core.Refused(&core.Error{Status: http.StatusInternalServerError, Code: "SimulatorFailed", Message: err.Error()}))
		return
	}
	defer func() { _ = content.Close() }() // it was only read
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.WriteHeader(answer.Status)
	if fault == nil || fault.Truncate >= size {
		_, _ = io.Copy(w, content) // the client has gone; nobody to tell
		return
	}
	_, _ = io.CopyN(w, content, fault.Truncate)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// spoil answers with a fault.
func (s *Service) spoil(w http.ResponseWriter, r core.Request, f *Fault) {
	if f.Drop {
		s.record(r, 0)
		panic(http.ErrAbortHandler)
	}
	s.record(r, f.Status)
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.RetryAfter))
	}
	send(w, core.Refused(&core.Error{Status: f.Status, Code: f.Code, Message: "Injected fault."}))
}

// drain reads what a client still sends, so that it reads the answer: one that is
// answered in the middle of an upload may see a broken connection instead.
func drain(req *http.Request) error {
	_, err := io.Copy(io.Discard, req.Body)
	if errors.Is(err, http.ErrBodyReadAfterClose) {
		return nil
	}
	return err
}

package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
)

// Problem is one finding of the validation of a job, as errors.data shows it.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Line    *int   `json:"line"` // from 1
	Param   string `json:"param,omitempty"`
}

// The kinds of problems, in the order in which they are looked for (A823).
const (
	badMark = iota
	badJSON
	badCount
	badSchema
	badID
	badURL
	badModel
	kinds
)

// maxProblems is how many problems of one kind a scan keeps.
const maxProblems = 10

// Scan is what was found in a file of requests.
type Scan struct {
	Bytes int64
	Lines int
	// Tokens is the exact count over all bodies.
	Tokens int64
	// Model and URL are those of the first line that has one.
	Model, URL string
	// Outcomes tells how each row will end.
	Outcomes []Outcome

	problems [kinds][]Problem
}

// Failure returns the problems of the first kind that was found, and none for a
// file that is as it should be.
func (s *Scan) failure() []Problem {
	for _, list := range s.problems {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// Row is one request of a file, as rules see it.
type Row struct {
	CustomID string
	URL      string
	Body     []byte // the JSON of the request
}

// Rules decide what the simulated model makes of a request. All three must be
// deterministic. A nil one is the default.
type Rules struct {
	// Tokens counts the tokens of a request; the default is a quarter of its
	// bytes, rounded up (A824).
	Tokens func(body []byte) int64
	// Outcome tells how a row or a synchronous call ends; the default is Marked. It
	// is asked once for each row, when its file comes in.
	Outcome func(Row) Outcome
	// Reply is the text of an answer; the default repeats the prompt.
	Reply func(model, prompt string) string
}

func (r Rules) tokens(body []byte) int64 {
	if r.Tokens != nil {
		return r.Tokens(body)
	}
	return quarter(len(body))
}

func (r Rules) outcome(row Row) Outcome {
	if r.Outcome != nil {
		return r.Outcome(row)
	}
	return Marked(row)
}

// Scanner reads a file of requests line by line.
type Scanner struct {
	limits Limits
	rules  Rules
	scan   Scan
	seen   map[[16]byte]struct{} // custom ids, by digest
}

// NewScanner returns a scanner for one file.
func NewScanner(limits Limits, rules Rules) *Scanner {
	return &Scanner{limits: limits, rules: rules, seen: map[[16]byte]struct{}{}}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// Line takes the next line, without its end. Nothing of it is kept. CutOff says that
// the line was longer than a scan takes, and what is given only its beginning.
func (s *Scanner) Line(line []byte, cut bool) {
	first := s.scan.Lines == 0
	s.scan.Lines++
	if first && bytes.HasPrefix(line, byteOrderMark) {
		// What the service says of a mark names something else (A825).
		s.problem(badMark, "model_not_found", "", "The batch has no valid deployment name.")
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	outcome := Answered
	defer func() { s.scan.Outcomes = append(s.scan.Outcomes, outcome) }()
	if cut {
		s.problem(badJSON, "invalid_json_line", "", fmt.Sprintf("This line is longer than %d bytes.", s.limits.LineBytes))
		return
	}
	var row struct {
		CustomID *string         `json:"custom_id"`
		Method   string          `json:"method"`
		URL      string          `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		s.problem(badJSON, "invalid_json_line", "", "This line is not parseable as valid JSON.")
		return
	}
	var body struct {
		Model string `json:"model"`
	}
	switch err := json.Unmarshal(row.Body, &body); {
	case row.CustomID == nil || *row.CustomID == "":
		s.problem(badSchema, "invalid_request", "custom_id", "custom_id is missing.")
		return
	case row.Method != "POST":
		s.problem(badSchema, "invalid_request", "method", fmt.Sprintf("method is %q, must be POST.", row.Method))
		return
	case !slices.Contains(rowURLs, row.URL):
		s.problem(badSchema, "invalid_request", "url", fmt.Sprintf("url is %q, must be one of %q.", row.URL, rowURLs))
		return
	case err != nil || body.Model == "":
		s.problem(badSchema, "invalid_request", "body.model", "body is missing, or body.model in it.")
		return
	}
	s.same(&s.scan.URL, row.URL, badURL, "url_mismatch", "url")
	s.same(&s.scan.Model, body.Model, badModel, "model_mismatch", "body.model")
	sum := sha256.Sum256([]byte(*row.CustomID))
	digest := [16]byte(sum[:16])
	if _, twice := s.seen[digest]; twice {
		s.problem(badID, "duplicate_custom_id", "custom_id", "The custom_id of this line has been used before.")
	}
	s.seen[digest] = struct{}{}
	s.scan.Tokens += s.rules.tokens(row.Body)
	outcome = s.rules.outcome(Row{CustomID: *row.CustomID, URL: row.URL, Body: row.Body})
}

// rowURLs are the urls that rows may have (A826).
var rowURLs = []string{"/chat/completions", "/v1/chat/completions", "/v1/responses"}

func (s *Scanner) same(first *string, got string, kind int, code, param string) {
	if *first == "" {
		*first = got
	}
	if got != *first {
		s.problem(kind, code, param, fmt.Sprintf("%s is %q, but %q in the lines before.", param, got, *first))
	}
}

func (s *Scanner) problem(kind int, code, param, message string) {
	if len(s.scan.problems[kind]) < maxProblems {
		line := s.scan.Lines
		s.scan.problems[kind] = append(s.scan.problems[kind], Problem{Code: code, Message: message, Line: &line, Param: param})
	}
}

// Done ends the scan of a file of that many bytes.
func (s *Scanner) Done(size int64) *Scan {
	scan := s.scan
	scan.Bytes = size
	switch {
	case scan.Lines == 0:
		scan.problems[badCount] = []Problem{{Code: "empty_file", Message: "The input file is empty."}}
	case scan.Lines > s.limits.FileLines:
		scan.problems[badCount] = []Problem{{Code: "too_many_tasks", Message: fmt.Sprintf("The file has %d requests, at most %d are allowed.", scan.Lines, s.limits.FileLines)}}
	}
	return &scan
}

// quarter is a quarter, rounded up: about how many tokens that many bytes are.
func quarter(size int) int64 { return int64(size+3) / 4 }

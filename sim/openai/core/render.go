package core

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Render describes the results of a job that are to be written: rows of the input,
// answered, in this order. It holds no content; whoever carries it out reads the
// lines of the input and asks Line for each.
type Render struct {
	// Input names the content with the requests.
	Input string
	// Output and Errors name the contents to write; empty means not.
	Output, Errors string
	// Rows are the indices of the lines to answer.
	Rows []int

	job   *Job
	model string
}

// render plans the results of a job: the rows that are done, in the order of a
// shuffle that follows from its id (A840), without those that shall be missing.
func (s State) render(j *Job, output, errors string) *Render {
	r := &Render{Input: j.Content, Output: output, Errors: errors, job: j, Rows: make([]int, j.Done)}
	if a, ok := s.account(j.Account); ok {
		d, _ := a.deployment(j.Deployment)
		r.model = d.version()
	}
	for i := range r.Rows {
		r.Rows[i] = i
	}
	if j.Behaviour.InOrder {
		return r
	}
	// Fisher and Yates' shuffle over a xorshift generator.
	seed := uint64(indexOf(j.ID))*0x9e3779b97f4a7c15 + 1
	for i := len(r.Rows) - 1; i > 0; i-- {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		k := int(seed % uint64(i+1))
		r.Rows[i], r.Rows[k] = r.Rows[k], r.Rows[i]
	}
	return r
}

// Line answers one line of the input: how often it is to be written, what, and
// whether to the errors.
func (r *Render) Line(rules Rules, row int, line []byte) (times int, out []byte, failed bool, err error) {
	var request struct {
		CustomID string          `json:"custom_id"`
		URL      string          `json:"url"`
		Body     json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(line, &request); err != nil {
		return 0, nil, false, fmt.Errorf("line %d of the input of %s: %w", row+1, r.job.ID, err)
	}
	times = 1
	if slices.Contains(r.job.Behaviour.Missing, request.CustomID) {
		return 0, nil, false, nil
	}
	if slices.Contains(r.job.Behaviour.Repeated, request.CustomID) {
		times = 2
	}
	outcome := r.job.outcome(row)
	seed := fmt.Sprintf("%s|%d", r.job.ID, row)
	status, body := result(rules, request.URL, request.Body, outcome, r.model, seed, r.job.Created.Unix())
	out, err = json.Marshal(map[string]any{
		"custom_id": request.CustomID, "error": nil,
		"response": map[string]any{"status_code": status, "request_id": short("request|" + seed), "body": body},
	})
	return times, out, outcome.failed(), err
}

// outcome is how a row of the job ends.
func (j *Job) outcome(row int) Outcome {
	if j.GoneAt >= 0 && row >= j.GoneAt {
		return gone
	}
	return j.Scan.Outcomes[row]
}

// failures counts the rows before done that fail.
func (j *Job) failures(done int) int {
	n := 0
	for row := range done {
		if j.outcome(row).failed() {
			n++
		}
	}
	return n
}

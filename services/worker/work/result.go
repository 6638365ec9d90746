package work

import (
	"bytes"
	"encoding/json"
	"errors"

	"onedoor/services/internal/claim"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/store"
)

// tally is what a result's metadata comes to.
type tally struct{ store.Meta }

// meta is the metadata of a result without items.
func (it *item) meta() tally {
	m := it.message
	return tally{store.Meta{Key: m.IdempotencyKey(), Payload: m.ETag, Alias: m.Alias, Correlation: m.Correlation}}
}

// add counts an answer.
func (t *tally) add(a model.Answer) {
	t.Items++
	if a.Refused {
		t.Refused++
	}
	t.Prompt += a.Usage.Prompt
	t.Cached += a.Usage.Cached
	t.Completion += a.Usage.Completion
}

// resultLine is one line of a result, in the shape of OpenAI's batch outputs.
type resultLine struct {
	ID       string    `json:"id"`
	CustomID string    `json:"custom_id"`
	Response *response `json:"response"`
	Error    *problem  `json:"error"`
}

type response struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}

type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// writeLine writes the line of an answer, or of why there is none. id is that of an item
// of many.
func writeLine(to *bytes.Buffer, m claim.Message, id string, a *model.Answer, p *problem) error {
	l := resultLine{ID: m.IdempotencyKey(), CustomID: m.Item, Error: p}
	if id != "" {
		l.ID, l.CustomID = l.ID+":"+id, id
	}
	if a != nil {
		l.Response = &response{a.Status, a.RequestID, a.Body}
	}
	return json.NewEncoder(to).Encode(l)
}

// problemOf is an error as an item of many has it; nil for one that is not the
// item's alone.
func problemOf(err error) *problem {
	var unfit *payload.Error
	var rejected *model.Rejected
	var often *exhausted
	var large *model.TooLarge
	switch {
	case errors.As(err, &unfit):
		return &problem{unfit.Code, unfit.Err.Error()}
	case errors.As(err, &rejected):
		return &problem{reasonRejected, rejected.Error()}
	case errors.As(err, &large):
		return &problem{reasonLarge, large.Error()}
	case errors.As(err, &often):
		return &problem{reasonRetries, often.Error()}
	}
	return nil
}

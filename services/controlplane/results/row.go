// Package results owns what comes back from the account: it reads rows, tells
// answers from refusals and failures, and puts the rows of a job together, joined
// on custom_id. Where a row says what is wrong with a line, it stays; where it only
// says that the service was busy or broken, the line is tried again.
package results

import (
	"net/http"

	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/jobs"
)

// Kind is what a row says.
type Kind int

// The kinds.
const (
	Answered  Kind = iota // an answer
	Refused               // by the content filter, of the prompt or of the answer
	Failed                // for a reason that stays
	Transient             // 408, 429 or 5xx: not the line's fault
)

// Row is a row of an output.
type Row struct {
	CustomID string
	Kind     Kind
	Usage    jobs.Usage
}

// contentFilter is the code of a refused prompt and the reason of a cut answer.
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
const contentFilter = "content_filter"

// Read reads a row. Not ok is a row that was cut or is no row.
func Read(raw []byte) (Row, bool) {
	text := string(raw)
	if !gjson.Valid(text) {
		return Row{}, false
	}
	r := gjson.Parse(text)
	row := Row{CustomID: r.Get("custom_id").String()}
	if row.CustomID == "" {
		return Row{}, false
	}
	body := r.Get("response.body")
	switch status := r.Get("response.status_code").Int(); {
	case status/100 == 2:
		row.Usage = usage(body.Get("usage"))
		if body.Get("choices.0.finish_reason").Str == contentFilter || body.Get("incomplete_details.reason").Str == contentFilter {
			row.Kind = Refused
		}
	case status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		row.Kind = Transient
	case body.Get("error.code").Str == contentFilter:
		row.Kind = Refused
	default:
		row.Kind = Failed
	}
	return row, true
}

// usage reads the tokens of both endpoints: chat completions and responses.
func usage(u gjson.Result) jobs.Usage {
	either := func(a, b string) int64 {
		if v := u.Get(a); v.Exists() {
			return v.Int()
		}
		return u.Get(b).Int()
	}
	return jobs.Usage{
		Input:  either("prompt_tokens", "input_tokens"),
		Cached: either("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"),
		Output: either("completion_tokens", "output_tokens"),
	}
}

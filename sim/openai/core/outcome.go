package core

import "bytes"

// Outcome is how one request ends.
type Outcome uint8

// The outcomes.
const (
	Answered       Outcome = iota
	PromptFiltered         // 400: the prompt met the content filter
	AnswerFiltered         // 200, but the answer met it: finish_reason content_filter
	CutOff                 // 200, but max tokens were reached: finish_reason length
	Throttled              // 429
	Broken                 // 500
	gone                   // 404: the deployment is not there any more (A834)
)

// markers make a request end in another way, for whoever can write only prompts.
var markers = map[string]Outcome{
	"[sim:refused]":  PromptFiltered,
	"[sim:filtered]": AnswerFiltered,
	"[sim:cut]":      CutOff,
	"[sim:busy]":     Throttled,
	"[sim:broken]":   Broken,
}

// Marked is the default rule: the marker that a request holds anywhere, such as
// "[sim:refused]", decides; without one it is answered (A841).
func Marked(row Row) Outcome {
	at := bytes.Index(row.Body, []byte("[sim:"))
	if at < 0 {
		return Answered
	}
	end := bytes.IndexByte(row.Body[at:], ']')
	return markers[string(row.Body[at:at+end+1])]
}

// failed tells whether the row goes to the error file (A842).
func (o Outcome) failed() bool { return o != Answered && o != AnswerFiltered && o != CutOff }

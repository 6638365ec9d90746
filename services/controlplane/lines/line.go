// Package lines owns the files that callers upload: one request a line. It checks
// them as they pass by, says which line is wrong and why, cuts large ones into
// parts that Azure takes, and puts the deployment in the place of the alias. It
// holds one line at a time, and of each line before only a hash of its id.
package lines

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/apierror"
)

// Line is what matters of one line.
type Line struct {
	CustomID string
	URL      string
	Model    string
	Tokens   int64 // estimate of its input: a token for each 4 bytes of the body

	modelAt, modelEnd int // of the model's JSON value, in bytes of the line
}

// URLs are the endpoints that a line may name. Azure reads from the lines which one
// it is, and the same must be in all of a file.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
var URLs = []string{"/v1/chat/completions", "/v1/responses", "/chat/completions"}

// maxID is the longest custom_id in bytes. Azure names no limit; this one bounds
// what results and their lists hold.
const maxID = 512

// bytesPerToken turns a body's length into tokens of input. English text has about
// four bytes in a token, other text fewer: the count is an estimate for admission,
// never for a bill.
const bytesPerToken = 4

// Parse reads a line without its line break. The problems have no line number yet.
func Parse(raw []byte) (Line, []apierror.Problem) {
	text := string(raw)
	switch {
	case !utf8.ValidString(text):
		return Line{}, []apierror.Problem{{Code: "invalid_json_line", Message: "is not UTF-8; save the file as UTF-8 without BOM"}}
	case deep(raw):
		return Line{}, []apierror.Problem{{Code: "invalid_json_line", Message: fmt.Sprintf("is nested more than %d deep; send a flatter request", maxDepth)}}
	case !gjson.Valid(text) || !gjson.Parse(text).IsObject():
		return Line{}, []apierror.Problem{{Code: "invalid_json_line", Message: "is not a JSON object; write one request on each line, without line breaks in it"}}
	}
	p := parser{}
	seen := map[string]gjson.Result{}
	gjson.Parse(text).ForEach(func(key, value gjson.Result) bool {
		switch name := strings.ToLower(key.String()); name {
		case "custom_id", "method", "url", "body":
			p.once(seen, name, name, key.String(), value)
		}
		return true
	})
	p.line.CustomID = p.text(seen["custom_id"], "custom_id", "a string that no other line has")
	if id := p.line.CustomID; len(id) > maxID {
		p.bad("custom_id", "has %d bytes, want at most %d", len(id), maxID)
	}
	if method := p.text(seen["method"], "method", `"POST"`); method != "" && method != "POST" {
		p.bad("method", "is %q, want \"POST\"", cut(method))
	}
	p.line.URL = p.text(seen["url"], "url", "one of "+strings.Join(URLs, ", "))
	if p.line.URL != "" && !slices.Contains(URLs, p.line.URL) {
		p.bad("url", "is %q, want one of %s", cut(p.line.URL), strings.Join(URLs, ", "))
	}
	p.body(seen["body"])
	return p.line, p.found
}

// maxDepth is how deep a request may be nested: parsers follow with their stack.
const maxDepth = 512

// deep tells whether more than maxDepth brackets are open at once.
func deep(raw []byte) bool {
	if bytes.Count(raw, []byte{'['})+bytes.Count(raw, []byte{'{'}) <= maxDepth {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

type parser struct {
	line  Line
	found []apierror.Problem
}

func (p *parser) bad(param, format string, args ...any) {
	p.found = append(p.found, apierror.Problem{Code: "invalid_request", Param: param, Message: param + " " + fmt.Sprintf(format, args...)})
}

// once notes a key. A second one, or one in other letters, is refused: readers
// differ in which they take, and so a line could mean one model here and another
// at Azure.
func (p *parser) once(seen map[string]gjson.Result, name, param, spelled string, value gjson.Result) {
	if _, twice := seen[name]; twice {
		p.bad(param, "occurs twice; leave one")
	}
	if spelled != name {
		p.bad(param, "is spelled %q; write it in lower case", cut(spelled))
	}
	seen[name] = value
}

// text is a string that must be there.
func (p *parser) text(value gjson.Result, param, want string) string {
	if value.Type != gjson.String || value.Str == "" {
		p.bad(param, "is missing or no string, want %s", want)
		return ""
	}
	return value.Str
}

func (p *parser) body(body gjson.Result) {
	if !body.IsObject() {
		p.bad("body", "is missing or no object, want the request as the endpoint of url takes it")
		return
	}
	p.line.Tokens = int64((len(body.Raw) + bytesPerToken - 1) / bytesPerToken)
	seen := map[string]gjson.Result{}
	body.ForEach(func(key, value gjson.Result) bool {
		switch name := strings.ToLower(key.String()); name {
		case "model", "stream":
			p.once(seen, name, "body."+name, key.String(), value)
		}
		return true
	})
	if seen["stream"].Type == gjson.True {
		p.bad("body.stream", "is true, but a batch has nobody to stream to; leave it out")
	}
	model := seen["model"]
	p.line.Model = p.text(model, "body.model", "an alias of your plan")
	p.line.modelAt, p.line.modelEnd = model.Index, model.Index+len(model.Raw)
}

// cut shortens what a message quotes.
func cut(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// Name appends raw to dst with the model named as Azure knows it: the deployment.
// l must be what Parse found in raw.
func (l Line) Name(dst, raw []byte, deployment string) []byte {
	dst = append(dst, raw[:l.modelAt]...)
	dst = gjson.AppendJSONString(dst, deployment)
	return append(dst, raw[l.modelEnd:]...)
}

// named is the length of a line with its model named as Azure knows it.
func (l Line) named(raw []byte, deployment string) int64 {
	return int64(len(raw) - (l.modelEnd - l.modelAt) + len(deployment) + len(`""`))
}

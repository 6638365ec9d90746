package propvalue

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What stands for values that are not shown.
const (
	ShownSecret  = "[secret]"
	ShownUnknown = "[unknown]"
	ShownAbsent  = "[absent]"
	ShownOther   = "[another kind of value]"
)

// maxShown bounds evidence, in bytes: enough to see a rule or a list of actions,
// too little to carry a document away.
const maxShown = 400

// The engine gives some secrets without their mark, so names and texts that look
// like credentials are hidden too.
var (
	secretName = regexp.MustCompile(`(?i)(password|passwd|secret|token|apikey|api_key|connectionstring|(access|account|primary|secondary|shared|private|subscription|instrumentation)_?key)$`)
	secretText = regexp.MustCompile(`(?i)((account|shared|access|instrumentation)key=|password=|[?&]sig=|bearer\s+\S{16,}|-----BEGIN |eyJ[A-Za-z0-9_-]{16,}\.)`)
)

// Shown is what may be shown of the value: its JSON, with secrets, unknowns and
// what looks like a credential replaced, and never more than 400 bytes.
func (v Value) Shown() string {
	if v.state == Absent {
		return ShownAbsent
	}
	encoded, err := json.Marshal(v.redacted())
	if err != nil { // not possible for the values that redacted returns, except NaN and infinities
		return "[not a JSON value]"
	}
	text := strings.Trim(string(encoded), `"`)
	if text == "" {
		text = `""`
	}
	if len(text) <= maxShown {
		return text
	}
	cut := maxShown
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

func (v Value) redacted() any {
	switch {
	case v.secret:
		return ShownSecret
	case v.state == Unknown:
		return ShownUnknown
	case v.state == Absent:
		return nil
	case v.state == Mistyped:
		return ShownOther
	}
	name := v.path[strings.LastIndex(v.path, ".")+1:]
	if text, state := v.Text(); state == Known {
		if text != "" && (secretName.MatchString(name) || secretText.MatchString(text)) {
			return ShownSecret
		}
		return text
	}
	if items, state := v.Items(); state == Known {
		out := make([]any, len(items))
		for i, item := range items {
			out[i] = item.redacted()
		}
		return out
	}
	if v.Object() == Known {
		out := map[string]any{}
		for key, member := range v.Members() {
			out[key] = member.redacted()
		}
		return out
	}
	return v.Plain(nil)
}

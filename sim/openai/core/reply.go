package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// call is what the simulated model reads of a request; of the rest nothing
// depends on it.
type call struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Input               json.RawMessage `json:"input"`
	MaxTokens           int64           `json:"max_tokens"`
	MaxCompletionTokens int64           `json:"max_completion_tokens"`
	MaxOutputTokens     int64           `json:"max_output_tokens"`
	ResponseFormat      struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Text struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"text"`
	Stream         bool   `json:"stream"`
	Background     bool   `json:"background"`
	Dimensions     int    `json:"dimensions"`
	EncodingFormat string `json:"encoding_format"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// textOf returns the words of a content: a text, or the texts of its parts.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var words []string
	for _, p := range parts {
		if p.Text != "" {
			words = append(words, p.Text)
		}
		if len(p.Content) > 0 {
			words = append(words, textOf(p.Content))
		}
	}
	return strings.Join(words, " ")
}

// prompt is the last thing that was said.
func (c call) prompt() string {
	if len(c.Messages) > 0 {
		return textOf(c.Messages[len(c.Messages)-1].Content)
	}
	return textOf(c.Input)
}

// maxTokens is the limit of the answer; 0 means none.
func (c call) maxTokens() int64 { return max(c.MaxTokens, c.MaxCompletionTokens, c.MaxOutputTokens) }

// maxEcho is how many words of a prompt the default answer repeats.
const maxEcho = 16

// reply is the text of the answer and how it ended (A850): that of the rules, or
// the beginning of the prompt; as a JSON object where one is asked for; cut at
// the caller's limit.
func (c call) reply(rules Rules, outcome Outcome) (text, finish string) {
	if outcome == AnswerFiltered {
		return "", "content_filter"
	}
	if rules.Reply != nil {
		text = rules.Reply(c.Model, c.prompt())
	} else {
		words := strings.Fields(c.prompt())
		text = "You wrote: " + strings.Join(words[:min(len(words), maxEcho)], " ")
		if strings.HasPrefix(c.ResponseFormat.Type, "json") || strings.HasPrefix(c.Text.Format.Type, "json") {
			object, _ := json.Marshal(map[string]string{"reply": text}) // a map of texts can be written
			text = string(object)
		}
	}
	limit := c.maxTokens()
	if outcome == CutOff && (limit == 0 || limit > 1) {
		limit = 1
	}
	if limit > 0 && quarter(len(text)) > limit {
		return strings.ToValidUTF8(text[:limit*4], ""), "length"
	}
	if outcome == CutOff {
		return text, "length"
	}
	return text, "stop"
}

// result is the status and body of a request, synchronous or in a job.
func result(rules Rules, url string, body []byte, outcome Outcome, model, seed string, created int64) (int, map[string]any) {
	switch outcome {
	case PromptFiltered:
		return http.StatusBadRequest, map[string]any{"error": refusedPrompt()}
	case Throttled:
		return http.StatusTooManyRequests, map[string]any{"error": &Error{Code: "429", Message: "Requests have exceeded the rate limit of the deployment. Please retry later."}}
	case Broken:
		return http.StatusInternalServerError, map[string]any{"error": &Error{Code: "InternalServerError", Message: "The server had an error while processing the request."}}
	case gone:
		return http.StatusNotFound, map[string]any{"error": noDeployment()}
	}
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return http.StatusBadRequest, map[string]any{"error": Invalid("", "The body is no request: %v", err)}
	}
	text, finish := c.reply(rules, outcome)
	in, out := rules.tokens(body), quarter(len(text))
	if strings.HasSuffix(url, "/responses") {
		return http.StatusOK, response(c.Model, seed, created, text, finish, in, out)
	}
	return http.StatusOK, completion(model, seed, created, text, finish, in, out)
}

// safe are the filter's results for what is harmless.
func safe() map[string]any {
	out := map[string]any{}
	for _, category := range []string{"hate", "self_harm", "sexual", "violence"} {
		out[category] = map[string]any{"filtered": false, "severity": "safe"}
	}
	return out
}

func completion(model, seed string, created int64, text, finish string, in, out int64) map[string]any {
	filter := safe()
	if finish == "content_filter" {
		filter["violence"] = map[string]any{"filtered": true, "severity": "high"}
	}
	return map[string]any{
		"id": "chatcmpl-" + short(seed), "object": "chat.completion", "created": created, "model": model,
		"system_fingerprint": "fp_sim",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": finish, "logprobs": nil,
			"message":                map[string]any{"role": "assistant", "content": text, "refusal": nil},
			"content_filter_results": filter,
		}},
		"prompt_filter_results": []any{map[string]any{"prompt_index": 0, "content_filter_results": safe()}},
		"usage":                 map[string]any{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out},
	}
}

// response names the deployment as the model (A851).
func response(deployment, seed string, created int64, text, finish string, in, out int64) map[string]any {
	status, incomplete := "completed", any(nil)
	switch finish {
	case "length":
		status, incomplete = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case "content_filter":
		status, incomplete = "incomplete", map[string]any{"reason": "content_filter"}
	}
	return map[string]any{
		"id": "resp_" + short(seed), "object": "response", "created_at": created, "model": deployment,
		"status": status, "incomplete_details": incomplete, "error": nil, "background": false,
		"output": []any{map[string]any{
			"id": "msg_" + short("msg|"+seed), "type": "message", "role": "assistant", "status": status,
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		}},
		"usage": map[string]any{
			"input_tokens": in, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": out, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": in + out,
		},
	}
}

// refusedPrompt is the error of a prompt that met the content filter (A843).
func refusedPrompt() *Error {
	filter := safe()
	filter["violence"] = map[string]any{"filtered": true, "severity": "high"}
	return &Error{
		Status: http.StatusBadRequest, Code: "content_filter", Param: "prompt",
		Message: "The response was filtered due to the prompt triggering the content management policy.",
		Inner:   map[string]any{"code": "ResponsibleAIPolicyViolation", "content_filter_result": filter},
	}
}

func noDeployment() *Error {
	return &Error{Status: http.StatusNotFound, Code: "DeploymentNotFound", Message: "The API deployment for this resource does not exist."}
}

// short is an id that follows from a text.
func short(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	return hex.EncodeToString(sum[:12])
}

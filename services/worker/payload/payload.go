// Package payload owns what payloads are: it turns what somebody posted into the
// requests that a model takes, with an estimate of their tokens. Where payloads come
// from and what becomes of requests belongs to others. docs/contracts/messages.md
// describes the formats.
package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"

	"onedoor/services/worker/model"
)

// Codes of payloads that no request can be made of, as dead letters carry them.
const (
	TooLarge    = "payload_too_large"
	Malformed   = "payload_malformed"
	Unsupported = "payload_unsupported"
)

// Error says why no request can be made of a payload. It never quotes the payload.
type Error struct {
	Code string
	Err  error
}

func (e *Error) Error() string { return e.Code + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func bad(code, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}

// Types of content that are not files.
const (
	typeJSON  = "application/json"
	typeLines = "application/jsonl"
	typeForm  = "multipart/form-data"
)

// Maker makes requests.
type Maker struct {
	Modality  string
	Alias     string // that requests get as their model
	MaxBytes  int64  // of a payload
	MaxOutput int    // tokens that a request may ask for when it does not say
}

// Item is one request and what it may use.
type Item struct {
	ID     string // custom_id of a line; "" for a payload that is one item
	Path   model.Path
	Body   []byte
	Tokens int // of the prompt, estimated, and the most that may be answered
}

// Check says whether the modality can be worked on at all.
func (m Maker) Check() error {
	if _, ok := files[m.Modality]; !ok {
		return bad(Unsupported, "%s cannot be worked on yet", m.Modality)
	}
	return nil
}

// Many says whether a content type is that of many items.
func Many(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == typeLines
}

// Item makes the request of a payload that is one item.
func (m Maker) Item(contentType string, body io.Reader) (Item, error) {
	if err := m.Check(); err != nil {
		return Item{}, err
	}
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return Item{}, bad(Malformed, "content type: %w", err)
	}
	limited := &limit{r: body, left: m.MaxBytes}
	switch kind {
	case typeJSON:
		text, err := limited.all()
		if err != nil {
			return Item{}, err
		}
		return m.request(text, nil)
	case typeForm:
		return m.form(multipart.NewReader(limited, parameters["boundary"]))
	default:
		part, err := m.file(kind, limited)
		if err != nil {
			return Item{}, err
		}
		return m.request([]byte("{}"), part)
	}
}

// form makes the request of a form: "request", and then "file".
func (m Maker) form(r *multipart.Reader) (Item, error) {
	request, err := m.part(r, "request")
	if err != nil {
		return Item{}, err
	}
	text, err := (&limit{r: request, left: m.MaxBytes}).all()
	if err != nil {
		return Item{}, err
	}
	file, err := m.part(r, "file")
	if err != nil {
		return Item{}, err
	}
	kind, _, err := mime.ParseMediaType(file.Header.Get("Content-Type"))
	if err != nil {
		return Item{}, bad(Malformed, "part file: content type: %w", err)
	}
	content, err := m.file(kind, &limit{r: file, left: m.MaxBytes})
	if err != nil {
		return Item{}, err
	}
	if _, err := r.NextPart(); !errors.Is(err, io.EOF) {
		return Item{}, orMalformed(err, "more than the parts request and file")
	}
	return m.request(text, content)
}

// part is the next part of a form, of that name.
func (m Maker) part(r *multipart.Reader, name string) (*multipart.Part, error) {
	part, err := r.NextPart()
	if err != nil {
		return nil, orMalformed(err, "no part "+name)
	}
	if part.FormName() != name {
		return nil, bad(Malformed, "a part of another name, want %s here", name)
	}
	return part, nil
}

// orMalformed is err where it says what is wrong itself: with the size, or with
// where the payload is read from.
func orMalformed(err error, otherwise string) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if outside, ok := errors.AsType[*ReadError](err); ok {
		return outside
	}
	return bad(Malformed, "%s", otherwise)
}

// common is what requests of all kinds are asked about.
type common struct {
	Model     *string           `json:"model"`
	Stream    bool              `json:"stream"`
	N         *int              `json:"n"`
	Input     json.RawMessage   `json:"input"`
	Messages  []json.RawMessage `json:"messages"`
	MaxTokens *int              `json:"max_tokens"`
	MaxOutput *int              `json:"max_completion_tokens"`
}

// request completes a body, with the content of a file as its last message.
func (m Maker) request(text []byte, file *content) (Item, error) {
	var fields map[string]json.RawMessage
	var asked common
	if err := errors.Join(json.Unmarshal(text, &fields), json.Unmarshal(text, &asked)); err != nil || fields == nil {
		return Item{}, bad(Malformed, "not the JSON object of a request: %s", place(err))
	}
	if asked.Model != nil && *asked.Model != m.Alias {
		return Item{}, bad(Malformed, "model: want %q, or none", m.Alias)
	}
	if asked.Stream {
		return Item{}, bad(Malformed, "stream: answers are results, they cannot be streamed")
	}
	item := Item{}
	switch chat := asked.Messages != nil || file != nil; {
	case chat && asked.Input != nil:
		return Item{}, bad(Malformed, "messages and input, want one of them")
	case chat:
		item.Path = model.Chat
		if file != nil {
			messages, err := json.Marshal(append(asked.Messages, file.message))
			if err != nil {
				return Item{}, bad(Malformed, "messages: %w", err)
			}
			fields["messages"] = messages
		}
		most := m.MaxOutput
		switch {
		case asked.MaxOutput != nil:
			most = *asked.MaxOutput
		case asked.MaxTokens != nil:
			most = *asked.MaxTokens
		default:
			fields["max_completion_tokens"] = json.RawMessage(strconv.Itoa(most))
		}
		choices := 1
		if asked.N != nil {
			choices = *asked.N
		}
		if most < 1 || choices < 1 || most > maxTokens || choices > maxChoices {
			return Item{}, bad(Malformed, "max_completion_tokens or n: want 1 to %d, and 1 to %d", maxTokens, maxChoices)
		}
		item.Tokens = most * choices
	case asked.Input != nil:
		item.Path = model.Embeddings
	default:
		return Item{}, bad(Malformed, "neither messages nor input")
	}
	name, err := json.Marshal(m.Alias)
	if err != nil {
		return Item{}, err
	}
	fields["model"] = name
	if item.Body, err = json.Marshal(fields); err != nil {
		return Item{}, err
	}
	item.Tokens += estimate(item.Body)
	return item, nil
}

// Limits of what a request may ask for.
const (
	maxTokens  = 1 << 20
	maxChoices = 128
)

// place says where JSON is wrong, without quoting it.
func place(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("%s is of another type", strings.Join(strings.Fields(kind.Field), " "))
	}
	return "want an object"
}

// Numbers of an estimate, on the safe side: English has about four bytes a token,
// other languages fewer. An image has at most what eight tiles have.
// https://platform.openai.com/docs/guides/images-vision#calculating-costs
const (
	bytesOfToken  = 3
	tokensOfImage = 85 + 8*170
)

// dataURL begins an image that is part of a body.
var dataURL = []byte(`"data:image/`)

// estimate is how many tokens a body's prompt may have. Images are not counted by
// their length.
func estimate(body []byte) int {
	images, length := 0, len(body)
	for rest := body; ; images++ {
		i := bytes.Index(rest, dataURL)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		end := max(0, bytes.IndexByte(rest, '"'))
		length -= end
		rest = rest[end:]
	}
	return length/bytesOfToken + 1 + images*tokensOfImage
}

// ReadError says that a payload could not be read to its end, which may pass.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return "the payload cannot be read: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// limit reads up to so many bytes, and fails after them.
type limit struct {
	r    io.Reader
	left int64
}

func (l *limit) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, bad(TooLarge, "more than the workers have memory for")
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left+1)])
	if l.left -= int64(n); l.left < 0 {
		return n, bad(TooLarge, "more than the workers have memory for")
	}
	var own *Error
	if err != nil && !errors.Is(err, io.EOF) && !errors.As(err, &own) {
		return n, &ReadError{err}
	}
	return n, err
}

// all reads to the end.
func (l *limit) all() ([]byte, error) { return io.ReadAll(l) }

// supports says whether files of a type are of the modality.
func (m Maker) supports(kind string) bool { return slices.Contains(files[m.Modality], kind) }

package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// files are the types of files that each modality takes. Audio and video are added
// here, with what makes a message of them in file.
var files = map[string][]string{
	"text":     {"text/plain", "text/markdown"},
	"document": {"text/plain", "text/markdown", "application/pdf"},
	"image":    {"image/png", "image/jpeg", "image/webp", "image/gif"},
}

// content is a file as a message of a chat.
type content struct{ message json.RawMessage }

// file makes a message of a file.
func (m Maker) file(kind string, r *limit) (*content, error) {
	if !m.supports(kind) {
		return nil, bad(Unsupported, "a file of that type is not %s; want one of %s: convert it", m.Modality, strings.Join(files[m.Modality], ", "))
	}
	data, err := r.all()
	if err != nil {
		return nil, orMalformed(err, "the file is cut short")
	}
	if len(data) == 0 {
		return nil, bad(Malformed, "the file is empty")
	}
	switch {
	case strings.HasPrefix(kind, "image/"):
		return imageMessage(kind, data)
	case kind == "application/pdf":
		text, err := extract(data, m.MaxBytes, extractWithin)
		if err != nil {
			return nil, err
		}
		return textMessage(text)
	default:
		return textMessage(data)
	}
}

// textMessage is text as a message.
func textMessage(text []byte) (*content, error) {
	if !utf8.Valid(text) {
		return nil, bad(Malformed, "the text is not UTF-8")
	}
	message, err := json.Marshal(map[string]any{"role": "user", "content": string(text)})
	return &content{message}, err
}

// imageMessage is an image as a message.
func imageMessage(kind string, data []byte) (*content, error) {
	var b bytes.Buffer
	b.Grow(base64.StdEncoding.EncodedLen(len(data)) + 128)
	fmt.Fprintf(&b, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:%s;base64,`, kind)
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	if _, err := encoder.Write(data); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	b.WriteString(`"}}]}`)
	return &content{b.Bytes()}, nil
}

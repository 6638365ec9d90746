package service_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/settings"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
)

// Whatever a caller posts, a worker makes the request of that was meant: by the
// content type that the message proves, and the payload that it names.
func TestWorkersTakeWhatIsPosted(t *testing.T) {
	t.Parallel()
	w := open(t)
	maker := payload.Maker{Modality: "text", Alias: "small", MaxBytes: 1 << 20, MaxOutput: 100}
	form := "--x\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{\"messages\":[]}\r\n" +
		"--x\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x--\r\n"
	for id, c := range map[string]struct {
		kind, body string
		want       string // in the request
	}{
		"json":  {"application/json", `{"messages":[{"role":"user","content":"hello"}]}`, "hello"},
		"text":  {"text/plain; charset=utf-8", "hello", "hello"},
		"form":  {"multipart/form-data; boundary=x", form, "hello"},
		"embed": {"application/json", `{"input":"hello"}`, "hello"},
	} {
		status, got, _ := w.call(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item="+id, "desk", c.kind, c.body)
		require.Equal(t, http.StatusAccepted, status, "%s: %s", id, got)
		message, body := w.posted(id)
		assert.Equal(t, c.kind, message.Type)
		made, err := maker.Item(message.Type, strings.NewReader(body))
		require.NoError(t, err, id)
		assert.Contains(t, string(made.Body), c.want, id)
		assert.Equal(t, "small", gjson.GetBytes(made.Body, "model").String(), id)
		assert.Equal(t, map[bool]model.Path{true: model.Embeddings, false: model.Chat}[id == "embed"], made.Path, id)
	}
	status, got, _ := w.call(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item=lines", "desk", "application/jsonl", `{"custom_id":"1","body":{"input":"hello"}}`+"\n")
	require.Equal(t, http.StatusAccepted, status, got)
	message, _ := w.posted("lines")
	assert.True(t, payload.Many(message.Type))

	shown := httptest.NewRecorder()
	w.Status().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	assert.Contains(t, shown.Body.String(), `onedoor_intake_items_total{modality="text",outcome="accepted",tenant="desk"} 5`, "by which an alert counts what comes")
}

// posted is the message of an item that was posted, and its payload.
func (w *world) posted(id string) (claim.Message, string) {
	w.t.Helper()
	for _, sent := range w.bus.Sent() {
		m, err := claim.Verify(sent.Body, ring.Ring(w.keys))
		require.NoError(w.t, err)
		if m.Item != id {
			continue
		}
		r, err := w.blobs.Read(context.Background(), "payloads-text", m.Blob, 0, -1)
		require.NoError(w.t, err)
		defer func() { _ = r.Close() }()
		var body bytes.Buffer
		_, err = io.Copy(&body, r)
		require.NoError(w.t, err)
		return m, body.String()
	}
	require.Fail(w.t, "no message", id)
	return claim.Message{}, ""
}

// Without a type, or with none that can be read, no worker could read the payload.
func TestContentTypesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	post := func(kind string) (int, string) {
		status, got, _ := w.call(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item=1", "desk", kind, "hello")
		return status, got
	}
	for kind, text := range map[string]string{
		"":                                 "has no Content-Type, by which workers read the payload; set application/json",
		"text/":                            `Content-Type is \"text/\", want that of the payload`,
		"a/b; c":                           `Content-Type is \"a/b; c\"`,
		"text/" + strings.Repeat("x", 251): "of up to 255 bytes",
	} {
		status, got := post(kind)
		refused(t, http.StatusUnsupportedMediaType, "unsupported_content", status, got)
		assert.Contains(t, got, text)
	}
	status, got := post("text/" + strings.Repeat("x", 250))
	assert.Equal(t, http.StatusAccepted, status, got)
}

// The workers of a queue have quota for one alias. A queue without workers takes work
// for any: it waits for them.
func TestAQueueTakesTheAliasOfItsWorkers(t *testing.T) {
	t.Parallel()
	w := open(t, change{settings: func(s *settings.Settings) {
		s.Queues["image"] = settings.Intake{ContentType: "application/vnd.onedoor.image+json", Payloads: "payloads-image"}
	}})
	for _, path := range []string{"/v1/items?modality=text&alias=zone", "/v1/items/j/1/commit?modality=text&alias=zone"} {
		status, got, _ := w.call(http.MethodPost, path, "desk", "text/plain", "hello")
		refused(t, http.StatusBadRequest, "invalid_request", status, got)
		assert.Equal(t, "alias", gjson.Get(got, "error.param").String())
		assert.Equal(t, `alias is "zone", but the workers of modality "text" have quota for "small" alone; post with alias=small, or send the work as a batch`, gjson.Get(got, "error.message").String())
	}
	assert.Empty(t, w.bus.Sent())
	for _, path := range []string{"/v1/items?modality=text&alias=small", "/v1/items?modality=image&alias=zone"} {
		status, got, _ := w.call(http.MethodPost, path, "desk", "text/plain", "hello")
		assert.Equal(t, http.StatusAccepted, status, got)
	}
	assert.Len(t, w.bus.Sent(), 2)
}

package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"

	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// The account that most tests talk to, its deployment, and the tokens of those who
// talk to it.
const (
	account    = "oai-batch-dev"
	deployment = "nightly"
	submitter  = "token-of-the-control-plane"
	rogue      = "token-of-somebody-else"
	reader     = "token-of-a-reader"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func config() openai.Config {
	return openai.Config{
		Config: core.Config{
			Start: start,
			Accounts: []core.Account{
				{Name: account, Region: "swedencentral", Deployments: []core.Deployment{
					{Name: deployment, Model: "gpt-4o-mini", Version: "2024-07-18", SKU: "GlobalBatch", Capacity: 50},
				}},
				{Name: "oai-sync-dev", Region: "swedencentral", Deployments: []core.Deployment{
					{Name: "chat", Model: "gpt-4o", Version: "2024-08-06", SKU: "GlobalStandard", Capacity: 1},
					{Name: "vectors", Model: "text-embedding-3-small", SKU: "Standard", Capacity: 10},
				}},
			},
			Behaviour: core.DefaultBehaviour(),
		},
		Issued: func(token string) (core.Principal, bool) {
			p, ok := map[string]core.Principal{
				submitter: {ID: "control-plane", Actions: az.BatchSubmitter.DataActions},
				rogue:     {ID: "rogue", Actions: []string{"Microsoft.CognitiveServices/accounts/OpenAI/*"}},
				reader:    {ID: "reader", Actions: []string{"Microsoft.CognitiveServices/accounts/OpenAI/*/read"}},
				"gateway": {ID: "gateway", Actions: az.SyncOnly.DataActions},
			}[token]
			return p, ok
		},
	}
}

// world is a service with a server for the batch account.
type world struct {
	*openai.Service
	t   *testing.T
	url string // of the batch account
}

func open(t *testing.T, c openai.Config) *world {
	t.Helper()
	w := &world{Service: openai.New(c), t: t}
	w.url = w.serve(account)
	return w
}

// serve runs a server for one account and returns its URL.
func (w *world) serve(account string) string {
	server := httptest.NewServer(w.Handler(openai.Entry{Account: account}))
	w.t.Cleanup(server.Close)
	return server.URL
}

// client is the real client for the v1 API, as one of the callers.
func (w *world) client(token string) client.Client {
	return client.NewClient(option.WithBaseURL(w.url+"/openai/v1"), option.WithAPIKey(token), option.WithMaxRetries(0))
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	require.NoError(w.t, w.Advance(d))
}

// line is a request of a file.
func line(id, prompt string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":%q}]}}`+"\n", id, deployment, prompt)
}

// lines are n harmless requests, row-0 and so on.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(fmt.Sprintf("row-%d", i), fmt.Sprintf("ticket %d", i)))
	}
	return b.String()
}

// upload sends a file and waits until it is processed.
func (w *world) upload(token, content string) string {
	w.t.Helper()
	api := w.client(token)
	file, err := api.Files.New(context.Background(), client.FileNewParams{
		File: client.File(strings.NewReader(content), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch,
	})
	require.NoError(w.t, err)
	w.pass(5 * time.Second)
	return file.ID
}

func create(file string) client.BatchNewParams {
	return client.BatchNewParams{InputFileID: file, Endpoint: "/chat/completions", CompletionWindow: "24h"}
}

// submit uploads a file and creates a job.
func (w *world) submit(token, content string) string {
	w.t.Helper()
	api := w.client(token)
	job, err := api.Batches.New(context.Background(), create(w.upload(token, content)))
	require.NoError(w.t, err)
	return job.ID
}

func (w *world) job(id string) *client.Batch {
	w.t.Helper()
	api := w.client(submitter)
	job, err := api.Batches.Get(context.Background(), id)
	require.NoError(w.t, err)
	return job
}

// result is a row of an output or error file.
type result struct {
	CustomID string `json:"custom_id"`
	Response struct {
		StatusCode int `json:"status_code"`
		Body       struct {
			Error   *core.Error `json:"error"`
			Choices []struct {
				FinishReason string `json:"finish_reason"`
			} `json:"choices"`
			Usage struct {
				PromptTokens int64 `json:"prompt_tokens"`
			} `json:"usage"`
		} `json:"body"`
	} `json:"response"`
}

// download is the text of a file.
func (w *world) download(file string) string {
	w.t.Helper()
	api := w.client(submitter)
	res, err := api.Files.Content(context.Background(), file)
	require.NoError(w.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	return string(text)
}

// results are the rows of a file, in its order.
func (w *world) results(file string) []result {
	w.t.Helper()
	var out []result
	for l := range strings.Lines(w.download(file)) {
		var r result
		require.NoError(w.t, json.Unmarshal([]byte(l), &r))
		out = append(out, r)
	}
	return out
}

// ids are the custom ids of results, in their order.
func ids(results []result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.CustomID)
	}
	return out
}

// head is what an answer has beside its body.
type head struct {
	StatusCode int
	Header     http.Header
}

// send makes a request as it goes over the wire and returns head and decoded body of
// the answer; the body of an upload needs its content type.
func (w *world) send(token, method, path, contentType, body string) (head, map[string]any) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, w.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer func() { _ = res.Body.Close() }()
	out := map[string]any{}
	require.NoError(w.t, json.NewDecoder(res.Body).Decode(&out))
	return head{res.StatusCode, res.Header}, out
}

// form is the body of an upload, with its content type; header is that of the part.
func form(content string, header textproto.MIMEHeader, fields ...string) (contentType, body string) {
	var b strings.Builder
	m := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = m.WriteField(fields[i], fields[i+1]) // to a string builder
	}
	if header == nil {
		header = textproto.MIMEHeader{"Content-Type": {"application/jsonl"}}
	}
	header.Set("Content-Disposition", `form-data; name="file"; filename="in.jsonl"`)
	part, _ := m.CreatePart(header)
	_, _ = io.WriteString(part, content)
	_ = m.Close()
	return m.FormDataContentType(), b.String()
}

// code is the error code of an API error, and its status.
func code(t *testing.T, err error) string {
	t.Helper()
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	return fmt.Sprintf("%d %s", refused.StatusCode, refused.Code)
}

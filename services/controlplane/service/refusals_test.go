package service_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
)

// form is a form with fields in their order, each a name and a value; "file" is one.
func form(fields ...string) (contentType, body string) {
	var b strings.Builder
	for i := 0; i < len(fields); i += 2 {
		name := fmt.Sprintf("name=%q", fields[i])
		if fields[i] == "file" {
			name += `; filename="in.jsonl"`
		}
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; %s\r\n\r\n%s\r\n", name, fields[i+1])
	}
	return "multipart/form-data; boundary=x", b.String() + "--x--\r\n"
}

// refused asserts OpenAI's error body with that code.
func refused(t *testing.T, status int, code string, gotStatus int, body string) {
	t.Helper()
	assert.Equal(t, status, gotStatus, body)
	assert.Equal(t, code, gjson.Get(body, "error.code").String(), body)
	for _, key := range []string{"message", "type"} {
		assert.NotEmpty(t, gjson.Get(body, "error."+key).String(), body)
	}
	assert.True(t, gjson.Get(body, "error.param").Exists())
}

func TestUploadsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	good := line("a", "chat", "x")
	for name, c := range map[string]struct {
		fields []string
		status int
		code   string
		text   string
	}{
		"Purpose":     {[]string{"purpose", "assistants", "file", good}, 400, "invalid_request", `purpose is \"assistants\", want \"batch\"`},
		"PurposeLast": {[]string{"file", good, "purpose", "fine-tune"}, 400, "invalid_request", `want \"batch\"`},
		"NoPurpose":   {[]string{"file", good}, 400, "invalid_request", `purpose is \"\"`},
		"NoFile":      {[]string{"purpose", "batch"}, 400, "invalid_request", "no file"},
		"TwoFiles":    {[]string{"purpose", "batch", "file", good, "file", good}, 400, "invalid_request", "two files"},
		"Expiry":      {[]string{"purpose", "batch", "expires_after[seconds]", "5", "file", good}, 400, "invalid_request", "purpose and file alone"},
		"BadLine":     {[]string{"purpose", "batch", "file", good + "nonsense\n"}, 400, "invalid_file", "line 2"},
		"Deployment":  {[]string{"purpose", "batch", "file", line("a", "chat-batch", "x")}, 400, "invalid_file", "Name the alias"},
		"BOM":         {[]string{"purpose", "batch", "file", "\ufeff" + good}, 400, "invalid_file", "UTF-8 without BOM"},
	} {
		contentType, body := form(c.fields...)
		status, got, _ := w.call(http.MethodPost, "/v1/files", "desk", contentType, body)
		refused(t, c.status, c.code, status, got)
		assert.Contains(t, got, c.text, name)
	}
	files, err := w.blobs.List(context.Background(), "batch-input", "")
	require.NoError(t, err)
	assert.Empty(t, files, "nothing of them stays")
	all, err := jobs.Store{Table: w.table}.Files(context.Background(), "desk", "", 0)
	require.NoError(t, err)
	assert.Empty(t, all)
	contentType, body := form("file", good, "purpose", "batch")
	status, got, _ := w.call(http.MethodPost, "/v1/files", "desk", contentType, body)
	assert.Equal(t, 200, status, got)
}

// A form that ends too early leaves nothing behind.
func TestATornUploadIsNoFile(t *testing.T) {
	t.Parallel()
	w := open(t)
	contentType, body := form("purpose", "batch", "file", lines(100))
	status, got, _ := w.call(http.MethodPost, "/v1/files", "desk", contentType, body[:len(body)-200])
	refused(t, 400, "invalid_request", status, got)
	files, err := w.blobs.List(context.Background(), "batch-input", "")
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestResidencyAndPlanDecideWhatATenantMayName(t *testing.T) {
	t.Parallel()
	w := open(t)
	for name, c := range map[string]struct{ tenant, model, text string }{
		"Residency": {"home", "chat", `deployment promises \"global\"`},
		"Plan":      {"mini", "chat", `plan \"small\" does not sell`},
		"Unknown":   {"desk", "gpt", "takes no batch jobs; yours are: chat, zone"},
	} {
		contentType, body := form("purpose", "batch", "file", line("a", c.model, "x"))
		status, got, _ := w.call(http.MethodPost, "/v1/files", c.tenant, contentType, body)
		refused(t, 400, "invalid_file", status, got)
		assert.Contains(t, got, c.text, name)
		assert.Equal(t, int64(1), gjson.Get(got, "error.line").Int())
	}
	for tenant, model := range map[string]string{"home": "zone", "mini": "zone", "desk": "chat"} {
		contentType, body := form("purpose", "batch", "file", line("a", model, "x"))
		status, got, _ := w.call(http.MethodPost, "/v1/files", tenant, contentType, body)
		assert.Equal(t, 200, status, got)
	}
}

func TestBatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(20))
	body := func(change string) string {
		b := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{}}`, file)
		if old, next, ok := strings.Cut(change, "=>"); ok {
			b = strings.Replace(b, old, next, 1)
		}
		return b
	}
	for name, c := range map[string]struct {
		change string
		code   string
		text   string
	}{
		"Endpoint":      {`/v1/chat/completions=>/v1/embeddings`, "invalid_request", `want \"/v1/chat/completions\" as in the lines`},
		"Window":        {`24h=>1h`, "invalid_request", `want \"24h\"`},
		"Both":          {`"/v1/chat/completions","completion_window":"24h"=>"/x","completion_window":"2h"`, "invalid_request", "completion_window is"},
		"UnknownField":  {`{"input=>{"priority":1,"input`, "invalid_request", "priority"},
		"PilotTooSmall": {`{}=>{"pilot":"9"}`, "invalid_request", "want 10 to 50 lines"},
		"PilotTooLarge": {`{}=>{"pilot":"51"}`, "invalid_request", "want 10 to 50 lines"},
		"BudgetAlone":   {`{}=>{"budget_usd":"5"}`, "invalid_request", "without metadata.pilot"},
		"BudgetNaN":     {`{}=>{"pilot":"10","budget_usd":"NaN"}`, "invalid_request", "US dollars"},
		"Order":         {`{}=>{"order":"output"}`, "invalid_request", "want \\\"input\\\""},
		"DeadlinePast":  {`{}=>{"deadline":"2026-11-29T11:59:59Z"}`, "invalid_request", "from now up to"},
		"DeadlineFar":   {`{}=>{"deadline":"337h"}`, "invalid_request", "from now up to"},
		"LongValue":     {`{}=>{"a":"` + strings.Repeat("x", 513) + `"}`, "invalid_request", "at most 64 and 512"},
		"NoFile":        {file + `=>file-nonesuch`, "not_found", "no file"},
	} {
		status, got, _ := w.call(http.MethodPost, "/v1/batches", "desk", "application/json", body(c.change))
		assert.Equal(t, c.code, gjson.Get(got, "error.code").String(), "%s: %s", name, got)
		assert.Contains(t, got, c.text, name)
		assert.Contains(t, []int{400, 404}, status)
	}
	open, err := jobs.Store{Table: w.table}.Open(context.Background(), "desk")
	require.NoError(t, err)
	assert.Empty(t, open)
	for _, change := range []string{"", `{}=>{"pilot":"10","budget_usd":"0.5"}`, `{}=>{"pilot":"50"}`, `{}=>{"deadline":"336h"}`, `{}=>{"deadline":"2026-11-29T12:00:01Z"}`, `{}=>{"a":"` + strings.Repeat("x", 512) + `"}`, `/v1/chat=>/chat`} {
		status, got, _ := w.call(http.MethodPost, "/v1/batches", "desk", "application/json", body(change))
		assert.Equal(t, 200, status, "%s: %s", change, got)
	}
}

// What is another tenant's does not exist, on any verb.
func TestAnothersIDDoesNotExist(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(2))
	job := w.ended("desk", w.create("desk", file, map[string]string{"pilot": "10"}))
	for _, c := range [][2]string{
		{"GET", "/v1/files/" + file}, {"GET", "/v1/files/" + file + "/content"}, {"GET", "/v1/files/" + job.Output + "/content"},
		{"GET", "/v1/batches/" + job.ID}, {"POST", "/v1/batches/" + job.ID + "/cancel"}, {"POST", "/v1/batches/" + job.ID + "/confirm"}, {"DELETE", "/v1/files/" + file},
	} {
		_, mine, _ := w.call(c[0], c[1], "desk", "", "")
		assert.NotEqual(t, "not_found", gjson.Get(mine, "error.code").String(), "%v", c)
		if c[0] == "DELETE" {
			file = w.upload("desk", lines(2))
			c[1] = "/v1/files/" + file
		}
		status, got, _ := w.call(c[0], c[1], "labs", "", "")
		refused(t, 404, "not_found", status, got)
		_, none, _ := w.call(c[0], strings.ReplaceAll(strings.ReplaceAll(c[1], file, "x"), job.ID, "x"), "labs", "", "")
		assert.Equal(t, "not_found", gjson.Get(none, "error.code").String(), "it answers alike for what there never was")
	}
	status, got, _ := w.call("POST", "/v1/batches", "labs", "application/json", fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h"}`, file))
	refused(t, 404, "not_found", status, got)
	for _, id := range []string{"..%2fjob.labs", "a'b", strings.Repeat("a", 200), "A"} {
		status, got, _ := w.call("GET", "/v1/batches/"+id, "desk", "", "")
		refused(t, 404, "not_found", status, got)
	}
}

func TestAFileInUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(2))
	id := w.create("desk", file, nil)
	status, got, _ := w.call("DELETE", "/v1/files/"+file, "desk", "", "")
	refused(t, 409, "conflict", status, got)
	assert.Contains(t, got, id)
	w.ended("desk", id)
	status, _, _ = w.call("DELETE", "/v1/files/"+file, "desk", "", "")
	assert.Equal(t, 200, status)
	status, _, _ = w.call("GET", "/v1/files/"+file, "desk", "", "")
	assert.Equal(t, 404, status)
}

// once posts a batch of a file with a key of idempotency.
func (w *world) once(tenant, key, file, note string) (int, string) {
	w.t.Helper()
	body := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{"n":%q}}`, file, note)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/v1/batches", strings.NewReader(body))
	require.NoError(w.t, err)
	request.Header.Set("Authorization", "Bearer "+tenant)
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response.StatusCode, string(text)
}

func TestAKeyOfIdempotencyMakesOneBatch(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("desk", lines(2))
	_, first := w.once("desk", "k", file, "1")
	require.NoError(t, w.sim.Advance(time.Second))
	_, second := w.once("desk", "k", file, "1")
	assert.Equal(t, gjson.Get(first, "id").String(), gjson.Get(second, "id").String())
	status, other := w.once("desk", "k", file, "2")
	refused(t, 409, "idempotency_key_used", status, other)
	status, long := w.once("desk", strings.Repeat("k", 256), file, "1")
	refused(t, 400, "invalid_request", status, long)
}

// Whoever asks again after a lost answer gets the batch that was made, whatever the
// first post has changed: the plan may have no room for two, and the file be gone.
func TestAKeyOfIdempotencyIsOfTheFirstPost(t *testing.T) {
	t.Parallel()
	w := open(t)
	file := w.upload("mini", strings.ReplaceAll(lines(60), `"chat"`, `"zone"`)) // 60 x 17 of 2000 tokens
	status, first := w.once("mini", "k", file, "1")
	require.Equal(t, http.StatusOK, status, first)
	id := gjson.Get(first, "id").String()
	again := func() {
		status, got := w.once("mini", "k", file, "1")
		require.Equal(t, http.StatusOK, status, got)
		assert.Equal(t, id, gjson.Get(got, "id").String())
	}
	again()
	status, got := w.once("mini", "other", file, "1")
	refused(t, http.StatusTooManyRequests, "tenant_quota", status, got)
	w.ended("mini", id)
	status, got, _ = w.call(http.MethodDelete, "/v1/files/"+file, "mini", "", "")
	require.Equal(t, http.StatusOK, status, got)
	again()
}

func TestCallersWithoutATokenAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	status, got, _ := w.call("GET", "/v1/batches", "nobody", "", "")
	refused(t, 401, "invalid_token", status, got)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, w.url+"/v1/batches", nil)
	require.NoError(t, err)
	request.Header.Set("Api-Key", "secret")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_ = response.Body.Close()
	assert.Equal(t, 401, response.StatusCode)
	status, got, _ = w.call("GET", "/v2/batches", "desk", "", "")
	refused(t, 404, "not_found", status, got)
	status, got, _ = w.call("GET", "/v1/batches?limit=0", "desk", "", "")
	refused(t, 400, "invalid_request", status, got)
}

func TestAnInstanceThatStopsTakesNoUploads(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.Close()
	contentType, body := form("purpose", "batch", "file", lines(1))
	status, got, header := w.call(http.MethodPost, "/v1/files", "desk", contentType, body)
	refused(t, 503, "service_unavailable", status, got)
	assert.Equal(t, "1", header.Get("Retry-After"))
}

func TestItemsGoOntoTheBusWithAProof(t *testing.T) {
	t.Parallel()
	w := open(t)
	for range 2 { // a second post is the same item
		status, got, _ := w.call(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item=1", "desk", "application/json", `{"prompt":"secret"}`)
		require.Equal(t, http.StatusAccepted, status, got)
	}
	require.Len(t, w.bus.Sent(), 1)
	m := w.bus.Sent()[0]
	assert.Equal(t, "application/vnd.onedoor.text+json", m.ContentType)
	assert.Equal(t, time.Hour, m.TimeToLive)
	assert.NotContains(t, string(m.Body), "secret")
	assert.NotEmpty(t, m.Correlation)
	proven, err := claim.Verify(m.Body, ring.Ring(w.keys))
	require.NoError(t, err)
	assert.Equal(t, []string{"desk", "text", "small", "j", "1", "desk/j/1", "2"}, []string{proven.Tenant, proven.Modality, proven.Alias, proven.Job, proven.Item, proven.Blob, proven.Key})
	assert.Equal(t, proven.Correlation, m.Correlation)
	info, err := w.blobs.Stat(context.Background(), "payloads-text", proven.Blob)
	require.NoError(t, err)
	assert.Equal(t, info.ETag, proven.ETag)
	for path, code := range map[string]string{
		"/v1/items?modality=video&alias=small":                 "invalid_request",
		"/v1/items?modality=text&alias=gpt":                    "model_not_allowed",
		"/v1/items?modality=text&alias=small&job=..&item=1":    "invalid_request",
		"/v1/items?modality=text&alias=small&job=a%2Fb&item=1": "invalid_request",
		"/v1/items?modality=text&alias=small&upload=url":       "unsupported_content",
		"/v1/items/j/none/commit?modality=text&alias=small":    "not_found",
	} {
		_, got, _ := w.call(http.MethodPost, path, "desk", "", "{}")
		assert.Equal(t, code, gjson.Get(got, "error.code").String(), "%s: %s", path, got)
	}
	require.Len(t, w.bus.Sent(), 1)
	status, got, _ := w.call(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item=1", "desk", "text/plain", `{"prompt":"secret"}`)
	require.Equal(t, http.StatusAccepted, status, got)
	assert.Len(t, w.bus.Sent(), 2, "what is read otherwise is other work")
}

func TestDeadLettersAreTheTenantsAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	sign := func(tenant, item string) []byte {
		body, err := claim.Sign(claim.Message{Tenant: tenant, Modality: "text", Alias: "small", Job: "j", Item: item, Blob: tenant + "/j/" + item, ETag: `"1"`, Correlation: "c"}, ring.Ring(w.keys), "1")
		require.NoError(t, err)
		return body
	}
	for n, body := range [][]byte{sign("desk", "1"), sign("labs", "2"), []byte("junk"), sign("desk", "4"), sign("desk", "5")} {
		w.bus.Kill("text", intake.Dead{Sequence: int64(n + 1), Body: body, Reason: "retries_exhausted", Died: start})
	}
	sequences := func() string {
		_, got, _ := w.call("GET", "/dlq?modality=text", "desk", "", "")
		return gjson.Get(got, "data.#.sequence").String()
	}
	assert.Equal(t, "[1,4,5]", sequences())
	for path, want := range map[string]string{"&limit=1": "[1] true", "&limit=1&after=1": "[4] true", "&limit=1&after=4": "[5] false", "&after=5": "[] false"} {
		_, got, _ := w.call("GET", "/dlq?modality=text"+path, "desk", "", "")
		assert.Equal(t, want, gjson.Get(got, "data.#.sequence").String()+" "+gjson.Get(got, "has_more").String(), path)
	}
	for _, c := range [][2]string{{"DELETE", "/dlq/2?modality=text"}, {"POST", "/dlq/2/redrive?modality=text"}, {"DELETE", "/dlq/3?modality=text"}, {"DELETE", "/dlq/9?modality=text"}} {
		status, got, _ := w.call(c[0], c[1], "desk", "", "")
		refused(t, 404, "not_found", status, got)
	}
	status, got, _ := w.call("POST", "/dlq/4/redrive?modality=text", "desk", "", "")
	require.Equal(t, http.StatusAccepted, status, got)
	status, got, _ = w.call("DELETE", "/dlq/5?modality=text", "desk", "", "")
	require.Equal(t, http.StatusOK, status, got)
	assert.Equal(t, "[1]", sequences())
	require.Len(t, w.bus.Sent(), 1)
	again, err := claim.Verify(w.bus.Sent()[0].Body, ring.Ring(w.keys))
	require.NoError(t, err)
	assert.Equal(t, []string{"4", "2"}, []string{again.Item, again.Key}, "proven by the key of today")
	assert.Equal(t, "c", w.bus.Sent()[0].Correlation)
}

package service_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/ledger"
)

// strict is a table that takes the keys that Azure takes, and fails over others.
type strict struct{ ledger.Table }

func check(texts ...string) error {
	for _, text := range texts {
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || strings.ContainsRune(`/\#?'`, r) }); i >= 0 || len(text) > 512 {
			return fmt.Errorf("the table takes no key %q", text)
		}
	}
	return nil
}

func (s strict) Get(ctx context.Context, key ledger.Key) (ledger.Document, error) {
	if err := check(key.Partition, key.Row); err != nil {
		return ledger.Document{}, err
	}
	return s.Table.Get(ctx, key)
}

func (s strict) Insert(ctx context.Context, d ledger.Document) (string, error) {
	if err := check(d.Partition, d.Row); err != nil {
		return "", err
	}
	return s.Table.Insert(ctx, d)
}

func (s strict) List(ctx context.Context, q ledger.Query) ([]ledger.Document, error) {
	if err := check(q.Partition, q.After); err != nil {
		return nil, err
	}
	return s.Table.List(ctx, q)
}

// post is a request with whatever header.
func (w *world) post(method, path, as string, header map[string]string, body io.Reader) (int, string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, w.url+path, body)
	require.NoError(w.t, err)
	request.Header.Set("Authorization", "Bearer "+as)
	for key, value := range header {
		request.Header.Set(key, value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response.StatusCode, string(text)
}

// Whatever is wrong with a header, a query, a path or a body, the caller is to blame
// and is told what for: the code never changes, the parameter is named, and the
// message says what is wanted.
func TestBadInputIsSaidToBeTheCallers(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.table = strict{w.table}
	w.start(given())
	file := w.upload("desk", lines(20))
	const items = "/v1/items?modality=text&alias=small"
	batch := func(old, next string) string {
		good := fmt.Sprintf(`{"input_file_id":%q,"endpoint":"/v1/chat/completions","completion_window":"24h","metadata":{}}`, file)
		return strings.Replace(good, old, next, 1)
	}
	report := func(old, next string) string {
		const good = `{"tenant":"desk","alias":"small","job":"j","item":"1","outcome":"answered","at":"2026-11-29T12:00:00Z","input_tokens":3,"cached_tokens":1,"output_tokens":2}`
		return strings.Replace(good, old, next, 1)
	}
	for name, c := range map[string]struct {
		call   string // method and path
		as     string // "desk" if empty
		header map[string]string
		body   string
		code   string
		param  string
		text   string // of the message
	}{
		// Headers.
		"NoScheme":            {call: "GET /v1/models", header: map[string]string{"Authorization": "desk"}, code: "invalid_token", param: "Authorization", text: "send Authorization: Bearer"},
		"CorrelationSpace":    {call: "POST " + items, header: map[string]string{"X-Correlation-Id": "a b", "Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "X-Correlation-Id", text: `X-Correlation-Id is "a b", want 1 to 128 letters`},
		"CorrelationLong":     {call: "POST " + items, header: map[string]string{"X-Correlation-Id": strings.Repeat("c", 129), "Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "X-Correlation-Id", text: "want 1 to 128 letters"},
		"CorrelationBytes":    {call: "POST " + items, header: map[string]string{"X-Correlation-Id": "\xff\xfe", "Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "X-Correlation-Id", text: "want 1 to 128 letters"},
		"CorrelationOfUpload": {call: "POST " + items + "&upload=url", header: map[string]string{"X-Correlation-Id": "a/b"}, code: "invalid_request", param: "X-Correlation-Id", text: "want 1 to 128 letters"},
		"CorrelationOfCommit": {call: "POST /v1/items/j/1/commit?modality=text&alias=small", header: map[string]string{"X-Correlation-Id": "a/b"}, code: "invalid_request", param: "X-Correlation-Id", text: "want 1 to 128 letters"},
		"TypeBytes":           {call: "POST " + items, header: map[string]string{"Content-Type": "text/plain; x=\"\xff\""}, body: "x", code: "unsupported_content", param: "Content-Type", text: "want a content type of up to 255 bytes"},
		"TypeTab":             {call: "POST " + items, header: map[string]string{"Content-Type": "text/plain; x=\"a\tb\""}, body: "x", code: "unsupported_content", param: "Content-Type", text: "want a content type of up to 255 bytes"},
		"Coding":              {call: "POST " + items, header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body: "x", code: "unsupported_content", param: "Content-Encoding", text: "send the body as it is"},
		"CodingOfUploads":     {call: "POST /v1/files", header: map[string]string{"Content-Encoding": "br"}, code: "unsupported_content", param: "Content-Encoding", text: "send the body as it is"},
		"IdempotencyLong":     {call: "POST /v1/batches", header: map[string]string{"Idempotency-Key": strings.Repeat("k", 256)}, body: batch("", ""), code: "invalid_request", param: "Idempotency-Key", text: "at most 255"},
		"NoForm":              {call: "POST /v1/files", header: map[string]string{"Content-Type": "application/json"}, body: "{}", code: "invalid_request", param: "body", text: "send the fields purpose and file"},
		"NoBoundary":          {call: "POST /v1/files", header: map[string]string{"Content-Type": "multipart/form-data"}, body: "x", code: "invalid_request", param: "body", text: "send the fields purpose and file"},
		"WrongBoundary":       {call: "POST /v1/files", header: map[string]string{"Content-Type": "multipart/form-data; boundary=y"}, body: "--x\r\n\r\n--x--", code: "invalid_request", param: "purpose", text: `want "batch"`},
		// Queries.
		"Escape":            {call: "GET /v1/batches?limit=%zz", code: "invalid_request", param: "query", text: "cannot be read"},
		"Semicolon":         {call: "GET /v1/files?limit=1;after=x", code: "invalid_request", param: "query", text: "cannot be read"},
		"LimitText":         {call: "GET /v1/batches?limit=ten", code: "invalid_request", param: "limit", text: "want 1 to 100"},
		"LimitAbove":        {call: "GET /v1/batches?limit=101", code: "invalid_request", param: "limit", text: "want 1 to 100"},
		"LimitHuge":         {call: "GET /v1/files?limit=99999999999999999999", code: "invalid_request", param: "limit", text: "want 1 to 10000"},
		"LimitNegative":     {call: "GET /dlq?modality=text&limit=-1", code: "invalid_request", param: "limit", text: "want 1 to 100"},
		"Order":             {call: "GET /v1/batches?order=asc", code: "invalid_request", param: "order", text: `want "desc"`},
		"AfterQuote":        {call: "GET /v1/batches?after=a'%20or%20true", code: "invalid_request", param: "after", text: "no id"},
		"AfterSlash":        {call: "GET /v1/files?after=..%2Fx", code: "invalid_request", param: "after", text: "no id"},
		"AfterNull":         {call: "GET /v1/files?after=%00", code: "invalid_request", param: "after", text: "no id"},
		"AfterLong":         {call: "GET /v1/batches?after=" + strings.Repeat("a", 2000), code: "invalid_request", param: "after", text: "no id"},
		"AfterNoSequence":   {call: "GET /dlq?modality=text&after=batch_1", code: "invalid_request", param: "after", text: "sequence number"},
		"AfterLastSequence": {call: "GET /dlq?modality=text&after=9223372036854775807", code: "invalid_request", param: "after", text: "sequence number"},
		"NoModality":        {call: "POST /v1/items?alias=small", body: "x", code: "invalid_request", param: "modality", text: "want one of text"},
		"ModalityOfLetters": {call: "GET /dlq?modality=..", code: "invalid_request", param: "modality", text: "want one of text"},
		"NoAlias":           {call: "POST /v1/items?modality=text", body: "x", code: "model_not_allowed", param: "alias", text: "it sells chat, zone, small"},
		"Job":               {call: "POST " + items + "&job=..", header: map[string]string{"Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "job", text: `job is "..", want 1 to 128 letters`},
		"ItemNull":          {call: "POST " + items + "&item=a%00b", header: map[string]string{"Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "item", text: "want 1 to 128 letters"},
		"JobAndItem":        {call: "POST " + items + "&job=a/b&item=a.", header: map[string]string{"Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "job", text: `; item is "a."`},
		"Upload":            {call: "POST " + items + "&upload=yes", header: map[string]string{"Content-Type": "text/plain"}, body: "x", code: "invalid_request", param: "upload", text: `want "url"`},
		"From":              {call: "GET /usage?from=yesterday", code: "invalid_request", param: "from", text: "want a day such as"},
		"To":                {call: "GET /usage?to=2026-13-01", code: "invalid_request", param: "to", text: "want a day such as"},
		"FromBehindTo":      {call: "GET /usage?from=2026-11-02&to=2026-11-01", code: "invalid_request", param: "from", text: "from before to"},
		"TooLong":           {call: "GET /usage?from=0001-01-01&to=9999-12-31", code: "invalid_request", param: "from", text: "at most 400 days"},
		// Paths.
		"ID":           {call: "GET /v1/batches/..%2Fx", code: "not_found", param: "id", text: "no batch"},
		"IDNull":       {call: "GET /v1/files/%00/content", code: "not_found", param: "id", text: "no file"},
		"IDLong":       {call: "DELETE /v1/files/" + strings.Repeat("f", 2000), code: "not_found", param: "id", text: "no file"},
		"IDQuote":      {call: "POST /v1/batches/a'b/cancel", code: "not_found", param: "id", text: "no batch"},
		"IDUnknown":    {call: "POST /v1/batches/batch_x/confirm", code: "not_found", param: "id", text: "no batch"},
		"Model":        {call: "GET /v1/models/%2F%00", code: "not_found", param: "model", text: "list them with"},
		"CommitJob":    {call: "POST /v1/items/..%2F..%2Fx/1/commit?modality=text&alias=small", code: "invalid_request", param: "job", text: "want 1 to 128 letters"},
		"CommitItem":   {call: "POST /v1/items/j/%00/commit?modality=text&alias=small", code: "invalid_request", param: "item", text: "want 1 to 128 letters"},
		"Sequence":     {call: "DELETE /dlq/one?modality=text", code: "not_found", param: "sequence", text: "list them with"},
		"SequenceHuge": {call: "POST /dlq/99999999999999999999/redrive?modality=text", code: "not_found", param: "sequence", text: "list them with"},
		"Route":        {call: "PATCH /v1/batches", code: "not_found", text: "there is no PATCH"},
		"Nightly":      {call: "POST /v1/nightly/..%2F", as: "nightly", code: "not_found", param: "name", text: "want one of tickets"},
		// Bodies.
		"Empty":             {call: "POST /v1/batches", code: "invalid_request", param: "body", text: "not the JSON"},
		"NoJSON":            {call: "POST /v1/batches", body: "{", code: "invalid_request", param: "body", text: "not the JSON"},
		"List":              {call: "POST /v1/batches", body: "[]", code: "invalid_request", param: "body", text: "the body is of JSON's type array, want object"},
		"Two":               {call: "POST /v1/batches", body: batch("", "") + "{}", code: "invalid_request", param: "body", text: "something follows"},
		"Null":              {call: "POST /v1/batches", body: "null", code: "invalid_request", param: "input_file_id", text: "not set"},
		"FileType":          {call: "POST /v1/batches", body: batch(`"`+file+`"`, "7"), code: "invalid_request", param: "input_file_id", text: "input_file_id is of JSON's type number, want string"},
		"FilePath":          {call: "POST /v1/batches", body: batch(file, "../x"), code: "not_found", param: "input_file_id", text: "no file"},
		"EndpointType":      {call: "POST /v1/batches", body: batch(`"/v1/chat/completions"`, "{}"), code: "invalid_request", param: "endpoint", text: "type object, want string"},
		"NoWindow":          {call: "POST /v1/batches", body: batch(`"completion_window":"24h",`, ""), code: "invalid_request", param: "completion_window", text: `want "24h"`},
		"MetadataType":      {call: "POST /v1/batches", body: batch(`{}`, `"x"`), code: "invalid_request", param: "metadata", text: "type string, want object"},
		"MetadataValue":     {call: "POST /v1/batches", body: batch(`{}`, `{"a":1}`), code: "invalid_request", param: "metadata", text: "type number, want string"},
		"MetadataPairs":     {call: "POST /v1/batches", body: batch(`{}`, `{"1":"","2":"","3":"","4":"","5":"","6":"","7":"","8":"","9":"","10":"","11":"","12":"","13":"","14":"","15":"","16":"","17":""}`), code: "invalid_request", param: "metadata", text: "at most 16"},
		"Deadline":          {call: "POST /v1/batches", body: batch(`{}`, `{"deadline":"9999999h"}`), code: "invalid_request", param: "metadata.deadline", text: `a duration such as "12h"`},
		"Budget":            {call: "POST /v1/batches", body: batch(`{}`, `{"pilot":"10","budget_usd":"Inf"}`), code: "invalid_request", param: "metadata.budget_usd", text: "US dollars"},
		"Pilot":             {call: "POST /v1/batches", body: batch(`{}`, `{"pilot":"1e1"}`), code: "invalid_request", param: "metadata.pilot", text: "want 10 to 50 lines"},
		"Unknown":           {call: "POST /v1/batches", body: batch(`{}`, `{},"output_expires_after":{}`), code: "invalid_request", param: "body", text: "output_expires_after"},
		"Long":              {call: "POST /v1/batches", body: batch(`{}`, `{"a":"`+strings.Repeat("x", 65<<10)+`"}`), code: "invalid_request", param: "body", text: "too large"},
		"ReportOfNobody":    {call: "POST /v1/usage", as: "worker-text", body: report("desk", "none"), code: "invalid_request", param: "body", text: "a known tenant"},
		"ReportWithoutItem": {call: "POST /v1/usage", as: "worker-text", body: report(`"1"`, `""`), code: "invalid_request", param: "body", text: "an item"},
		"ReportTime":        {call: "POST /v1/usage", as: "worker-text", body: report("T12", "X12"), code: "invalid_request", param: "body", text: "not the JSON"},
		"ReportOutcome":     {call: "POST /v1/usage", as: "worker-text", body: report("answered", "fine"), code: "invalid_request", param: "outcome", text: "want answered, refused or dead_lettered"},
		"ReportNegative":    {call: "POST /v1/usage", as: "worker-text", body: report(`output_tokens":2`, `output_tokens":-2`), code: "invalid_request", param: "input_tokens", text: "none below 0"},
		"ReportCached":      {call: "POST /v1/usage", as: "worker-text", body: report(`cached_tokens":1`, `cached_tokens":4`), code: "invalid_request", param: "input_tokens", text: "among the input"},
		"ReportTokens":      {call: "POST /v1/usage", as: "worker-text", body: report(`input_tokens":3`, `input_tokens":1e30`), code: "invalid_request", param: "input_tokens", text: "want a whole number"},
		"ReportOfATenant":   {call: "POST /v1/usage", body: report("", ""), code: "not_allowed", param: "Authorization", text: "may not call"},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		as := c.as
		if as == "" {
			as = "desk"
		}
		status, got := w.post(method, path, as, c.header, strings.NewReader(c.body))
		if !assert.True(t, status >= 400 && status < 500, "%s: %d %s", name, status, got) {
			continue
		}
		assert.Equal(t, c.code, gjson.Get(got, "error.code").String(), "%s: %s", name, got)
		assert.Equal(t, c.param, gjson.Get(got, "error.param").String(), "%s: %s", name, got)
		assert.Contains(t, gjson.Get(got, "error.message").String(), c.text, name)
		assert.NotEmpty(t, gjson.Get(got, "error.type").String(), name)
	}
	assert.Empty(t, w.bus.Sent(), "nothing of it went on")

	for name, c := range map[string]struct {
		call   string
		as     string
		header map[string]string
		body   string
	}{
		"Correlation": {"POST " + items + "&item=1", "desk", map[string]string{"X-Correlation-Id": strings.Repeat("c", 128), "Content-Type": "text/plain; charset=\"utf-8\"", "Content-Encoding": "identity"}, "x"},
		"After":       {"GET /v1/files?after=" + file + "&limit=10000&order=desc", "desk", nil, ""},
		"Letters":     {"GET /dlq?modality=text&after=4611686018427387903&limit=100", "desk", nil, ""},
		"Batch":       {"POST /v1/batches", "desk", map[string]string{"Idempotency-Key": strings.Repeat("k", 255)}, batch("", "") + "\n"},
		"NoMetadata":  {"POST /v1/batches", "desk", nil, batch("{}", "null")},
		"Report":      {"POST /v1/usage", "worker-text", nil, report("", "")},
		"Usage":       {"GET /usage?from=2026-11-01&to=2026-11-29T12:00:00%2B01:00", "desk", nil, ""},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		status, got := w.post(method, path, c.as, c.header, strings.NewReader(c.body))
		assert.Equal(t, 2, status/100, "%s: %d %s", name, status, got)
	}
}

// A body that cannot be read to its end is no item: nothing is sent on for a part of a
// payload, and the caller hears that it was the body.
func TestATornPayloadIsNoItem(t *testing.T) {
	t.Parallel()
	w := open(t)
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(w.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /v1/items?modality=text&alias=small&job=j&item=1 HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer desk\r\n"+
		"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nno length\r\n")
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	refused(t, http.StatusBadRequest, "invalid_request", response.StatusCode, string(text))
	assert.Contains(t, string(text), "send it again")
	assert.Empty(t, w.bus.Sent())
	found, err := w.blobs.List(context.Background(), "payloads-text", "")
	require.NoError(t, err)
	assert.Empty(t, found)
}

// An item without a name of its own in logs and traces gets that of the caller's
// trace. https://www.w3.org/TR/trace-context/
func TestAnItemGoesOnWithTheCallersTrace(t *testing.T) {
	t.Parallel()
	w := open(t)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	post := func(item string, header map[string]string) string {
		header["Content-Type"] = "text/plain"
		status, got := w.post(http.MethodPost, "/v1/items?modality=text&alias=small&job=j&item="+item, "desk", header, strings.NewReader("x"))
		require.Equal(t, http.StatusAccepted, status, got)
		m, _ := w.posted(item)
		assert.Equal(t, gjson.Get(got, "correlation_id").String(), m.Correlation)
		return m.Correlation
	}
	assert.Equal(t, trace, post("1", map[string]string{"traceparent": "00-" + trace + "-00f067aa0ba902b7-01"}))
	assert.Equal(t, "mine", post("2", map[string]string{"traceparent": "00-" + trace + "-00f067aa0ba902b7-01", "X-Correlation-Id": "mine"}))
	none, malformed := post("3", map[string]string{}), post("4", map[string]string{"traceparent": "00-" + trace + "x-00f067aa0ba902b7-01"})
	assert.Len(t, none, 32)
	assert.NotEqual(t, none, malformed)
	assert.NotEqual(t, trace, malformed)
}

package enqueue

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// intake is a control plane that takes items, or what it is told.
type intake struct {
	mu     sync.Mutex
	posted []string                                                 // method, path, query in order of names, content type, body
	answer func(n int, w http.ResponseWriter, r *http.Request) bool // false: it is accepted
}

func (in *intake) RoundTrip(r *http.Request) (*http.Response, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	in.posted = append(in.posted, strings.Join([]string{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body[:min(len(body), 200)])}, " | "))
	w := httptest.NewRecorder()
	if in.answer == nil || !in.answer(len(in.posted), w, r) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"object":"item","status":"queued"}`)
	}
	return w.Result(), nil
}

func (in *intake) client() *Client {
	return &Client{URL: "https://batch", Token: func(context.Context) (string, error) { return "t", nil }, HTTP: &http.Client{Transport: in}}
}

// folder makes files by their names.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tickets")
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

func options(paths ...string) Options {
	return Options{Paths: paths, Modality: "text", Alias: "small", Parallel: 1}
}

func TestAFolderIsAJobAndEachFileAnItem(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "hello", "sub/b c.json": `{"messages":[]}`, ".hidden": "x", "sub/.git/x.txt": "y"})
	in := &intake{}
	var said []string
	o := options(dir)
	o.Progress = func(done, failed, all int) { said = append(said, fmt.Sprint(done, failed, all)) }
	report, err := Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, Report{Job: "tickets", Accepted: 2, Failed: []Failed{}}, report)
	assert.Equal(t, []string{
		"POST | /v1/items | alias=small&item=a.txt&job=tickets&modality=text | text/plain | Bearer t | hello",
		"POST | /v1/items | alias=small&item=sub-b-c-json-ead8142c379d&job=tickets&modality=text | application/json | Bearer t | {\"messages\":[]}",
	}, in.posted)
	assert.Equal(t, []string{"1 0 2", "2 0 2"}, said)
}

func TestInstructionsGoWithTheFileInAForm(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.pdf": "%PDF"})
	in := &intake{}
	var parts []string
	o := options(filepath.Join(dir, "a.pdf"))
	o.Instructions = `sum "it" up`
	report, err := Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, "a", report.Job)
	items, err := itemsOf(o.Paths, true)
	require.NoError(t, err)
	body, kind, size, err := items[0].open(o.Instructions)
	require.NoError(t, err)
	defer func() { _ = body.Close() }()
	_, parameters, err := mime.ParseMediaType(kind)
	require.NoError(t, err)
	counted := &counter{r: body}
	form := multipart.NewReader(counted, parameters["boundary"])
	for {
		part, err := form.NextPart()
		if err != nil {
			break
		}
		text, err := io.ReadAll(part)
		require.NoError(t, err)
		parts = append(parts, part.FormName()+" "+part.Header.Get("Content-Type")+" "+string(text))
	}
	assert.Equal(t, []string{`request application/json {"messages":[{"content":"sum \"it\" up","role":"system"}]}`, "file application/pdf %PDF"}, parts)
	_, err = io.Copy(io.Discard, counted)
	require.NoError(t, err)
	assert.Equal(t, size, counted.n, "the length that was said before")
	assert.Contains(t, in.posted[0], "multipart/form-data; boundary=onedoor-")
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func TestARerunPostsWhatIsMissingOrHasChanged(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "a", "b.txt": "b", "c.txt": "c"})
	in := &intake{answer: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("item") != "b.txt" {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"code":"model_not_allowed","message":"alias is \"small\", which your plan does not sell"}}`)
		return true
	}}
	o := options(dir)
	o.Journal = filepath.Join(t.TempDir(), "state", "journal")
	report, err := Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, 2, report.Accepted)
	assert.Equal(t, []Failed{{"b.txt", filepath.Join(dir, "b.txt"), `403 model_not_allowed: alias is "small", which your plan does not sell`}}, report.Failed)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.txt"), []byte("changed"), 0o600))
	in = &intake{}
	report, err = Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, Report{Job: "tickets", Accepted: 2, Skipped: 1, Failed: []Failed{}}, report)
	in = &intake{}
	report, err = Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, 3, report.Skipped)
	assert.Empty(t, in.posted)
	o.Job = "other"
	report, err = Run(t.Context(), in.client(), o)
	require.NoError(t, err)
	assert.Equal(t, 3, report.Accepted, "of another job")
}

func TestAControlPlaneThatIsBusyIsAskedAgain(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "a"})
	for name, c := range map[string]struct {
		failures int
		status   int
		accepted int
		posts    int
	}{
		"Busy":     {4, 429, 1, 5},
		"Down":     {4, 503, 1, 5},
		"Too long": {5, 503, 0, 5},
		"Refused":  {1, 400, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			in := &intake{answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n > c.failures {
					return false
				}
				w.WriteHeader(c.status)
				return true
			}}
			report, err := Run(t.Context(), in.client(), options(dir))
			require.NoError(t, err)
			assert.Equal(t, c.accepted, report.Accepted, name)
			assert.Len(t, in.posted, c.posts, name)
		})
	}
}

// largeFile is a folder with a file that is too large for the control plane itself.
func largeFile(t *testing.T) string {
	t.Helper()
	dir := folder(t, map[string]string{"a.pdf": ""})
	require.NoError(t, os.Truncate(filepath.Join(dir, "a.pdf"), maxBody+1))
	return dir
}

// What is too large for the control plane itself goes into storage, which it signs a
// URL for.
func TestALargeFileIsPutIntoStorage(t *testing.T) {
	t.Parallel()
	dir := largeFile(t)
	in := &intake{answer: func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			_, _ = io.WriteString(w, `{"status":"awaiting_upload","upload_url":"https://storage/payloads/x?sig=1"}`)
		}
		if n == 2 {
			assert.Equal(t, "BlockBlob", r.Header.Get("x-ms-blob-type"))
			assert.Equal(t, "application/pdf", r.Header.Get("x-ms-blob-content-type"))
			w.WriteHeader(http.StatusCreated)
		}
		return n < 3
	}}
	report, err := Run(t.Context(), in.client(), options(dir))
	require.NoError(t, err)
	assert.Equal(t, 1, report.Accepted)
	require.Len(t, in.posted, 3)
	assert.Contains(t, in.posted[0], "POST | /v1/items | alias=small&item=a.pdf&job=tickets&modality=text&upload=url")
	assert.Contains(t, in.posted[1], "PUT | /payloads/x | sig=1 |  |  | ", "without a token: the URL is the permission")
	assert.Contains(t, in.posted[2], "POST | /v1/items/tickets/a.pdf/commit | alias=small&item=a.pdf&job=tickets&modality=text | application/pdf | Bearer t")
}

// A payload that is put into storage again is another one: the message that names the
// first would end as a dead letter.
func TestALargeFileIsPutIntoStorageOnce(t *testing.T) {
	t.Parallel()
	dir := largeFile(t)
	synctest.Test(t, func(t *testing.T) {
		in := &intake{answer: func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch {
			case r.URL.Query().Get("upload") == "url":
				_, _ = io.WriteString(w, `{"status":"awaiting_upload","upload_url":"https://storage/payloads/x?sig=1"}`)
			case r.Method == http.MethodPut && n == 2, r.Method == http.MethodPost && n < 8:
				w.WriteHeader(http.StatusServiceUnavailable)
			case r.Method == http.MethodPost:
				return false
			}
			return true
		}}
		report, err := Run(t.Context(), in.client(), options(dir))
		require.NoError(t, err)
		assert.Equal(t, 1, report.Accepted, report.Failed)
		var calls []string
		for _, p := range in.posted {
			call := strings.Split(p, " | ")
			calls = append(calls, call[0]+" "+call[1])
		}
		commit := "POST /v1/items/tickets/a.pdf/commit"
		assert.Equal(t, []string{"POST /v1/items", "PUT /payloads/x", "POST /v1/items", "PUT /payloads/x", commit, commit, commit, commit}, calls)
	})
}

func TestNothingIsPostedWhenAFileIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files        map[string]string
		instructions string
		want         []string
	}{
		"Types":        {map[string]string{"a.exe": "x", "b.zip": "y", "c.txt": "z"}, "", []string{"a.exe: want a file that ends in .gif", "b.zip"}},
		"Empty":        {map[string]string{"a.txt": ""}, "", []string{"a.txt: the file is empty"}},
		"NoFile":       {map[string]string{".x": "y"}, "", []string{"no file to post"}},
		"Requests":     {map[string]string{"a.json": "{}"}, "sum up", []string{"a.json: is a request itself"}},
		"SameNameOnly": {map[string]string{"a.txt": "x"}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := &intake{}
			o := options(folder(t, c.files))
			o.Instructions = c.instructions
			_, err := Run(t.Context(), in.client(), o)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			if c.want != nil {
				assert.Empty(t, in.posted)
			} else {
				require.NoError(t, err)
			}
		})
	}
	in := &intake{}
	dir := folder(t, map[string]string{"a.txt": "x"})
	_, err := Run(t.Context(), in.client(), options(dir, filepath.Join(dir, "a.txt")))
	require.ErrorContains(t, err, "has the same name as")
	_, err = Run(t.Context(), in.client(), options("/nowhere"))
	require.ErrorContains(t, err, "no such file")
	assert.Empty(t, in.posted)
}

// Names must be the same on every run, different for different files, and legal.
func FuzzName(f *testing.F) {
	f.Add("a b", "a-b")
	f.Add("..", ".")
	f.Fuzz(func(t *testing.T, a, b string) {
		assert.Regexp(t, legal, nameOf(a))
		assert.Equal(t, nameOf(a), nameOf(a))
		if a != b {
			assert.NotEqual(t, nameOf(a), nameOf(b))
		}
	})
}

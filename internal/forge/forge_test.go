package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/change"
)

func comment(t *testing.T, stack, text string) Comment {
	t.Helper()
	c, err := Read(change.Marker("onedoor", stack) + "\n" + text)
	require.NoError(t, err)
	return c
}

func TestReadTakesNothingButAComment(t *testing.T) {
	t.Parallel()
	mark := change.Marker("onedoor", "dev")
	for reason, text := range map[string]string{
		"no marker":              "hello",
		"a marker that is late":  "hello\n" + mark,
		"a marker with more":     mark + " x\nhello",
		"a second marker":        mark + "\nhello\n" + change.Marker("onedoor", "prod"),
		"a name that is markup":  "<!-- onedoor change of a/b --> <script>\n",
		"too long for a comment": mark + "\n" + strings.Repeat("x", change.CommentLimit),
	} {
		_, err := Read(text)
		assert.Error(t, err, reason)
	}
	got, err := Read(mark + "\nhello")
	require.NoError(t, err)
	assert.Equal(t, Comment{mark, mark + "\nhello"}, got)
}

// said is a comment on a fake forge.
type said struct {
	ID   int64             `json:"id"`
	Body string            `json:"body"`
	User map[string]string `json:"user"`
}

// fakeGitHub is as much of GitHub's API as is asked, with 100 comments of others
// first, so that the list has pages.
type fakeGitHub struct {
	comments []said
	heads    []map[string]any // of open pull requests
}

func (f *fakeGitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var sent said
	_ = json.NewDecoder(r.Body).Decode(&sent)
	switch {
	case r.Header.Get("Authorization") != "Bearer token":
		http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
	case r.Method == http.MethodGet && r.URL.Path == "/repos/o/r/pulls":
		_ = json.NewEncoder(w).Encode(f.heads)
	case r.Method == http.MethodGet && r.URL.Path == "/repos/o/r/issues/7/comments":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from, to := 100*max(0, page-1), 100*max(1, page)
		if to < len(f.comments) {
			w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, max(page, 1)+1))
		}
		_ = json.NewEncoder(w).Encode(f.comments[min(from, len(f.comments)):min(to, len(f.comments))])
	case r.Method == http.MethodPost && r.URL.Path == "/repos/o/r/issues/7/comments":
		sent.ID, sent.User = int64(len(f.comments)), map[string]string{"type": "Bot"}
		f.comments = append(f.comments, sent)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(sent)
	case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, "/repos/o/r/issues/comments/"):
		id, _ := strconv.Atoi(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		f.comments[id].Body = sent.Body
		_ = json.NewEncoder(w).Encode(f.comments[id])
	default:
		http.NotFound(w, r)
	}
}

// TestEachStackHasOneComment: a matrix of two stacks gives two comments, and a
// second run changes them in place.
func TestEachStackHasOneComment(t *testing.T) {
	t.Parallel()
	fake := &fakeGitHub{heads: []map[string]any{
		{"number": 6, "head": map[string]any{"sha": "older"}},
		{"number": 7, "head": map[string]any{"sha": "abc"}},
	}}
	for i := range 100 {
		fake.comments = append(fake.comments, said{ID: int64(i), Body: "hello", User: map[string]string{"type": "User"}})
	}
	fake.comments[3].Body = change.Marker("onedoor", "dev") + "\nquoted by a person"
	server := httptest.NewServer(fake)
	defer server.Close()

	g, err := NewGitHub(t.Context(), server.URL, "token", Source{Repository: "o/r", Head: "fork:branch", SHA: "abc"})
	require.NoError(t, err)
	for run := 1; run <= 2; run++ {
		for _, stack := range []string{"dev", "prod"} {
			posted, err := g.Put(t.Context(), comment(t, stack, fmt.Sprintf("run %d", run)))
			require.NoError(t, err)
			assert.Equal(t, run == 1, posted.Created)
		}
	}
	require.Len(t, fake.comments, 102)
	assert.Equal(t, change.Marker("onedoor", "dev")+"\nrun 2", fake.comments[100].Body)
	assert.Equal(t, change.Marker("onedoor", "prod")+"\nrun 2", fake.comments[101].Body)
	assert.Contains(t, fake.comments[3].Body, "quoted", "comments of people are left alone")

	_, err = NewGitHub(t.Context(), server.URL, "token", Source{Repository: "o/r", Head: "fork:branch", SHA: "newer"})
	assert.ErrorContains(t, err, "moved on")
	_, err = NewGitHub(t.Context(), server.URL, "wrong", Source{Repository: "o/r", Head: "fork:branch", SHA: "abc"})
	assert.ErrorContains(t, err, "401")
}

func TestAzureDevOpsHasOneThreadPerStack(t *testing.T) {
	t.Parallel()
	threads := []thread{{ID: 1, Comments: []threadComment{{ID: 1, Content: "hello"}}}, {ID: 2}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const at = "/org/team/_apis/git/repositories/repo/pullRequests/7/threads"
		switch {
		case r.Header.Get("Authorization") != "Bearer token":
			w.WriteHeader(http.StatusNonAuthoritativeInfo) // as it answers who is not signed in
		case r.URL.Query().Get("api-version") != "7.1":
			http.Error(w, "no version", http.StatusBadRequest)
		case r.Method == http.MethodGet && r.URL.Path == at:
			_ = json.NewEncoder(w).Encode(map[string]any{"value": threads})
		case r.Method == http.MethodPost && r.URL.Path == at:
			var sent thread
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
			sent.ID, sent.Comments[0].ID = len(threads)+1, 1
			threads = append(threads, sent)
		case r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, at+"/") && strings.HasSuffix(r.URL.Path, "/comments/1"):
			id, _ := strconv.Atoi(strings.Split(strings.TrimPrefix(r.URL.Path, at+"/"), "/")[0])
			var sent threadComment
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
			threads[id-1].Comments[0].Content = sent.Content
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	a := AzureDevOps{Collection: server.URL + "/org/", Project: "team", Repository: "repo", PullRequest: "7", Token: "token"}
	for run := 1; run <= 2; run++ {
		for _, stack := range []string{"dev", "prod"} {
			posted, err := a.Put(t.Context(), comment(t, stack, fmt.Sprintf("run %d", run)))
			require.NoError(t, err)
			assert.Equal(t, run == 1, posted.Created)
		}
	}
	require.Len(t, threads, 4)
	assert.Equal(t, change.Marker("onedoor", "dev")+"\nrun 2", threads[2].Comments[0].Content)
	assert.Equal(t, "closed", threads[3].Status)
	a.Token = "wrong"
	_, err := a.Put(t.Context(), comment(t, "dev", "x"))
	assert.ErrorContains(t, err, "203")
}

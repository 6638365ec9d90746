package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/change"
)

// large is the comment on a change of 500 resources with long properties.
func large(stack string, run int) string {
	r := &change.Report{Project: "onedoor", Stack: stack, Simulated: true, Base: change.Revision{Name: fmt.Sprintf("run-%d", run)}}
	r.Changes = []change.Resource{{Op: change.Replaced, Kind: "containerservice:ManagedCluster", Name: "cluster", Loses: "what it holds"}}
	for i := range 500 {
		c := change.Resource{Op: change.Updated, URN: fmt.Sprintf("urn::%d", i), Kind: "network:Subnet", Name: fmt.Sprintf("subnet-%d", i)}
		for j := range 5 {
			c.Properties = append(c.Properties, change.Property{Path: fmt.Sprintf("p%d", j), Before: strings.Repeat("a", 300), After: strings.Repeat("b", 300)})
		}
		r.Changes = append(r.Changes, c)
	}
	r.Judge(false)
	return r.Markdown("change.json")
}

// fakeForges are the comments on a pull request, as GitHub lists, makes and changes
// them, or as the threads of Azure DevOps.
type fakeForges struct{ comments []string }

func (f *fakeForges) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type object = map[string]any
	var sent struct {
		Body     string
		Content  string
		Comments []struct{ Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&sent)
	threads := strings.HasSuffix(r.URL.Path, "/threads") || strings.Contains(r.URL.Path, "/threads/")
	switch r.Method {
	case http.MethodGet:
		list := []object{}
		for i, body := range f.comments {
			if threads {
				list = append(list, object{"id": i, "comments": []object{{"id": 1, "content": body}}})
			} else {
				list = append(list, object{"id": i, "body": body, "user": object{"type": "Bot"}})
			}
		}
		if threads {
			_ = json.NewEncoder(w).Encode(object{"value": list})
		} else {
			_ = json.NewEncoder(w).Encode(list)
		}
	case http.MethodPost:
		body := sent.Body
		for _, comment := range sent.Comments {
			body = comment.Content
		}
		f.comments = append(f.comments, body)
		_, _ = w.Write([]byte("{}"))
	case http.MethodPatch:
		at := path.Base(r.URL.Path)
		if threads { // .../threads/ID/comments/1
			at = path.Base(path.Dir(path.Dir(r.URL.Path)))
		}
		if id, err := strconv.Atoi(at); err == nil && id < len(f.comments) {
			f.comments[id] = sent.Body + sent.Content
		}
		_, _ = w.Write([]byte("{}"))
	}
}

// TestAMatrixOfStacksHasACommentEach: each job of the matrix calls the command for its
// stack; a second run changes both comments in place. They are as long as comments get.
func TestAMatrixOfStacksHasACommentEach(t *testing.T) {
	for name, env := range map[string]func(url string) map[string]string{
		"GitHub": func(url string) map[string]string {
			return map[string]string{"TF_BUILD": "", "GITHUB_TOKEN": "token", "GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": url}
		},
		"Azure DevOps": func(url string) map[string]string {
			return map[string]string{
				"TF_BUILD": "True", "SYSTEM_COLLECTIONURI": url + "/org/", "SYSTEM_TEAMPROJECT": "team", "BUILD_REPOSITORY_ID": "repo",
				"SYSTEM_PULLREQUEST_PULLREQUESTID": "7", "SYSTEM_ACCESSTOKEN": "token",
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fake := &fakeForges{comments: []string{"a person's"}}
			server := httptest.NewServer(fake)
			defer server.Close()
			for key, value := range env(server.URL) {
				t.Setenv(key, value)
			}
			dir := t.TempDir()
			for run := 1; run <= 2; run++ {
				for _, stack := range []string{"dev", "prod"} {
					require.NoError(t, os.WriteFile(filepath.Join(dir, "change.md"), []byte(large(stack, run)), 0o644))
					code, stdout, stderr := call(dir, "comment", "--pull-request", "7", "change.md")
					require.Equal(t, exitOK, code, stderr)
					assert.Contains(t, stdout, map[int]string{1: "made ", 2: "changed "}[run])
				}
			}
			require.Len(t, fake.comments, 3, "one for each stack, and the person's")
			assert.Equal(t, "a person's", fake.comments[0])
			for i, stack := range []string{"dev", "prod"} {
				got := fake.comments[i+1]
				assert.True(t, strings.HasPrefix(got, change.Marker("onedoor", stack)+"\n"), stack)
				assert.LessOrEqual(t, len(got), change.CommentLimit, stack)
				first, _, _ := strings.Cut(got, "<details>")
				for _, want := range []string{"From run-2 ", "| resources | 1 replaced, 500 updated |", "ManagedCluster cluster", "| idle bill |", "**Refused:**"} {
					assert.Contains(t, first, want, stack)
				}
			}
		})
	}
}

package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// AzureDevOps is a pull request on Azure DevOps. Its fields are the predefined
// variables of a pipeline's run.
// https://learn.microsoft.com/azure/devops/pipelines/build/variables
type AzureDevOps struct {
	Collection  string // System.CollectionUri
	Project     string // System.TeamProject
	Repository  string // Build.Repository.ID
	PullRequest string // System.PullRequest.PullRequestId
	Token       string // System.AccessToken
}

type thread struct {
	ID       int             `json:"id,omitempty"`
	Comments []threadComment `json:"comments"`
	Status   string          `json:"status,omitempty"`
}

type threadComment struct {
	ID      int    `json:"id,omitempty"`
	Content string `json:"content"`
	Type    string `json:"commentType,omitempty"`
}

// Put implements Forge. A comment is the first of a thread of its own, closed, so
// that it holds nobody up.
// https://learn.microsoft.com/rest/api/azure/devops/git/pull-request-threads
func (a AzureDevOps) Put(ctx context.Context, c Comment) (Posted, error) {
	var all struct {
		Value []thread `json:"value"`
	}
	if err := a.call(ctx, http.MethodGet, "", nil, &all); err != nil {
		return Posted{}, err
	}
	for _, t := range all.Value {
		if len(t.Comments) == 0 || !carries(t.Comments[0].Content, c.Marker) {
			continue
		}
		path := fmt.Sprintf("/%d/comments/%d", t.ID, t.Comments[0].ID)
		return Posted{Marker: c.Marker}, a.call(ctx, http.MethodPatch, path, threadComment{Content: c.Body}, nil)
	}
	fresh := thread{Comments: []threadComment{{Content: c.Body, Type: "text"}}, Status: "closed"}
	return Posted{Marker: c.Marker, Created: true}, a.call(ctx, http.MethodPost, "", fresh, nil)
}

// call asks for something of the pull request's threads.
func (a AzureDevOps) call(ctx context.Context, method, path string, body, answer any) error {
	at, err := url.JoinPath(a.Collection, a.Project, "_apis", "git", "repositories", a.Repository, "pullRequests", a.PullRequest, "threads", path)
	if err != nil {
		return err
	}
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, at+"?api-version=7.1", sent)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.Token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // of which only reading fails
	raw, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 || res.StatusCode == http.StatusNonAuthoritativeInfo { // 203: a page to sign in
		return fmt.Errorf("%s %s: %s: %.300s", method, at, res.Status, raw)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(raw, answer)
}

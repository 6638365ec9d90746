package forge

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v84/github"
)

// GitHub is a pull request on GitHub.
type GitHub struct {
	client      *github.Client
	owner, name string
	number      int
}

// Source says which pull request a workflow run was of. The event of the run names
// none when it comes from a fork.
// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflow_run
type Source struct {
	Repository string // owner/name of the repository that the pull request is in
	Number     int    // of the pull request, 0 if not known
	Head       string // owner:branch that it comes from
	SHA        string // the commit that was judged
}

// NewGitHub finds the pull request. A pull request whose head has moved on is
// refused: what was judged is not what it is.
func NewGitHub(ctx context.Context, api, token string, from Source) (*GitHub, error) {
	client := github.NewClient(nil).WithAuthToken(token)
	base, err := url.Parse(strings.TrimSuffix(api, "/") + "/")
	if err != nil {
		return nil, err
	}
	client.BaseURL = base
	owner, name, ok := strings.Cut(from.Repository, "/")
	if !ok {
		return nil, fmt.Errorf("repository: got %q, want owner/name", from.Repository)
	}
	g := &GitHub{client, owner, name, from.Number}
	if g.number > 0 {
		return g, nil
	}
	found, _, err := client.PullRequests.List(ctx, owner, name, &github.PullRequestListOptions{State: "open", Head: from.Head})
	if err != nil {
		return nil, err
	}
	for _, pr := range found {
		if pr.GetHead().GetSHA() == from.SHA {
			g.number = pr.GetNumber()
			return g, nil
		}
	}
	return nil, fmt.Errorf("no open pull request of %s from %s is at %s; it was closed, or has moved on and is judged again", from.Repository, from.Head, from.SHA)
}

// Put implements Forge. It changes comments of bots alone: a person may have quoted
// the marker.
func (g *GitHub) Put(ctx context.Context, c Comment) (Posted, error) {
	for page := (&github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}); ; {
		comments, answer, err := g.client.Issues.ListComments(ctx, g.owner, g.name, g.number, page)
		if err != nil {
			return Posted{}, err
		}
		for _, old := range comments {
			if old.GetUser().GetType() != "Bot" || !carries(old.GetBody(), c.Marker) {
				continue
			}
			changed, _, err := g.client.Issues.EditComment(ctx, g.owner, g.name, old.GetID(), &github.IssueComment{Body: &c.Body})
			return Posted{c.Marker, changed.GetHTMLURL(), false}, err
		}
		if answer.NextPage == 0 {
			break
		}
		page.Page = answer.NextPage
	}
	made, _, err := g.client.Issues.CreateComment(ctx, g.owner, g.name, g.number, &github.IssueComment{Body: &c.Body})
	return Posted{c.Marker, made.GetHTMLURL(), true}, err
}

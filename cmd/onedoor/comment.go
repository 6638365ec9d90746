package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/forge"
)

// comment puts what preview --base wrote on a pull request.
func (at screen) comment() *cobra.Command {
	var from forge.Source
	asJSON := false
	c := &cobra.Command{
		Use:   "comment FILE...",
		Short: "Put the change of each stack on a pull request",
		Long: "comment puts files change.md, as preview --base writes them, on a pull request: one comment\n" +
			"per stack, changed in place by later runs.\n\n" +
			"On GitHub it takes GITHUB_TOKEN, GITHUB_REPOSITORY and GITHUB_API_URL from the environment, and\n" +
			"the pull request from --pull-request, or from --head and --sha, as a run of a fork has them.\n" +
			"On Azure DevOps it takes everything from the predefined variables, and SYSTEM_ACCESSTOKEN.",
		Example: "  onedoor comment --pull-request 7 out/dev/change.md out/prod/change.md\n  onedoor comment --head stranger:patch-1 --sha 3f2c1d0 change-dev/change.md",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return realError{fmt.Errorf("onedoor comment: got no file, want one change.md or more")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			comments, err := at.readComments(args)
			if err != nil {
				return err
			}
			to, err := pullRequest(c.Context(), from, os.Getenv)
			if err != nil {
				return realError{fmt.Errorf("onedoor comment: %w", err)}
			}
			posted := []forge.Posted{}
			for _, comment := range comments {
				done, err := to.Put(c.Context(), comment)
				if err != nil {
					return realError{fmt.Errorf("onedoor comment: %w", err)}
				}
				posted = append(posted, done)
				if !asJSON {
					fmt.Fprintf(at.stdout, "%s %s\n", map[bool]string{true: "made", false: "changed"}[done.Created], cmp.Or(done.URL, done.Marker))
				}
			}
			if asJSON {
				return embedded.Encode(at.stdout, struct {
					Comments []forge.Posted `json:"comments"`
				}{posted})
			}
			return nil
		},
	}
	c.Flags().IntVar(&from.Number, "pull-request", 0, "number of the pull request")
	c.Flags().StringVar(&from.Head, "head", "", "owner:branch that the pull request comes from, instead of its number")
	c.Flags().StringVar(&from.SHA, "sha", "", "commit that was judged; with --head")
	c.Flags().BoolVar(&asJSON, "json", false, "print what was done for machines")
	return c
}

// readComments reads every file before anything is posted.
func (at screen) readComments(paths []string) ([]forge.Comment, error) {
	var out []forge.Comment
	for _, path := range paths {
		raw, err := os.ReadFile(at.path(path))
		if err != nil {
			return nil, realError{fmt.Errorf("%w; want a change.md of onedoor preview --base", err)}
		}
		comment, err := forge.Read(string(raw))
		if err != nil {
			return nil, realError{fmt.Errorf("%s: %w", path, err)}
		}
		out = append(out, comment)
	}
	return out, nil
}

// pullRequest is the one that the environment and the flags name.
func pullRequest(ctx context.Context, from forge.Source, env func(string) string) (forge.Forge, error) {
	if env("TF_BUILD") != "" { // Azure Pipelines
		a := forge.AzureDevOps{
			Collection: env("SYSTEM_COLLECTIONURI"), Project: env("SYSTEM_TEAMPROJECT"), Repository: env("BUILD_REPOSITORY_ID"),
			PullRequest: env("SYSTEM_PULLREQUEST_PULLREQUESTID"), Token: env("SYSTEM_ACCESSTOKEN"),
		}
		if a.Token == "" || a.PullRequest == "" {
			return nil, fmt.Errorf("SYSTEM_ACCESSTOKEN and SYSTEM_PULLREQUEST_PULLREQUESTID: want both, as in a pipeline of a pull request that maps $(System.AccessToken)")
		}
		return a, nil
	}
	from.Repository = env("GITHUB_REPOSITORY")
	switch token := env("GITHUB_TOKEN"); {
	case token == "" || from.Repository == "":
		return nil, fmt.Errorf("GITHUB_TOKEN and GITHUB_REPOSITORY: want both, as in a workflow that passes the token")
	case from.Number == 0 && (from.Head == "" || from.SHA == ""):
		return nil, fmt.Errorf("want --pull-request, or --head and --sha")
	default:
		return forge.NewGitHub(ctx, cmp.Or(env("GITHUB_API_URL"), "https://api.github.com"), token, from)
	}
}

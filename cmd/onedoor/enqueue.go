package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/cobra"

	"onedoor/cmd/embedded"
	"onedoor/internal/trust"
	"onedoor/services/enqueue"
)

// tokenVariable is the environment variable of a token for the control plane, for
// callers that Azure's own credentials do not fit.
const tokenVariable = "ONEDOOR_TOKEN"

// enqueueFlags are what enqueue takes.
type enqueueFlags struct {
	enqueue.Options
	url      string
	audience string
	caFile   string
	again    bool
	json     bool
}

// enqueue posts items to the intake of a control plane. It is the one command that
// speaks to a platform that is not simulated.
func (at screen) enqueue() *cobra.Command {
	var f enqueueFlags
	c := &cobra.Command{
		Use:   "enqueue PATH...",
		Short: "Post files to the queues of a running platform",
		Long: "enqueue posts files, and folders of them, to the intake of a control plane: each is an\n" +
			"item of a job. A rerun posts only what was not accepted or has changed since.\n" +
			"It shows a token of Azure's default credential for the audience, or the one in " + tokenVariable + ".\n" +
			"It ends with 1 when an item was not accepted.",
		Example: "  onedoor enqueue tickets/ --url https://batch.dev.onedoor.internal --modality text --alias small\n" +
			"  onedoor enqueue report.pdf --url https://batch.dev.onedoor.internal --modality document --alias small --instructions \"Sum up in five lines.\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return realError{errors.New("onedoor enqueue takes the files or folders to post, as in: onedoor enqueue tickets/")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return realError{err}
			}
			for _, path := range args {
				f.Paths = append(f.Paths, at.path(path))
			}
			return at.post(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.url, "url", "", "URL of the control plane")
	c.Flags().StringVar(&f.audience, "audience", "", "audience of the token, as in api://onedoor-batch; not needed with "+tokenVariable)
	c.Flags().StringVar(&f.caFile, "ca-file", "", "file with the certificate, as PEM, of the authority that issued the control plane's")
	c.Flags().StringVar(&f.Modality, "modality", "", "kind of work: text, document, image")
	c.Flags().StringVar(&f.Alias, "alias", "", "model to call")
	c.Flags().StringVar(&f.Job, "job", "", "name of the job (default: that of the first path)")
	c.Flags().StringVar(&f.Instructions, "instructions", "", "what to do with each file, for files that are no requests themselves")
	c.Flags().IntVar(&f.Parallel, "parallel", 4, "posts at once, 1 to 32")
	c.Flags().BoolVar(&f.again, "again", false, "post what was accepted before, too")
	c.Flags().BoolVar(&f.json, "json", false, "print the report for machines, without progress")
	return c
}

// maxPosts is how many posts there may be at once.
const maxPosts = 32

func (f enqueueFlags) check() error {
	var found []error
	if u, err := url.Parse(f.url); err != nil || u.Host == "" {
		found = append(found, fmt.Errorf("--url: got %q, want the URL of a control plane, as in https://batch.dev.onedoor.internal", f.url))
	}
	if f.Modality == "" {
		found = append(found, errors.New("--modality: want the kind of work, as in text"))
	}
	if f.Alias == "" {
		found = append(found, errors.New("--alias: want the model to call"))
	}
	if f.Parallel < 1 || f.Parallel > maxPosts {
		found = append(found, fmt.Errorf("--parallel: got %d, want 1 to %d", f.Parallel, maxPosts))
	}
	if f.audience == "" && os.Getenv(tokenVariable) == "" {
		found = append(found, fmt.Errorf("--audience: want that of the control plane's tokens, or a token in %s", tokenVariable))
	}
	return errors.Join(found...)
}

// post posts the items, and shows how it goes.
func (at screen) post(ctx context.Context, f enqueueFlags) error {
	token, err := f.token()
	if err != nil {
		return realError{err}
	}
	if !f.again {
		f.Journal = filepath.Join(at.dir, ".onedoor", "enqueue.log")
	}
	if !f.json {
		f.Progress = at.progress()
	}
	caller, err := at.trusting(f.caFile)
	if err != nil {
		return realError{err}
	}
	client := &enqueue.Client{URL: strings.TrimSuffix(f.url, "/"), Token: token, HTTP: caller}
	report, err := enqueue.Run(ctx, client, f.Options)
	if err != nil {
		return realError{err}
	}
	if f.json {
		err = embedded.Encode(at.stdout, report)
	} else {
		_, err = fmt.Fprintf(at.stdout, "job %s: %d accepted, %d accepted before, %d not accepted\n", report.Job, report.Accepted, report.Skipped, len(report.Failed))
	}
	if err != nil || len(report.Failed) == 0 {
		return err
	}
	var failed []error
	for _, one := range report.Failed {
		failed = append(failed, fmt.Errorf("%s: %s", one.Path, one.Error))
	}
	return realError{errors.Join(failed...)}
}

// trusting is a client that trusts the authority whose certificate the file has.
func (at screen) trusting(file string) (*http.Client, error) {
	var text []byte
	if file != "" {
		var err error
		if text, err = os.ReadFile(at.path(file)); err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
	}
	client, err := trust.Client(string(text))
	if err != nil || file != "" && len(text) == 0 {
		return nil, fmt.Errorf("--ca-file: %s has no certificate as PEM", file)
	}
	return client, nil
}

// token is what finds a token for each post.
func (f enqueueFlags) token() (func(context.Context) (string, error), error) {
	if given := os.Getenv(tokenVariable); given != "" {
		return func(context.Context) (string, error) { return given, nil }, nil
	}
	credential, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	scopes := []string{f.audience + "/.default"}
	return func(ctx context.Context) (string, error) {
		token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: scopes})
		return token.Token, err
	}, nil
}

// progress says how it goes, in up to twenty lines.
func (at screen) progress() func(done, failed, all int) {
	const lines = 20
	said := 0
	return func(done, failed, all int) {
		if now := (done + failed) * lines / all; now > said || failed > 0 && done+failed == all {
			said = now
			fmt.Fprintf(at.stderr, "%d of %d accepted, %d not\n", done, all, failed)
		}
	}
}

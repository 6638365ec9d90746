package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/azread"
	"onedoor/internal/finding"
	"onedoor/internal/policypack/results"
	"onedoor/internal/verify"
	"onedoor/sim"
)

// recordOfProd is the record of a preview.
const recordOfProd = "../../tests/testdata/prod.preview.json"

// login stands in for a credential; it fails with err.
type login struct{ err error }

func (l login) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "e30.eyJvaWQiOiJtZSJ9.c2ln", ExpiresOn: time.Now().Add(time.Hour)}, l.err
}

// inProcess carries requests to a handler.
type inProcess struct{ http.Handler }

func (p inProcess) Do(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	p.ServeHTTP(answer, req)
	res := answer.Result()
	res.Request = req
	return res, nil
}

// emptyAzure is a simulated subscription with nothing in it.
func emptyAzure(t *testing.T, l login) asked {
	t.Helper()
	c, err := sim.Open("", sim.WithQuiet(0))
	require.NoError(t, err)
	const at = "https://management.simulated"
	return asked{audience: at, azure: func(subscription string) (*azread.Azure, error) {
		return azread.New(azread.Options{
			Subscription: subscription, Credential: l, Transport: inProcess{c.ARM()}, MaxRetries: -1,
			Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: at, Audience: at}}},
		})
	}}
}

// runAsking runs one command and returns its exit code and what it printed.
func runAsking(t *testing.T, command func(screen) *cobra.Command, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	dir, err := os.Getwd()
	require.NoError(t, err)
	c := command(screen{dir: dir, stdout: &out, stderr: &said})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	code = report(&said, c.ExecuteContext(t.Context()))
	return code, out.String(), said.String()
}

func TestPreflightCommand(t *testing.T) {
	t.Parallel()
	noLogin := login{errors.New("DefaultAzureCredential: nobody is logged in")}
	for name, c := range map[string]struct {
		login login
		args  []string
		code  int
		out   string // a part of standard output
		err   string // a part of standard error
	}{
		"NothingIsThere":  {login{}, []string{"--plan", recordOfProd}, 1, "PRE-MODEL-01  swedencentral", "Problems: "},
		"NobodyLoggedIn":  {noLogin, []string{"--plan", recordOfProd}, 2, "no credentials: DefaultAzureCredential: nobody is logged in", "Partial: 0 errors"},
		"AnArgument":      {login{}, []string{"prod"}, 1, "", "takes no arguments"},
		"AFlag":           {login{}, []string{"--stak", "prod"}, 1, "", "--stak"},
		"TwoPlans":        {login{}, []string{"--plan", recordOfProd, "--stack", "dev"}, 1, "", "got both"},
		"NoRecord":        {login{}, []string{"--plan", "exit.go"}, 1, "", "no record of a preview"},
		"NoSuchStack":     {login{}, []string{"--stack", "nope"}, 1, "", "nope"},
		"NoSuchPlan":      {login{}, []string{"--plan", "nope.json"}, 1, "", "nope.json"},
		"ProgressIsApart": {login{}, []string{"--plan", recordOfProd, "--json"}, 1, `"command": "preflight"`, "asking about models"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, said := runAsking(t, func(at screen) *cobra.Command { return at.preflightAsking(emptyAzure(t, c.login)) }, c.args...)
			assert.Equal(t, c.code, code, said)
			assert.Contains(t, out, c.out)
			assert.Contains(t, said, c.err)
			assert.NotContains(t, said+out, simulated, "this is about the real Azure")
			assert.NotContains(t, said, "fault of OneDoor")
		})
	}
}

func TestPreflightForMachines(t *testing.T) {
	t.Parallel()
	_, out, _ := runAsking(t, func(at screen) *cobra.Command { return at.preflightAsking(emptyAzure(t, login{})) }, "--plan", recordOfProd, "--json")
	var got finding.Report
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	assert.False(t, got.OK)
	assert.Equal(t, "prod", got.Stack)
	_, again, _ := runAsking(t, func(at screen) *cobra.Command { return at.preflightAsking(emptyAzure(t, login{})) }, "--plan", recordOfProd, "--json")
	assert.Equal(t, out, again, "the same subscription gives the same report")
}

// What could not be read is in the evidence, as such, and satisfies no control.
func TestVerifyWritesEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		login login
		code  int
		state results.State // of VER-ACCT-01
	}{
		"NobodyLoggedIn": {login{errors.New("nobody is logged in")}, 2, results.NotChecked},
		"NothingIsThere": {login{}, 1, results.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			code, _, said := runAsking(t, func(at screen) *cobra.Command { return at.verifyAsking(emptyAzure(t, c.login)) }, "--plan", recordOfProd, "--out", dir, "--at", "2026-11-29T12:00:00Z")
			assert.Equal(t, c.code, code, said)
			raw, err := os.ReadFile(filepath.Join(dir, "prod", "verify.json"))
			require.NoError(t, err)
			var document results.Document
			require.NoError(t, json.Unmarshal(raw, &document))
			assert.False(t, document.Subject.Simulated)
			judged := map[string]bool{}
			for _, r := range document.Results {
				judged[r.Rule] = true
				if r.Rule == verify.AccountExists {
					assert.Equal(t, c.state, r.State)
				}
				if r.Rule == verify.WaysRefused {
					assert.Equal(t, results.NotChecked, r.State, "without an image nothing is tried")
				}
			}
			for _, code := range verify.Codes {
				assert.True(t, judged[code.ID], "%s is not in the evidence", code.ID)
			}
			oscal, err := os.ReadFile(filepath.Join(dir, "prod", "verify.oscal.json"))
			require.NoError(t, err)
			assert.Contains(t, string(oscal), "Not checked, because not everything could be read: ")
			if c.code == 2 {
				assert.NotContains(t, string(oscal), `"satisfied"`)
				assert.Zero(t, document.Summary.Pass)
			}
		})
	}
}

// All mistakes in the flags are told at once, before anybody is asked.
func TestVerifyCommandRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"Words":      {[]string{"--at", "today", "--known", "me", "--known", "you"}, []string{`--at: got "today"`, `--known: got "me"`, `--known: got "you"`}},
		"Kubeconfig": {[]string{"--probe-image", "x", "--kubeconfig", "nope.yaml"}, []string{"--kubeconfig: "}},
	} {
		code, _, said := runAsking(t, func(at screen) *cobra.Command { return at.verifyAsking(emptyAzure(t, login{})) },
			append(c.args, "--plan", recordOfProd, "--out", t.TempDir())...)
		assert.Equal(t, exitUser, code, name)
		for _, want := range c.want {
			assert.Contains(t, said, want, name)
		}
		assert.NotContains(t, said, "Reading Azure", name)
	}
}

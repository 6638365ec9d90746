package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnqueueSaysEverythingThatIsMissing(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	assert.Equal(t, exitUser, run(t.Context(), t.TempDir(), []string{"enqueue", "x.txt", "--parallel", "33"}, &out, &errs))
	for _, want := range []string{"--url: got \"\"", "--modality", "--alias", "--parallel: got 33, want 1 to 32", "--audience"} {
		assert.Contains(t, errs.String(), want)
	}
	assert.NotContains(t, errs.String(), simulated, "this is no simulation")
	errs.Reset()
	assert.Equal(t, exitUser, run(t.Context(), t.TempDir(), []string{"enqueue"}, &out, &errs))
	assert.Contains(t, errs.String(), "takes the files or folders to post")
	assert.Empty(t, out.String())
}

func TestEnqueuePostsAndReports(t *testing.T) {
	var token string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token = r.Header.Get("Authorization")
		if r.URL.Query().Get("item") == "b.txt" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"invalid_request","message":"no"}}`)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	defer server.Close()
	t.Setenv(tokenVariable, "secret-token")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tickets"), 0o700))
	for _, name := range []string{"a.txt", "b.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tickets", name), []byte(name), 0o600))
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "door.pem"), authority, 0o600))
	post := func(more ...string) (int, string, string) {
		var out, errs bytes.Buffer
		args := append([]string{"enqueue", "tickets", "--url", server.URL + "/", "--modality", "text", "--alias", "small", "--ca-file", "door.pem"}, more...)
		code := run(t.Context(), dir, args, &out, &errs)
		assert.NotContains(t, out.String()+errs.String(), "secret-token")
		return code, out.String(), errs.String()
	}
	code, out, errs := post()
	assert.Equal(t, exitUser, code)
	assert.Equal(t, "Bearer secret-token", token)
	assert.Equal(t, "job tickets: 1 accepted, 0 accepted before, 1 not accepted\n", out)
	assert.Contains(t, errs, filepath.Join("tickets", "b.txt")+": 400 invalid_request: no")
	assert.NotContains(t, errs, simulated, "this is no simulation")

	code, out, _ = post("--json")
	assert.Equal(t, exitUser, code)
	assert.JSONEq(t, `{"job":"tickets","accepted":0,"skipped":1,"failed":[{"item":"b.txt","path":"`+filepath.Join(dir, "tickets", "b.txt")+`","error":"400 invalid_request: no"}]}`, out)

	code, _, errs = post("--ca-file", filepath.Join("tickets", "a.txt"))
	assert.Equal(t, exitUser, code)
	assert.Contains(t, errs, "--ca-file: "+filepath.Join("tickets", "a.txt")+" has no certificate as PEM")

	require.NoError(t, os.Remove(filepath.Join(dir, "tickets", "b.txt")))
	code, out, errs = post("--again")
	assert.Equal(t, exitOK, code)
	assert.Equal(t, "job tickets: 1 accepted, 0 accepted before, 0 not accepted\n", out)
	assert.Equal(t, "1 of 1 accepted, 0 not\n", errs)
}

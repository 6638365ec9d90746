package main

import (
	"context"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/config"
)

func TestWhatTheProgramIsToldIsChecked(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"start"}, {"serve", "now"}, {"nightly"}, {"nightly", "a", "b"}} {
		assert.Equal(t, exitWrong, run(context.Background(), args, slog.New(slog.DiscardHandler)), "%v", args)
	}
}

// What a CronJob is to do next is in the exit code.
func TestNightlyAsksTheServiceAndSaysHowItWent(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("abc\n"), 0o600))
	for name, c := range map[string]struct {
		status, code int
	}{
		"Accepted": {http.StatusOK, exitDone}, "Unknown": {http.StatusNotFound, exitWrong}, "BadInput": {http.StatusBadRequest, exitWrong},
		"NotAllowed": {http.StatusForbidden, exitWrong}, "Down": {http.StatusServiceUnavailable, exitFailed}, "TokenExpired": {http.StatusUnauthorized, exitFailed},
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "POST /v1/nightly/tick%20ets", r.Method+" "+r.URL.EscapedPath())
			assert.Equal(t, "Bearer abc", r.Header.Get("Authorization"))
			w.WriteHeader(c.status)
		}))
		code, err := ask(context.Background(), http.DefaultClient, config.Nightly{URL: service.URL + "/", TokenFile: token}, "tick ets")
		service.Close()
		assert.Equal(t, c.code, code, name)
		assert.Equal(t, c.code == exitDone, err == nil, name)
	}
	code, err := ask(context.Background(), http.DefaultClient, config.Nightly{URL: "http://127.0.0.1:1", TokenFile: token}, "x")
	require.Error(t, err)
	assert.Equal(t, exitFailed, code)
	code, err = ask(context.Background(), http.DefaultClient, config.Nightly{URL: "http://127.0.0.1:1", TokenFile: token + "-none"}, "x")
	require.Error(t, err)
	assert.Equal(t, exitFailed, code)
}

// The door's certificate is of the authority that the deployment names.
func TestNightlyTrustsTheAuthorityItIsTold(t *testing.T) {
	door := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer door.Close()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("abc"), 0o600))
	t.Setenv("ONEDOOR_CONTROL_PLANE_URL", door.URL)
	t.Setenv("ONEDOOR_TOKEN_FILE", token)
	log := slog.New(slog.DiscardHandler)
	t.Setenv("ONEDOOR_CONTROL_PLANE_AUTHORITY", "nobody")
	assert.Equal(t, exitWrong, nightly(t.Context(), "tickets", log))
	t.Setenv("ONEDOOR_CONTROL_PLANE_AUTHORITY", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: door.Certificate().Raw})))
	assert.Equal(t, exitDone, nightly(t.Context(), "tickets", log))
}

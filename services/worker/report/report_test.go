package report

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnItemIsReportedWithTheTokenOfNow(t *testing.T) {
	t.Parallel()
	var got, token string
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got, token = r.Method+" "+r.URL.Path+" "+string(body), r.Header.Get("Authorization")
		w.WriteHeader(status)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "token")
	r := &Reporter{URL: server.URL, TokenFile: file, HTTP: server.Client()}
	item := Item{Tenant: "contoso", Alias: "small", Job: "j", Item: "1", Outcome: "answered", At: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Input: 10, Cached: 3, Output: 5}
	require.Error(t, r.Report(t.Context(), item), "no token")
	for _, now := range []string{"first", "second"} {
		require.NoError(t, os.WriteFile(file, []byte(now+"\n"), 0o600))
		require.NoError(t, r.Report(t.Context(), item))
		assert.Equal(t, "Bearer "+now, token)
	}
	assert.Equal(t, `POST /v1/usage {"tenant":"contoso","alias":"small","job":"j","item":"1","outcome":"answered","at":"2026-12-01T00:00:00Z","input_tokens":10,"cached_tokens":3,"output_tokens":5}`, got)
	status = http.StatusBadRequest
	assert.ErrorContains(t, r.Report(t.Context(), item), "400")
}

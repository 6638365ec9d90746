package openai_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim/openai"
)

// Who may not come in is told why, in a fixed order: host, network, credential, action
// (A801, A803).
func TestAdmission(t *testing.T) {
	t.Parallel()
	c := config()
	c.Accounts[0].Networks = []string{"batch-endpoints"}
	s := openai.New(c)
	ask := func(network, host string, header map[string]string) (int, string) {
		req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+host+"/openai/v1/batches", nil)
		for key, value := range header {
			req.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		s.Handler(openai.Entry{Network: network}).ServeHTTP(w, req)
		return w.Code, w.Body.String()
	}
	const host = account + ".openai.azure.com"
	token := func(t string) map[string]string { return map[string]string{"Authorization": "Bearer " + t} }
	for name, test := range map[string]struct {
		network, host string
		header        map[string]string
		status        int
		says          string
	}{
		"let in":            {"batch-endpoints", host, token(submitter), 200, `"list"`},
		"unknown host":      {"internet", "nobody.openai.azure.com", nil, 404, "nobody"},
		"other network":     {"internet", host, nil, 403, "Firewall"},
		"no credential":     {"batch-endpoints", host, nil, 401, "token"},
		"unknown token":     {"batch-endpoints", host, token("forged"), 401, "token"},
		"key":               {"batch-endpoints", host, map[string]string{"api-key": "k"}, 403, "AuthenticationTypeDisabled"},
		"without an action": {"batch-endpoints", host, token("gateway"), 403, "accounts/OpenAI/batches/read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := ask(test.network, test.host, test.header)
			assert.Equal(t, test.status, status, body)
			assert.Contains(t, body, test.says)
		})
	}
}

// Keys open every door of an account that allows them.
func TestKeysWhereAllowed(t *testing.T) {
	t.Parallel()
	c := config()
	c.Accounts[0].KeysAllowed = true
	w := open(t, c)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/openai/v1/files", nil)
	require.NoError(t, err)
	req.Header.Set("api-key", "k")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Empty(t, w.Log()[0].ObjectID, "a key names nobody")
}

// Each operation needs its own data action, as the project's own roles have it (A802):
// the submitter calls no model, the gateway submits nothing, a reader only reads.
func TestEachOperationNeedsItsAction(t *testing.T) {
	t.Parallel()
	type row struct{ method, path string }
	var (
		readFiles   = row{"GET", "/openai/v1/files"}
		writeFiles  = row{"POST", "/openai/v1/files"}
		importFiles = row{"POST", "/openai/v1/files/import"}
		deleteFile  = row{"DELETE", "/openai/v1/files/file-x"}
		readJobs    = row{"GET", "/openai/v1/batches"}
		writeJobs   = row{"POST", "/openai/v1/batches"}
		cancelJob   = row{"POST", "/openai/v1/batches/batch_x/cancel"}
		chat        = row{"POST", "/openai/v1/chat/completions"}
		embeddings  = row{"POST", "/openai/v1/embeddings"}
		responses   = row{"POST", "/openai/v1/responses"}
		models      = row{"GET", "/openai/v1/models"}
	)
	all := []row{readFiles, writeFiles, importFiles, deleteFile, readJobs, writeJobs, cancelJob, chat, embeddings, responses, models}
	w := open(t, config())
	for token, allowed := range map[string][]row{
		submitter: {readFiles, writeFiles, importFiles, deleteFile, readJobs, writeJobs, cancelJob},
		"gateway": {chat, embeddings, responses},
		reader:    {readFiles, readJobs, models},
		rogue:     all,
	} {
		for _, r := range all {
			res, _ := w.send(token, r.method, r.path, "application/json", "{}")
			if want := slices.Contains(allowed, r); want == (res.StatusCode == http.StatusForbidden) {
				t.Errorf("%s %s %s: status %d, allowed is %t", token, r.method, r.path, res.StatusCode, want)
			}
		}
	}
}

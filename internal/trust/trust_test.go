package trust

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A door whose certificate nobody public issued is trusted by whoever is told its
// authority, and by nobody else.
func TestClientTrustsTheAuthorityItIsTold(t *testing.T) {
	t.Parallel()
	door := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(door.Close)
	told := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: door.Certificate().Raw}))
	for text, trusted := range map[string]bool{"": false, told: true} {
		client, err := Client(text)
		require.NoError(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, door.URL, nil)
		require.NoError(t, err)
		answer, err := client.Do(request)
		if !trusted {
			require.ErrorContains(t, err, "certificate")
			continue
		}
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusNotFound, answer.StatusCode)
	}
	_, err := Client("nothing")
	assert.Error(t, err)
}

package docs_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/engine"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/tests/bad/replay"
	"onedoor/tests/docs/shown"
)

// planned is the recorded plan of dev, which the examples of documents are about.
func planned(t *testing.T) replay.Stack {
	t.Helper()
	stack, err := replay.Load(filepath.Join(root, "tests", "testdata", "dev.preview.json"))
	require.NoError(t, err)
	return stack
}

// named is the planned resource of that type and name.
func named(t *testing.T, typ, name string) engine.Resource {
	t.Helper()
	stack := planned(t)
	found, err := stack.Select(replay.Selector{Type: typ, Name: name})
	require.NoError(t, err)
	require.Len(t, found, 1)
	return stack.Resources[found[0]]
}

// toldOfDev are the settings that dev gives its control plane.
func toldOfDev(t *testing.T) settings.Settings {
	t.Helper()
	data, ok := named(t, "kubernetes:core/v1:ConfigMap", "batch-config").Inputs["data"].(map[string]any)
	require.True(t, ok)
	var s settings.Settings
	require.NoError(t, json.Unmarshal([]byte(data["config.json"].(string)), &s))
	return s
}

// callerOf is a tenant of dev with an application, and that.
func callerOf(t *testing.T, plan string) (tenant, application string) {
	t.Helper()
	for name, is := range toldOfDev(t).Tenants {
		if is.Plan == plan && len(is.Applications) > 0 {
			return name, is.Applications[0]
		}
	}
	require.Fail(t, "dev has no tenant with an application and that plan", plan)
	return "", ""
}

// plane is the control plane that dev plans, with stores on this machine. sign makes
// tokens of the directory, whose keys the test has.
func plane(t *testing.T, s settings.Settings) (url string, bus *intake.Memory, sign func(audience, application string) string) {
	t.Helper()
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	require.NoError(t, os.Mkdir(keys, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(keys, "1"), []byte(strings.Repeat("docs", 16)), 0o600))
	table, err := ledger.OpenLocal(filepath.Join(dir, "ledger"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = table.Close() })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	issuer := "https://login.microsoftonline.com/" + s.Directory + "/v2.0"
	entra := identity.NewEntraWith(&oidc.StaticKeySet{PublicKeys: []crypto.PublicKey{key.Public()}}, []string{issuer}, s, &oidc.Config{SupportedSigningAlgs: []string{"ES256"}})
	bus = &intake.Memory{}
	served, err := service.New(service.Parts{
		Settings: s, Table: table, Blobs: blobs.Dir(filepath.Join(dir, "storage")), Bus: bus, Identity: entra,
		KeysDir: keys, Signing: "1", Scratch: dir, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	server := httptest.NewServer(served.Handler())
	t.Cleanup(server.Close)
	return server.URL, bus, func(audience, application string) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
		require.NoError(t, err)
		token, err := jwt.Signed(signer).Claims(map[string]any{
			"iss": issuer, "aud": audience, "azp": application, "sub": application, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		}).Serialize()
		require.NoError(t, err)
		return token
	}
}

// after is the word after a flag, which must be there.
func after(t *testing.T, words []string, flag string) string {
	t.Helper()
	at := slices.Index(words, flag)
	require.True(t, at >= 0 && at+1 < len(words), "%v has no %s", words, flag)
	return words[at+1]
}

// The calls that post to a control plane are taken by the one that dev plans: its
// tenants, queues, aliases and audience are those that the page names. Replaced is the
// URL, and the login by a token in the environment.
func TestPostsWorkAsPrinted(t *testing.T) {
	t.Parallel()
	told := toldOfDev(t)
	_, application := callerOf(t, "full")
	for _, c := range of(t, shown.Intake) {
		url, bus, sign := plane(t, told)
		words := shown.Onedoor(c.Words)
		assert.Equal(t, "https://batch.dev.onedoor.internal", after(t, words, "--url"), c)
		words[slices.Index(words, "--url")+1] = url
		audience := told.Audience
		if slices.Contains(words, "--audience") {
			audience = after(t, words, "--audience")
		}
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "tickets"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "tickets", "a.json"), []byte(`{"messages": [{"role": "user", "content": "Hello"}]}`), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "report.pdf"), []byte("%PDF-1.4"), 0o600))
		out, err := onedoor(t, dir, []string{"ONEDOOR_TOKEN=" + sign(audience, application)}, words...)
		require.NoError(t, err, "%s\n%s", c, out)
		assert.Contains(t, string(out), ": 1 accepted, 0 accepted before, 0 not accepted\n")
		sent := bus.Sent()
		require.Len(t, sent, 1, c)
		assert.Equal(t, told.Queues[after(t, words, "--modality")].ContentType, sent[0].ContentType, c)
	}
}

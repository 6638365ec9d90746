package identity_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	testclient "k8s.io/client-go/testing"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/identity"
)

const (
	directory = "11111111-1111-1111-1111-111111111111"
	issuer    = "https://login.microsoftonline.com/" + directory + "/v2.0"
	older     = "https://sts.windows.net/" + directory + "/"
	audience  = "api://onedoor-batch"
	app       = "22222222-2222-2222-2222-222222222222"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func key(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return k
}

// claims are those of a good token.
func claims() map[string]any {
	return map[string]any{"iss": issuer, "aud": audience, "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "azp": app, "sub": "x"}
}

func sign(t *testing.T, k *ecdsa.PrivateKey, c map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: k}, nil)
	require.NoError(t, err)
	text, err := jwt.Signed(signer).Claims(c).Serialize()
	require.NoError(t, err)
	return text
}

func entra(k *ecdsa.PrivateKey) *identity.Entra {
	s := settings.Settings{Audience: audience, Directory: directory, Tenants: map[string]settings.Tenant{"desk": {Applications: []string{app}}}}
	return identity.NewEntraWith(&oidc.StaticKeySet{PublicKeys: []crypto.PublicKey{k.Public()}}, []string{issuer, older}, s,
		&oidc.Config{Now: func() time.Time { return now }, SupportedSigningAlgs: []string{"ES256"}})
}

// code is that of a refusal; "" for none.
func code(t *testing.T, err error) apierror.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var refusal *apierror.Error
	require.ErrorAs(t, err, &refusal, "%v", err)
	return refusal.Code
}

func TestTokensOfTheDirectory(t *testing.T) {
	t.Parallel()
	mine := key(t)
	for name, c := range map[string]struct {
		change func(map[string]any)
		key    *ecdsa.PrivateKey
		want   apierror.Code
	}{
		"Good":           {func(map[string]any) {}, mine, ""},
		"VersionOne":     {func(c map[string]any) { delete(c, "azp"); c["iss"], c["appid"] = older, app }, mine, ""},
		"OtherKey":       {func(map[string]any) {}, key(t), apierror.Unauthenticated},
		"OtherDirectory": {func(c map[string]any) { c["iss"] = "https://sts.windows.net/other/" }, mine, apierror.Unauthenticated},
		"OtherAudience":  {func(c map[string]any) { c["aud"] = "https://management.azure.com" }, mine, apierror.Unauthenticated},
		"Expired":        {func(c map[string]any) { c["exp"] = now.Add(-time.Second).Unix() }, mine, apierror.Unauthenticated},
		"NotYet":         {func(c map[string]any) { c["nbf"] = now.Add(time.Hour).Unix() }, mine, apierror.Unauthenticated},
		"OtherApp":       {func(c map[string]any) { c["azp"] = "33333333-3333-3333-3333-333333333333" }, mine, apierror.Forbidden},
		"NoApp":          {func(c map[string]any) { delete(c, "azp") }, mine, apierror.Forbidden},
	} {
		c2 := claims()
		c.change(c2)
		got, err := entra(mine).Verify(context.Background(), sign(t, c.key, c2))
		assert.Equal(t, c.want, code(t, err), name)
		if c.want == "" {
			assert.Equal(t, identity.Caller{Tenant: "desk"}, got, name)
		}
	}
	for _, junk := range []string{"", "a.b.c", "...", sign(t, mine, claims()) + ".x"} {
		_, err := entra(mine).Verify(context.Background(), junk)
		assert.Equal(t, apierror.Unauthenticated, code(t, err), junk)
	}
}

// A token without a signature, or signed with the public key as a secret, is none.
func TestAlgorithmsAreNotTheTokensToChoose(t *testing.T) {
	t.Parallel()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte("0123456789012345678901234567890123456789")}, nil)
	require.NoError(t, err)
	text, err := jwt.Signed(signer).Claims(claims()).Serialize()
	require.NoError(t, err)
	_, err = entra(key(t)).Verify(context.Background(), text)
	assert.Equal(t, apierror.Unauthenticated, code(t, err))
}

// The directory publishes its keys; while it does not answer, nobody is refused for
// it.
func TestKeysComeFromTheDirectory(t *testing.T) {
	t.Parallel()
	mine, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	up := false
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up || r.URL.Path != "/"+directory+"/discovery/v2.0/keys" {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		assert.NoError(t, json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: mine.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}}))
	}))
	t.Cleanup(host.Close)
	e := identity.NewEntra(t.Context(), host.URL+"/", settings.Settings{Audience: audience, Directory: directory, Tenants: map[string]settings.Tenant{"desk": {Applications: []string{app}}}})
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: mine, KeyID: "k"}}, nil)
	require.NoError(t, err)
	c := claims()
	c["iss"], c["exp"] = host.URL+"/"+directory+"/v2.0", time.Now().Add(time.Hour).Unix()
	token, err := jwt.Signed(signer).Claims(c).Serialize()
	require.NoError(t, err)
	_, err = e.Verify(t.Context(), token)
	require.Error(t, err)
	assert.Equal(t, http.StatusServiceUnavailable, apierror.From(err).Status(), "%v", err)
	up = true
	require.EventuallyWithT(t, func(t *assert.CollectT) { // a fetch that has just failed answers those who still wait for it
		got, err := e.Verify(context.Background(), token)
		require.NoError(t, err)
		assert.Equal(t, identity.Caller{Tenant: "desk"}, got)
	}, 10*time.Second, 5*time.Millisecond)
}

// pods is a cluster that knows one token.
func pods(user string, audiences []string, authenticated bool, fails error) identity.Pods {
	cluster := fake.NewClientset()
	cluster.PrependReactor("create", "tokenreviews", func(action testclient.Action) (bool, runtime.Object, error) {
		asked := action.(testclient.CreateAction).GetObject().(*authv1.TokenReview)
		asked.Status = authv1.TokenReviewStatus{Authenticated: authenticated, User: authv1.UserInfo{Username: user}, Audiences: audiences}
		return true, asked, fails
	})
	return identity.Pods{Reviews: cluster.AuthenticationV1().TokenReviews(), Audience: "onedoor-control-plane"}
}

func TestTokensOfPods(t *testing.T) {
	t.Parallel()
	good := []string{"onedoor-control-plane"}
	const in = "system:serviceaccount:onedoor-workers:"
	for name, c := range map[string]struct {
		pods identity.Pods
		want identity.Caller
		code apierror.Code
	}{
		"Nightly":         {pods(in+"nightly", good, true, nil), identity.Caller{Nightly: true}, ""},
		"Worker":          {pods(in+"worker-text", good, true, nil), identity.Caller{Modality: "text"}, ""},
		"OtherAccount":    {pods(in+"default", good, true, nil), identity.Caller{}, apierror.Forbidden},
		"OtherNamespace":  {pods("system:serviceaccount:other:nightly", good, true, nil), identity.Caller{}, apierror.Forbidden},
		"NoModality":      {pods(in+"worker-", good, true, nil), identity.Caller{}, apierror.Forbidden},
		"OtherAudience":   {pods(in+"nightly", []string{"https://kubernetes.default.svc"}, true, nil), identity.Caller{}, apierror.Unauthenticated},
		"AudienceIgnored": {pods(in+"nightly", nil, true, nil), identity.Caller{}, apierror.Unauthenticated},
		"NotKnown":        {pods("", good, false, nil), identity.Caller{}, apierror.Unauthenticated},
	} {
		got, err := c.pods.Verify(context.Background(), "token")
		assert.Equal(t, c.code, code(t, err), name)
		assert.Equal(t, c.want, got, name)
	}
	_, err := pods("", nil, false, errors.New("down")).Verify(context.Background(), "token")
	require.ErrorContains(t, err, "down")
	assert.Equal(t, http.StatusServiceUnavailable, apierror.From(err).Status())
}

// Who issued a token decides who verifies it.
func TestEachTokenGoesToItsVerifier(t *testing.T) {
	t.Parallel()
	mine := key(t)
	either := identity.Either{Entra: entra(mine), Pods: pods("system:serviceaccount:onedoor-workers:nightly", []string{"onedoor-control-plane"}, true, nil)}
	got, err := either.Verify(context.Background(), sign(t, mine, claims()))
	require.NoError(t, err)
	assert.Equal(t, identity.Caller{Tenant: "desk"}, got)
	got, err = either.Verify(context.Background(), sign(t, mine, map[string]any{"iss": "https://oidc.example/cluster"}))
	require.NoError(t, err)
	assert.Equal(t, identity.Caller{Nightly: true}, got)
	_, err = either.Verify(context.Background(), sign(t, key(t), claims()))
	assert.Equal(t, apierror.Unauthenticated, code(t, err), "a forged token of the directory is not for the cluster to judge")
}

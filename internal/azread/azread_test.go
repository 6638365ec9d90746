package azread_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/azread"
)

const endpoint = "https://management.simulated"

// token is a credential that hands out this token, or fails.
type token struct {
	text string
	err  error
}

func (t token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: t.text, ExpiresOn: time.Now().Add(time.Hour)}, t.err
}

// answers is an Azure that gives the same answer to everything, and counts.
type answers struct {
	status int
	body   string
	asked  []*http.Request
}

func (a *answers) Do(req *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, req)
	return &http.Response{StatusCode: a.status, Request: req, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func azure(t *testing.T, credential azcore.TokenCredential, transport policy.Transporter) *azread.Azure {
	t.Helper()
	a, err := azread.New(azread.Options{
		Subscription: "sub", Credential: credential, Transport: transport, MaxRetries: -1,
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: endpoint, Audience: endpoint}}},
	})
	require.NoError(t, err)
	return a
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer answers
		want   []string
	}{
		"NotLoggedIn": {answers{status: 401, body: `{"error":{"code":"ExpiredAuthenticationToken"}}`}, []string{"401 Unauthorized ExpiredAuthenticationToken", "az login"}},
		"NoRight":     {answers{status: 403, body: `{"error":{"code":"AuthorizationFailed"}}`}, []string{"403 Forbidden AuthorizationFailed", "Reader", "GET /subscriptions/sub/"}},
		"TooMuch":     {answers{status: 429}, []string{"429 Too Many Requests", "some minutes"}},
		"Fault":       {answers{status: 500, body: "oops"}, []string{"500 Internal Server Error"}},
		"NoJSON":      {answers{status: 200, body: "<html>"}, []string{"invalid character"}},
		"NoList":      {answers{status: 200, body: "{}"}, []string{"Azure's answer has no list"}},
		"NullItem":    {answers{status: 200, body: `{"value":[null]}`}, []string{"item in a list"}},
		"HalfAnItem":  {answers{status: 200, body: `{"value":[{}]}`}, []string{"name, currentValue and limit"}},
	} {
		_, err := azure(t, token{text: "x"}, &c.answer).ModelUsages(t.Context(), "swedencentral")
		require.Error(t, err, name)
		reason := azread.Reason(err)
		assert.NotContains(t, reason, "\n", name)
		for _, want := range c.want {
			assert.Contains(t, reason, want, name)
		}
	}
	assert.Equal(t, "first", azread.Reason(errors.New("first\nsecond")))
	assert.Len(t, azread.Reason(errors.New(strings.Repeat("x", 1000))), 300)
}

// An empty list is an answer.
func TestAnEmptyListIsNothing(t *testing.T) {
	t.Parallel()
	got, err := azure(t, token{text: "x"}, &answers{status: 200, body: `{"value":[]}`}).ModelUsages(t.Context(), "swedencentral")
	require.NoError(t, err)
	assert.Empty(t, got)
}

// Reads are all that is sent, also where a provider is not registered: the clients
// would register it by themselves.
func TestNothingIsRegistered(t *testing.T) {
	t.Parallel()
	a := &answers{status: 409, body: `{"error":{"code":"MissingSubscriptionRegistration"}}`}
	_, err := azure(t, token{text: "x"}, a).ModelUsages(t.Context(), "swedencentral")
	require.Error(t, err)
	require.Len(t, a.asked, 1)
	assert.Equal(t, http.MethodGet, a.asked[0].Method)
}

func TestCaller(t *testing.T) {
	t.Parallel()
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	for name, c := range map[string]struct {
		credential token
		want, err  string
	}{
		"AUser":       {token{text: jwt(`{"oid":"me"}`)}, "me", ""},
		"NoObject":    {token{text: jwt(`{"sub":"me"}`)}, "", "no claim oid"},
		"NoJSON":      {token{text: jwt(`me`)}, "", "no claim oid"},
		"NoClaims":    {token{text: "opaque"}, "", "no claim oid"},
		"NoBase64":    {token{text: "a.!.c"}, "", "no claim oid"},
		"NoToken":     {token{}, "", "no token"},
		"NotLoggedIn": {token{err: errors.New("nobody is logged in")}, "", "nobody is logged in"},
	} {
		got, err := azure(t, c.credential, &answers{}).Caller(t.Context(), endpoint)
		assert.Equal(t, c.want, got, name)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, name)
		}
	}
}

func TestAudiencesThatTheDirectoryLacks(t *testing.T) {
	t.Parallel()
	a := func(err error) error {
		return azure(t, token{text: "x", err: err}, &answers{}).Token(t.Context(), "api://x")
	}
	assert.False(t, azread.IsNoAudience(a(nil)))
	assert.True(t, azread.IsNoAudience(a(errors.New("AADSTS500011: The resource principal named api://x was not found"))))
	assert.False(t, azread.IsNoAudience(a(errors.New("AADSTS65001: consent is missing"))), "that is the caller's")
}

func TestNamesThatAreNotGlobal(t *testing.T) {
	t.Parallel()
	_, _, err := azure(t, token{text: "x"}, &answers{}).NameFree(t.Context(), "Microsoft.Network/virtualNetworks", "x")
	assert.ErrorContains(t, err, "no names that are unique")
}

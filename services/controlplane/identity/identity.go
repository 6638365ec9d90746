// Package identity owns who a caller is: an Entra application of a tenant, or a pod
// of the cluster. What each may do belongs to the API.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/tidwall/gjson"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/apierror"
)

// Caller is who calls.
type Caller struct {
	Tenant   string // whose work it may see and make; "" for pods of the platform
	Nightly  bool   // the account that starts declared nightly jobs
	Modality string // of the worker that reports; "" for others
}

// Verifier tells who shows a token. The error is an *apierror.Error if the token is
// to blame.
type Verifier interface {
	Verify(ctx context.Context, token string) (Caller, error)
}

// Of is who made a request.
func Of(r *http.Request, by Verifier) (Caller, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "no bearer token: send Authorization: Bearer with a token of your application for the audience of this service. Keys are not accepted.")
	}
	return by.Verify(r.Context(), token)
}

// Either is Entra for tokens that Entra issued, and Pods for all others.
type Either struct {
	Entra *Entra
	Pods  Verifier
}

// Verify implements Verifier. Who issued a token is read before it is verified, and
// decides only who verifies it.
func (e Either) Verify(ctx context.Context, token string) (Caller, error) {
	if e.Pods == nil || e.Entra.issued(token) {
		return e.Entra.Verify(ctx, token)
	}
	return e.Pods.Verify(ctx, token)
}

// Entra verifies tokens of one directory.
// https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-tokens
type Entra struct {
	verifiers map[string]*oidc.IDTokenVerifier // by issuer
	tenants   map[string]string                // by application
}

// The hosts of Microsoft's public cloud.
const (
	authority = "https://login.microsoftonline.com/"
	version1  = "https://sts.windows.net/"
)

// NewEntra verifies tokens by the keys that the directory publishes. host is that of
// the authority, as workload identity names it; "" for the public cloud.
func NewEntra(ctx context.Context, host string, s settings.Settings) *Entra {
	if host == "" {
		host = authority
	}
	host = strings.TrimRight(host, "/") + "/" + s.Directory
	return NewEntraWith(oidc.NewRemoteKeySet(ctx, host+"/discovery/v2.0/keys"), []string{host + "/v2.0", version1 + s.Directory + "/"}, s, nil)
}

// NewEntraWith verifies tokens of those issuers by those keys. Which of the issuers
// a token names depends on the application that it is for. config may set the clock.
func NewEntraWith(keys oidc.KeySet, issuers []string, s settings.Settings, config *oidc.Config) *Entra {
	if config == nil {
		config = &oidc.Config{}
	}
	config.ClientID = s.Audience
	e := &Entra{verifiers: map[string]*oidc.IDTokenVerifier{}, tenants: map[string]string{}}
	for _, issuer := range issuers {
		e.verifiers[issuer] = oidc.NewVerifier(issuer, keys, config)
	}
	for name, tenant := range s.Tenants {
		for _, application := range tenant.Applications {
			e.tenants[application] = name
		}
	}
	return e
}

// issuer is what a token says of its origin, unverified; "" if it is no token.
func issuer(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	claims, err := decode(parts[1])
	if err != nil {
		return ""
	}
	return gjson.GetBytes(claims, "iss").String()
}

func (e *Entra) issued(token string) bool {
	_, ok := e.verifiers[issuer(token)]
	return ok
}

// Verify implements Verifier.
func (e *Entra) Verify(ctx context.Context, token string) (Caller, error) {
	verifier, ok := e.verifiers[issuer(token)]
	if !ok {
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "the token was not issued by the directory of this platform; get one from it")
	}
	verified, err := verifier.Verify(ctx, token)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "the token has expired; get a new one")
	case err != nil && strings.Contains(err.Error(), "fetching keys"):
		return Caller{}, fmt.Errorf("identity: %w", err) // the directory does not answer
	case err != nil:
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "the token is not valid: its signature, issuer or audience is another; get one for the audience of this service")
	}
	var claims struct {
		V2 string `json:"azp"`
		V1 string `json:"appid"`
	}
	if err := verified.Claims(&claims); err != nil {
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "the token's claims cannot be read")
	}
	application := claims.V2
	if application == "" {
		application = claims.V1
	}
	tenant, ok := e.tenants[application]
	if !ok {
		return Caller{}, apierror.New(apierror.Forbidden, "Authorization", "application %q speaks for no tenant; have it added to the tenant's applications", application)
	}
	return Caller{Tenant: tenant}, nil
}

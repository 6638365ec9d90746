package azread

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Token asks whether the caller can have a token for an audience, as in
// "https://storage.azure.com", and throws it away.
func (a *Azure) Token(ctx context.Context, audience string) error {
	_, err := a.token(ctx, audience)
	return err
}

func (a *Azure) token(ctx context.Context, audience string) (string, error) {
	token, err := a.credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{strings.TrimSuffix(audience, "/") + "/.default"}})
	if err == nil && token.Token == "" {
		return "", missing("token")
	}
	return token.Token, err
}

// Caller is the object id of the principal that asks, by its own token for Azure.
// The token is not verified: it was just issued to this process.
func (a *Azure) Caller(ctx context.Context, audience string) (string, error) {
	token, err := a.token(ctx, audience)
	if err != nil {
		return "", err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errNoObject
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", errNoObject
	}
	var claims struct {
		Object string `json:"oid"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil || claims.Object == "" {
		return "", errNoObject
	}
	return claims.Object, nil
}

// noAudience is the code with which Entra says that a directory has no application
// of an audience.
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes
const noAudience = "AADSTS500011"

// IsNoAudience tells whether no token can be had because the directory does not know
// the audience, and not because the caller could not log in.
func IsNoAudience(err error) bool {
	return err != nil && strings.Contains(err.Error(), noAudience)
}

// errNoObject says that a token names no principal.
var errNoObject = errors.New("the token names no principal: it has no claim oid")

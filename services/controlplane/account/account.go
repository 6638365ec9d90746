// Package account owns what is said to the batch account: the Files and Batch API
// of Azure OpenAI, in the shape without a version. It reads answers leniently,
// because they differ between API versions and regions; what follows from them
// belongs to others.
package account

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/tidwall/gjson"
)

// Scope is the audience of tokens for the account.
const Scope = "https://cognitiveservices.azure.com/.default"

// Client speaks to one account.
type Client struct {
	Idle time.Duration // for how long a content may stand still before it is given up

	base  string
	token azcore.TokenCredential
	http  *http.Client
}

// New is a client of the account at endpoint, as in "https://name.openai.azure.com".
func New(endpoint string, token azcore.TokenCredential, client *http.Client) *Client {
	return &Client{Idle: idle, base: strings.TrimRight(endpoint, "/") + "/openai/v1", token: token, http: client}
}

// Error is a refusal of the account. Every other error says that nobody knows
// whether what was asked for has happened.
type Error struct {
	Status  int
	Code    string
	Message string
	Retry   time.Duration // that the account asks for; 0 for not said
}

func (e *Error) Error() string { return fmt.Sprintf("account: %d %s: %s", e.Status, e.Code, e.Message) }

// TokenLimit is the code of what does not fit beside what is enqueued already.
const TokenLimit = "token_limit_exceeded"

// IsTokenLimit tells whether a job was refused because too much is enqueued.
func IsTokenLimit(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Code == TokenLimit
}

// IsNotFound tells whether there is no such file or job.
func IsNotFound(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Status == http.StatusNotFound
}

// IsFinal tells whether asking again would be refused again: neither a matter of
// load nor of the account's health.
func IsFinal(err error) bool {
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code == TokenLimit {
		return false
	}
	switch refusal.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests:
		return false // roles, networks and load change
	}
	return refusal.Status >= 400 && refusal.Status < 500
}

// What calls may take. A create that takes longer is looked for before it is
// repeated, so its limit must be well below Settle. Nobody knows how long a content
// is: it may take any time, but not stand still.
const (
	callTimeout   = 60 * time.Second
	uploadTimeout = 30 * time.Minute // 200 MB
	idle          = 2 * time.Minute
)

// Settle is how long after an attempt to create a job its outcome is certain: the
// call has ended by then, and the job is listed if there is one.
const Settle = 3 * time.Minute

// do asks the account. The caller closes the body.
func (c *Client) do(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	token, err := c.token.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{Scope}})
	if err != nil {
		return nil, fmt.Errorf("account: token: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("account: %s %s: %w", method, path, err)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer)) // of a refusal whatever there is
	refusal := &Error{Status: response.StatusCode, Code: gjson.GetBytes(text, "error.code").String(), Message: gjson.GetBytes(text, "error.message").String()}
	if after, err := time.ParseDuration(response.Header.Get("Retry-After") + "s"); err == nil {
		refusal.Retry = after
	}
	if response.StatusCode >= 500 || response.StatusCode == http.StatusRequestTimeout {
		return nil, fmt.Errorf("account: %s %s: %d %s: %s", method, path, refusal.Status, refusal.Code, refusal.Message)
	}
	return nil, refusal
}

// maxAnswer is the most that is read of an answer that is no content, in bytes.
const maxAnswer = 8 << 20

// ask is do for answers that are JSON.
func (c *Client) ask(ctx context.Context, method, path, contentType string, body io.Reader, timeout time.Duration) (gjson.Result, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := c.do(ctx, method, path, contentType, body)
	if err != nil {
		return gjson.Result{}, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return gjson.Result{}, nil, fmt.Errorf("account: %s %s: %w", method, path, err)
	}
	if !gjson.ValidBytes(text) {
		return gjson.Result{}, nil, fmt.Errorf("account: %s %s: the answer is not JSON", method, path)
	}
	return gjson.ParseBytes(text), response.Header, nil
}

// send is ask with a body of JSON.
func (c *Client) send(ctx context.Context, path string, body any) (gjson.Result, http.Header, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return gjson.Result{}, nil, fmt.Errorf("account: %w", err)
	}
	return c.ask(ctx, http.MethodPost, path, "application/json", bytes.NewReader(text), callTimeout)
}

// escape is an id as a part of a path.
func escape(id string) string { return url.PathEscape(id) }

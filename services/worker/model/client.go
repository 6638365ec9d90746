package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// timeout is how long one call may take: more than the 240 seconds that the gateway
// waits for a deployment, and so more than the 60 that slow answers need.
const timeout = 300 * time.Second

// Waits after a 429 that does not say how long, and the longest that is believed.
const (
	defaultWait = 10 * time.Second
	longestWait = 10 * time.Minute
)

// Client calls models at a gateway.
type Client struct {
	URL   string // base of the calls, without a slash at the end
	Scope string // of the token
	Token azcore.TokenCredential
	HTTP  *http.Client
	Most  int64 // bytes of an answer that there is memory for
}

// Call implements Caller.
func (c *Client) Call(ctx context.Context, r Request) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := c.send(limited, r)
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		var answer Answer
		if answer, err = read(response, c.Most); err == nil {
			return answer, nil
		}
	}
	var throttled *Throttled
	var rejected *Rejected
	var failed *Failed
	var large *TooLarge
	switch {
	case ctx.Err() != nil:
		return Answer{}, context.Cause(ctx)
	case errors.As(err, &throttled), errors.As(err, &rejected), errors.As(err, &failed), errors.As(err, &large):
		return Answer{}, err
	case limited.Err() != nil:
		return Answer{}, &Failed{"timeout", fmt.Errorf("no answer within %s", timeout)}
	}
	return Answer{}, &Failed{"connection", err}
}

// send sends the request, and waits for the answer to begin.
func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	token, err := c.Token.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{c.Scope}})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/"+string(r.Path), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(TenantHeader, r.Tenant)
	request.Header.Set("Idempotency-Key", r.Key)
	request.Header.Set("x-ms-client-request-id", r.Correlation)
	return c.HTTP.Do(request)
}

// read reads an answer of up to most bytes to its end, and says what it means.
func read(response *http.Response, most int64) (Answer, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Status: response.StatusCode, RequestID: response.Header.Get("x-request-id"), Body: body}
	var content reply
	err = json.Unmarshal(body, &content)
	switch status := response.StatusCode; {
	case status == http.StatusOK && int64(len(body)) > most:
		return Answer{}, &TooLarge{most}
	case status == http.StatusOK && err != nil:
		return Answer{}, &Failed{"status", errors.New("200 without JSON")}
	case status == http.StatusOK:
		a.Refused, a.Usage = content.refused(), content.usage()
		return a, nil
	case status == http.StatusTooManyRequests:
		return Answer{}, &Throttled{retryAfter(response.Header)}
	case status == http.StatusBadRequest && content.filtered():
		a.Refused = true
		return a, nil
	// A token may be refused while keys change; a time-out is a 408 as well.
	case status >= 500, status == http.StatusUnauthorized, status == http.StatusRequestTimeout, status < 400:
		return Answer{}, &Failed{"status", fmt.Errorf("%d %s", status, content.code())}
	default:
		return Answer{}, &Rejected{status, content.code()}
	}
}

// reply is what is read of an answer.
type reply struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Refusal *string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error struct {
		Code any `json:"code"`
	} `json:"error"`
}

// refused says whether the model refused, or its filter cut what it said.
func (r reply) refused() bool {
	for _, c := range r.Choices {
		if c.FinishReason == "content_filter" || c.Message.Refusal != nil && *c.Message.Refusal != "" {
			return true
		}
	}
	return false
}

func (r reply) usage() Usage {
	return Usage{r.Usage.Prompt, r.Usage.Details.Cached, r.Usage.Completion}
}

// plainCode is a code that can be quoted: one that is text of somebody's could not.
var plainCode = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// code is the error's code. Services send it as text or as a number.
func (r reply) code() string {
	switch code := r.Error.Code.(type) {
	case string:
		if plainCode.MatchString(code) {
			return code
		}
	case float64:
		return strconv.Itoa(int(code))
	}
	return "without a code"
}

// filtered says whether the content filter stopped the prompt.
// https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
func (r reply) filtered() bool {
	return r.Error.Code == "content_filter" || r.Error.Code == "content_policy_violation"
}

// retryAfter is how long a 429 asks to wait.
func retryAfter(h http.Header) time.Duration {
	wait := defaultWait
	value := h.Get("Retry-After")
	if n, err := strconv.Atoi(h.Get("retry-after-ms")); err == nil {
		wait = time.Duration(n) * time.Millisecond
	} else if n, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = time.Until(at)
	}
	return min(max(0, wait), longestWait)
}

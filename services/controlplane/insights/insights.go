// Package insights owns how events get into Application Insights: over the ingestion
// endpoint that Microsoft's own exporters use, as whoever the token says. Their client
// for Go cannot show a token, and the resource takes nothing without one. When events
// are sent, and again, belongs to package outbox.
// https://github.com/microsoft/ApplicationInsights-Go/issues/69
package insights

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"onedoor/services/controlplane/schedule"
)

// Scope is the audience of tokens for ingestion. The second slash is no mistake:
// the audience ends with one.
// https://learn.microsoft.com/azure/azure-monitor/app/azure-ad-authentication
const Scope = "https://monitor.azure.com//.default"

// Client sends to one resource.
type Client struct {
	Target Target
	Token  azcore.TokenCredential
	HTTP   *http.Client
	Now    func() time.Time
}

// answer is what ingestion says.
// https://github.com/Azure/azure-rest-api-specs/tree/main/specification/applicationinsights/data-plane/Monitor.Exporters
type answer struct {
	Received int `json:"itemsReceived"`
	Accepted int `json:"itemsAccepted"`
	Errors   []struct {
		Index   int    `json:"index"`
		Status  int    `json:"statusCode"`
		Message string `json:"message"`
	} `json:"errors"`
}

// maxAnswer is the most that is read of an answer, in bytes.
const maxAnswer = 1 << 20

// Send implements outbox.Sink.
func (c *Client) Send(ctx context.Context, events []schedule.Event) ([]int, error) {
	now := c.Now()
	items := make([]envelope, len(events))
	for i, e := range events {
		items[i] = c.envelope(e, now)
	}
	body, err := json.Marshal(items)
	if err != nil {
		return nil, fmt.Errorf("insights: %w", err)
	}
	status, text, err := c.post(ctx, body)
	if err != nil {
		return nil, err
	}
	var said answer
	if err := json.Unmarshal(text, &said); err != nil || status != http.StatusOK && status != http.StatusPartialContent {
		return nil, fmt.Errorf("insights: %d %.300s", status, text)
	}
	return said.taken(len(events))
}

// taken are those of n items that were accepted. An answer that does not add up
// accepts none: what is sent twice counts once.
func (a answer) taken(n int) ([]int, error) {
	refused := map[int]error{}
	for _, e := range a.Errors {
		refused[e.Index] = fmt.Errorf("insights: event %d of %d: %d %s", e.Index, n, e.Status, e.Message)
	}
	if a.Received != n || a.Accepted != n-len(refused) {
		return nil, fmt.Errorf("insights: of %d events %d were received, %d accepted and %d refused", n, a.Received, a.Accepted, len(refused))
	}
	var taken []int
	var failed []error
	for i := range n {
		if err := refused[i]; err != nil {
			failed = append(failed, err)
			continue
		}
		taken = append(taken, i)
	}
	return taken, errors.Join(failed...)
}

// post sends a body and returns the answer with its status.
func (c *Client) post(ctx context.Context, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Target.Endpoint+"/v2.1/track", bytes.NewReader(body))
	if err != nil {
		return 0, nil, fmt.Errorf("insights: %w", err)
	}
	token, err := c.Token.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{Scope}})
	if err != nil {
		return 0, nil, fmt.Errorf("insights: token: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+token.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("insights: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return 0, nil, fmt.Errorf("insights: %w", err)
	}
	return response.StatusCode, text, nil
}

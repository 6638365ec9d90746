package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	armpolicy "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/policy"
	armruntime "github.com/Azure/azure-sdk-for-go/sdk/azcore/arm/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

const (
	// requestTimeout bounds one request, so that a connection which hangs counts as broken.
	requestTimeout = 2 * time.Minute

	// The waits after a conflict: 5, 10, 20, 40, 60, 60 ... seconds. Without jitter, since few
	// clients write to one resource and a run that can be repeated exactly is worth more.
	firstBackoff = 5 * time.Second
	maxBackoff   = 60 * time.Second

	// maxTransient is how many broken connections and 5xx answers in a row are put up with.
	maxTransient = 3
)

// busyCodes are the codes of a 409 that goes away by itself: something else is being done to
// the resource. Other conflicts (a name that is taken, a lock, an immutable property) stay, so
// waiting would only hide them. Codes that end in InProgress count as well.
var busyCodes = []string{
	"Conflict",
	"OperationNotAllowed", // AKS: another operation on the cluster or one of its pools
	"RequestConflict",     // Cognitive Services: the account or its parent is being changed
	"ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
	"PreconditionFailed", // an accepted operation found that somebody had written before it
}

// Error is what ARM refused, or how an operation that it had accepted ended.
type Error struct {
	// Doing says what was tried, as "PUT".
	Doing string
	// Status is the HTTP status; 200 for an accepted operation that failed.
	Status int
	// Code is ARM's error code, "" if the answer had none.
	Code string
	// Message is ARM's explanation.
	Message string

	retryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	code, message := e.Code, e.Message
	if code == "" {
		code = "no error code"
	}
	if message == "" {
		message = "no message"
	}
	if e.Status == http.StatusOK {
		return fmt.Sprintf("%s: %s: %s", e.Doing, code, message)
	}
	return fmt.Sprintf("%s: HTTP %d %s: %s", e.Doing, e.Status, code, message)
}

// kind says what to do about an error.
type kind int

const (
	fatal     kind = iota // fail with code and message
	busy                  // wait, then start again from the GET
	transient             // the same, but only a few times in a row
)

// classify also tells how long the service asked to wait; 0 if it did not.
func classify(err error) (kind, time.Duration) {
	if refused, ok := errors.AsType[*Error](err); ok {
		switch {
		case refused.Status == http.StatusTooManyRequests, refused.Status == http.StatusPreconditionFailed:
			return busy, refused.retryAfter
		case refused.Status == http.StatusConflict, refused.Status == http.StatusOK:
			// Both a refusal and an accepted operation may end in a conflict. An answer
			// without a code tells nothing, so it may pass.
			if slices.Contains(busyCodes, refused.Code) || strings.HasSuffix(refused.Code, "InProgress") ||
				refused.Code == "" && refused.Status == http.StatusConflict {
				return busy, refused.retryAfter
			}
		case refused.Status == http.StatusRequestTimeout, refused.Status >= http.StatusInternalServerError && refused.Status != http.StatusNotImplemented:
			return transient, refused.retryAfter
		}
		return fatal, 0
	}
	// No credential, or a token over plain HTTP: asking again does not help.
	var never interface{ NonRetriable() }
	if errors.As(err, &never) || errors.Is(err, context.Canceled) {
		return fatal, 0
	}
	if _, ok := errors.AsType[*invalidAnswer](err); ok {
		return fatal, 0
	}
	return transient, 0
}

// invalidAnswer is a successful answer that is no ARM resource.
type invalidAnswer struct{ doing, got string }

// Error implements error.
func (e *invalidAnswer) Error() string {
	return fmt.Sprintf("%s: got %s, want a JSON object: is the endpoint Azure Resource Manager?", e.doing, e.got)
}

func isNotFound(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && refused.Status == http.StatusNotFound
}

// client speaks to ARM. Each call is one request: retrying is the business of whoever knows
// what the request was for.
type client struct {
	endpoint string
	pipeline runtime.Pipeline
}

func newClient(config cloud.Configuration, credential azcore.TokenCredential, transport policy.Transporter) (*client, error) {
	endpoint := strings.TrimSuffix(config.Services[cloud.ResourceManager].Endpoint, "/")
	options := &armpolicy.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud:     config,
			Transport: transport,
			// The pipeline's own retries sleep in real time and know nothing of conflicts.
			Retry:     policy.RetryOptions{MaxRetries: -1},
			Telemetry: policy.TelemetryOptions{ApplicationID: "onedoor"},
			// A token in clear text is for a simulator on the same machine only.
			InsecureAllowCredentialWithHTTP: isLoopback(endpoint),
		},
		// The resource exists, so its provider is registered; a patch must not change subscriptions.
		DisableRPRegistration: true,
	}
	pipeline, err := armruntime.NewPipeline(Name, "v"+Version, credential, runtime.PipelineOptions{}, options)
	if err != nil {
		return nil, err
	}
	return &client{endpoint: endpoint, pipeline: pipeline}, nil
}

func isLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && (u.Hostname() == "127.0.0.1" || u.Hostname() == "::1" || u.Hostname() == "localhost")
}

// snapshot is a resource as it was read.
type snapshot struct {
	body map[string]any
	etag string // "" if the service has none
}

// address is the URL of a resource.
func (c *client) address(id, version string) string {
	parts := strings.Split(id, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return c.endpoint + strings.Join(parts, "/") + "?api-version=" + url.QueryEscape(version)
}

// get reads a resource.
func (c *client) get(ctx context.Context, id, version string) (*snapshot, error) {
	resp, err := c.do(ctx, http.MethodGet, c.address(id, version), nil, "")
	if err != nil {
		return nil, err
	}
	defer closeBody(resp)
	raw, err := runtime.Payload(resp)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // what is echoed in the PUT must not be rounded
	var body map[string]any
	if err := decoder.Decode(&body); err != nil || body == nil {
		return nil, &invalidAnswer{doing: http.MethodGet, got: fmt.Sprintf("%d bytes of %s", len(raw), resp.Header.Get("Content-Type"))}
	}
	s := &snapshot{body: body, etag: resp.Header.Get("ETag")}
	for _, name := range []string{"etag", "eTag"} {
		if tag, ok := body[name].(string); ok && s.etag == "" {
			s.etag = tag
		}
	}
	return s, nil
}

// put replaces a resource. ARM may accept it and go on working: the operation tells when it is
// done, by Azure-AsyncOperation, by Location, by the resource's own provisioning state, or at once.
func (c *client) put(ctx context.Context, id, version string, body map[string]any, etag string) (*operation, error) {
	resp, err := c.do(ctx, http.MethodPut, c.address(id, version), body, etag)
	if err != nil {
		return nil, err
	}
	defer closeBody(resp)
	poller, err := runtime.NewPoller[json.RawMessage](resp, c.pipeline, nil)
	if err != nil {
		return nil, err
	}
	return &operation{poller: poller}, nil
}

// closeBody ends what the pipeline has read to its end already, so nothing can go wrong.
func closeBody(resp *http.Response) { _ = resp.Body.Close() }

// do sends one request and makes a refusal an *Error.
func (c *client) do(ctx context.Context, method, address string, body map[string]any, etag string) (*http.Response, error) {
	// The pipeline reads the answer to its end before it returns, so the timeout covers that too.
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := runtime.NewRequest(ctx, method, address)
	if err != nil {
		return nil, err
	}
	req.Raw().Header.Set("Accept", "application/json")
	if body != nil {
		if err := runtime.MarshalAsJSON(req, body); err != nil {
			return nil, err
		}
	}
	if etag != "" {
		req.Raw().Header.Set("If-Match", etag)
	}
	resp, err := c.pipeline.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer closeBody(resp)
		return nil, refusal(method, resp)
	}
	return resp, nil
}

// operation is a PUT that ARM has accepted.
type operation struct {
	poller *runtime.Poller[json.RawMessage]
	asked  time.Duration // how long the service asked to wait before the next poll; 0 if it did not
}

// poll asks once how the operation stands.
func (o *operation) poll(ctx context.Context) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if !o.poller.Done() {
		resp, err := o.poller.Poll(ctx)
		if err != nil {
			return false, pollError(err)
		}
		defer closeBody(resp)
		o.asked = retryAfter(resp)
	}
	if !o.poller.Done() {
		return false, nil
	}
	if _, err := o.poller.Result(ctx); err != nil {
		return true, pollError(err)
	}
	return true, nil
}

// pollError makes azcore's error one of ours. A failed operation is told in a body with status
// 200; azcore says so with a ResponseError like any other.
func pollError(err error) error {
	if failed, ok := errors.AsType[*azcore.ResponseError](err); ok && failed.RawResponse != nil {
		return refusal("operation started by PUT", failed.RawResponse)
	}
	return err
}

// refusal reads ARM's error out of an answer.
func refusal(doing string, resp *http.Response) *Error {
	e := &Error{Doing: doing, Status: resp.StatusCode, Code: resp.Header.Get("x-ms-error-code"), retryAfter: retryAfter(resp)}
	raw, err := runtime.Payload(resp)
	if err != nil {
		return e
	}
	type inner struct{ Code, Message string }
	var body struct {
		Error *inner
		inner
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return e
	}
	found := body.inner
	if body.Error != nil {
		found = *body.Error
	}
	if found.Code != "" {
		e.Code = found.Code
	}
	e.Message = found.Message
	return e
}

// retryAfter reads how long a service asks to wait; 0 if it does not. A date is taken relative
// to the answer's own, so that a wrong clock here does not matter.
func retryAfter(resp *http.Response) time.Duration {
	for _, name := range []string{"retry-after-ms", "x-ms-retry-after-ms"} {
		if ms, err := strconv.Atoi(resp.Header.Get(name)); err == nil && ms > 0 {
			return time.Duration(ms) * time.Millisecond
		}
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0)
}

// backoff is the wait after the nth conflict in a row, counted from 0.
func backoff(n int) time.Duration {
	d := firstBackoff
	for range n {
		if d *= 2; d >= maxBackoff {
			return maxBackoff
		}
	}
	return d
}

package enqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxBody is the largest payload that is posted to the control plane itself, in
// bytes. Larger ones are put into storage at a URL that it signs.
const maxBody = 64 << 20

// How often a post is tried, and how long is waited between two tries when the
// control plane does not say.
const (
	tries    = 5
	firstGap = time.Second
	longest  = time.Minute
)

// Client posts to a control plane.
type Client struct {
	URL   string // without a slash at the end
	Token func(context.Context) (string, error)
	HTTP  *http.Client
}

// refusal is an answer that is none of success.
type refusal struct {
	status int
	code   string
	text   string
	after  time.Duration // 0 when it does not say
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s: %s", r.status, r.code, r.text) }

// again says whether the same may be taken later.
func (r *refusal) again() bool {
	return r.status == http.StatusTooManyRequests || r.status >= http.StatusInternalServerError
}

// post posts an item, again while the control plane has too much to do or does not
// answer.
func (c *Client) post(ctx context.Context, o Options, i item) error {
	gap, stored := firstGap, false
	for try := 1; ; try++ {
		err := c.once(ctx, o, i, &stored)
		if err == nil || try == tries || ctx.Err() != nil {
			return err
		}
		wait := gap
		if r, ok := err.(*refusal); ok { //nolint:errorlint // nobody wraps it
			if !r.again() {
				return err
			}
			wait = max(wait, min(r.after, longest))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
		gap *= 2
	}
}

// once posts an item, or tells the control plane after it was put into storage. Put
// there again, it would be another payload, and the first message would name one that
// is gone: stored says that it was.
func (c *Client) once(ctx context.Context, o Options, i item, stored *bool) error {
	query := url.Values{"modality": {o.Modality}, "alias": {o.Alias}, "job": {o.Job}, "item": {i.name}}
	body, kind, size, err := i.open(o.Instructions)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	if size <= maxBody {
		_, err := c.do(ctx, "/v1/items?"+query.Encode(), kind, body, size)
		return err
	}
	if !*stored {
		made, err := c.do(ctx, "/v1/items?"+query.Encode()+"&upload=url", kind, http.NoBody, 0)
		if err != nil {
			return err
		}
		if err := c.upload(ctx, made.UploadURL, kind, body, size); err != nil {
			return err
		}
		*stored = true
	}
	path := "/v1/items/" + url.PathEscape(o.Job) + "/" + url.PathEscape(i.name) + "/commit?"
	_, err = c.do(ctx, path+query.Encode(), kind, http.NoBody, 0)
	return err
}

// accepted is what the control plane says of an item.
type accepted struct {
	UploadURL string `json:"upload_url"`
}

// do posts to the control plane.
func (c *Client) do(ctx context.Context, path, kind string, body io.Reader, size int64) (accepted, error) {
	token, err := c.Token(ctx)
	if err != nil {
		return accepted{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, body)
	if err != nil {
		return accepted{}, err
	}
	request.ContentLength = size
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", kind)
	var out accepted
	err = c.send(request, &out)
	return out, err
}

// upload puts a payload into storage. The URL itself is the permission.
func (c *Client) upload(ctx context.Context, to, kind string, body io.Reader, size int64) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return err
	}
	request.ContentLength = size
	request.Header.Set("x-ms-blob-type", "BlockBlob")
	request.Header.Set("x-ms-blob-content-type", kind)
	return c.send(request, nil)
}

// send sends a request, and reads the answer into out.
func (c *Client) send(request *http.Request, out any) error {
	answer, err := c.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusOK && answer.StatusCode < http.StatusMultipleChoices {
		if out == nil {
			return nil
		}
		return json.Unmarshal(text, out)
	}
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &body) // what is no JSON has no code
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &refusal{answer.StatusCode, body.Error.Code, body.Error.Message, time.Duration(seconds) * time.Second}
}

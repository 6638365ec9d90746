package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// File is a file of the account.
type File struct {
	ID     string
	Name   string
	Status string // lower case; "processed" before a job can be made of it
}

// Ready tells whether a job can be made of the file.
func (f File) Ready() bool { return f.Status == "processed" }

// Failed tells whether the account could not read the file.
func (f File) Failed() bool { return f.Status == "error" }

func file(r gjson.Result) File {
	return File{ID: r.Get("id").String(), Name: r.Get("filename").String(), Status: strings.ToLower(r.Get("status").String())}
}

// Upload sends what write writes as a batch input of that name, which the account
// deletes after expiry seconds.
func (c *Client) Upload(ctx context.Context, name string, expiry int, write func(io.Writer) error) (File, error) {
	read, pipe := io.Pipe()
	form := multipart.NewWriter(pipe)
	go func() { pipe.CloseWithError(fill(form, name, expiry, write)) }()
	defer func() { _ = read.Close() }() // ends the writer if the account does not read on
	answer, _, err := c.ask(ctx, http.MethodPost, "/files", form.FormDataContentType(), read, uploadTimeout)
	if err != nil {
		return File{}, err
	}
	return file(answer), nil
}

// fill writes the form of an upload.
func fill(form *multipart.Writer, name string, expiry int, write func(io.Writer) error) error {
	for _, field := range [][2]string{
		{"purpose", "batch"},
		{"expires_after[anchor]", "created_at"},
		{"expires_after[seconds]", strconv.Itoa(expiry)},
	} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	// The account refuses a part without a content type.
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, name)},
		"Content-Type":        {"application/jsonl"},
	})
	if err != nil {
		return err
	}
	if err := write(part); err != nil {
		return err
	}
	return form.Close()
}

// File is the file of that id.
func (c *Client) File(ctx context.Context, id string) (File, error) {
	answer, _, err := c.ask(ctx, http.MethodGet, "/files/"+escape(id), "", nil, callTimeout)
	if err != nil {
		return File{}, err
	}
	return file(answer), nil
}

// FilesNamed are the batch inputs of that name.
func (c *Client) FilesNamed(ctx context.Context, name string) ([]File, error) {
	var out []File
	err := c.pages(ctx, "/files", url.Values{"purpose": {"batch"}}, func(r gjson.Result) {
		if f := file(r); f.Name == name {
			out = append(out, f)
		}
	})
	return out, err
}

// Delete removes a file. That there is none is no error.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, _, err := c.ask(ctx, http.MethodDelete, "/files/"+escape(id), "", nil, callTimeout)
	if IsNotFound(err) {
		return nil
	}
	return err
}

// Content is what a file holds. Its reader fails if it ends before the length that
// the account has named, or stands still. The caller closes it.
func (c *Client) Content(ctx context.Context, id string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	patience := time.AfterFunc(c.Idle, func() {
		cancel(fmt.Errorf("account: content of file %s: nothing came for %s", id, c.Idle))
	})
	response, err := c.do(ctx, http.MethodGet, "/files/"+escape(id)+"/content", "", nil) //nolint:bodyclose // content closes it
	patience.Stop()
	if err != nil {
		err = why(ctx, err)
		cancel(nil)
		return nil, err
	}
	return &content{ctx: ctx, cancel: cancel, body: response.Body, idle: c.Idle, patience: patience}, nil
}

// content is an answer of which nobody knows how long it takes.
type content struct {
	ctx      context.Context // of the one call whose answer it is
	cancel   context.CancelCauseFunc
	body     io.ReadCloser
	idle     time.Duration
	patience *time.Timer // runs only while the account is waited for
}

func (c *content) Read(p []byte) (int, error) {
	c.patience.Reset(c.idle)
	n, err := c.body.Read(p)
	c.patience.Stop()
	return n, why(c.ctx, err)
}

// why names what has ended a call, if it did not end by itself.
func why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && err != nil && !errors.Is(err, io.EOF) {
		return cause
	}
	return err
}

func (c *content) Close() error {
	c.patience.Stop()
	defer c.cancel(nil)
	return c.body.Close()
}

// pages calls f with every object of a list.
func (c *Client) pages(ctx context.Context, path string, query url.Values, f func(gjson.Result)) error {
	query.Set("limit", strconv.Itoa(pageSize))
	for {
		answer, _, err := c.ask(ctx, http.MethodGet, path+"?"+query.Encode(), "", nil, callTimeout)
		if err != nil {
			return err
		}
		last := ""
		answer.Get("data").ForEach(func(_, r gjson.Result) bool {
			last = r.Get("id").String()
			f(r)
			return true
		})
		if !answer.Get("has_more").Bool() || last == "" || last == query.Get("after") {
			return nil
		}
		query.Set("after", last)
	}
}

// pageSize is the most objects that a list answers at once.
const pageSize = 100

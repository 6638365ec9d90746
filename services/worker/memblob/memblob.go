// Package memblob is a test kit: block blobs in memory, behind the transport of the
// real client. It takes no network and no time of its own, so it works where time is
// virtual. What a worker does not use is missing, and answers 501. The tests of
// package store hold it against Azurite.
package memblob

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

// Account is a storage account.
type Account struct {
	mu    sync.Mutex
	blobs map[string]*blob // by path, with the container
	etags int
	fails func(*http.Request) int
}

// blob is a block blob.
type blob struct {
	content  []byte
	header   http.Header // content type and metadata
	etag     string
	at       time.Time
	names    []string          // of its blocks
	blocks   map[string][]byte // of those, by name
	uncommit map[string][]byte
}

// New returns an empty account.
func New() *Account { return &Account{blobs: map[string]*blob{}} }

// Container is a client of a container, which needs not be made.
func (a *Account) Container(t testing.TB, name string) *container.Client {
	t.Helper()
	client, err := container.NewClientWithNoCredential("https://memory/"+name, &container.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: a, Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	require.NoError(t, err)
	return client
}

// Fails makes requests fail: status is asked about each, and 0 lets it pass. It must
// not use the account.
func (a *Account) Fails(status func(*http.Request) int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails = status
}

// Put puts a blob there, and returns its ETag.
func (a *Account) Put(path, contentType string, content []byte) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := &blob{header: http.Header{"Content-Type": {contentType}}}
	a.blobs["/"+path] = b
	a.commit(b, content)
	return b.etag
}

// Paths are the paths of all blobs below a prefix, sorted.
func (a *Account) Paths(prefix string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []string
	for path, b := range a.blobs {
		if b.etag != "" && strings.HasPrefix(path, "/"+prefix) {
			out = append(out, path[1:])
		}
	}
	slices.Sort(out)
	return out
}

// Get is the content of a blob, and its metadata by name in lower case; nil for none.
func (a *Account) Get(path string) (content []byte, metadata map[string]string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.blobs["/"+path]
	if b == nil || b.etag == "" {
		return nil, nil
	}
	metadata = map[string]string{}
	for name := range b.header {
		if key, ok := strings.CutPrefix(strings.ToLower(name), "x-ms-meta-"); ok {
			metadata[key] = b.header.Get(name)
		}
	}
	return b.content, metadata
}

// commit gives a blob its content.
func (a *Account) commit(b *blob, content []byte) {
	a.etags++
	b.content, b.etag, b.at = content, fmt.Sprintf(`"0x%X"`, a.etags), time.Now()
}

// Do implements policy.Transporter.
func (a *Account) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := &http.Response{Request: r, Header: http.Header{}, StatusCode: http.StatusCreated, Body: http.NoBody}
	if a.fails != nil {
		if status := a.fails(r); status != 0 {
			return refuse(answer, status, "InternalError"), nil
		}
	}
	b := a.blobs[r.URL.Path]
	if b == nil {
		b = &blob{}
	}
	if r.Method == http.MethodPut {
		return a.put(r, answer, b, body), nil
	}
	if b.etag == "" {
		return refuse(answer, http.StatusNotFound, "BlobNotFound"), nil
	}
	if want := r.Header.Get("If-Match"); want != "" && want != b.etag {
		return refuse(answer, http.StatusPreconditionFailed, "ConditionNotMet"), nil
	}
	answer.StatusCode = http.StatusOK
	maps.Copy(answer.Header, b.header)
	b.say(answer)
	switch comp := r.URL.Query().Get("comp"); {
	case comp == "blocklist":
		list := blockList{}
		for _, name := range b.names {
			list.Committed.Blocks = append(list.Committed.Blocks, block{name, len(b.blocks[name])})
		}
		text, err := xml.Marshal(list)
		if err != nil {
			return nil, err
		}
		answer.Header.Set("Content-Type", "application/xml")
		answer.Body = io.NopCloser(bytes.NewReader(text))
	case comp != "":
		return refuse(answer, http.StatusNotImplemented, comp), nil
	default:
		answer.ContentLength = int64(len(b.content))
		answer.Header.Set("Content-Length", strconv.Itoa(len(b.content)))
		if r.Method == http.MethodGet {
			answer.Body = io.NopCloser(bytes.NewReader(b.content))
		}
	}
	return answer, nil
}

// put writes a blob, a block, or a list of blocks.
func (a *Account) put(r *http.Request, answer *http.Response, b *blob, body []byte) *http.Response {
	if want := r.Header.Get("If-Match"); want != "" && want != b.etag {
		return refuse(answer, http.StatusPreconditionFailed, "ConditionNotMet")
	}
	if r.Header.Get("If-None-Match") == "*" && b.etag != "" {
		return refuse(answer, http.StatusConflict, "BlobAlreadyExists")
	}
	a.blobs[r.URL.Path] = b
	switch comp := r.URL.Query().Get("comp"); comp {
	case "block":
		if b.uncommit == nil {
			b.uncommit = map[string][]byte{}
		}
		b.uncommit[r.URL.Query().Get("blockid")] = body
		return answer
	case "blocklist":
		var list struct{ Latest []string }
		if err := xml.Unmarshal(body, &list); err != nil {
			return refuse(answer, http.StatusBadRequest, "InvalidXmlDocument")
		}
		blocks, content := map[string][]byte{}, []byte{}
		for _, name := range list.Latest {
			data, ok := b.uncommit[name]
			if !ok {
				data, ok = b.blocks[name]
			}
			if !ok {
				return refuse(answer, http.StatusBadRequest, "InvalidBlockList")
			}
			blocks[name] = data
			content = append(content, data...)
		}
		b.names, b.blocks, b.uncommit = list.Latest, blocks, nil
		a.commit(b, content)
	case "":
		b.names, b.blocks, b.uncommit = nil, nil, nil
		a.commit(b, body)
	default:
		return refuse(answer, http.StatusNotImplemented, comp)
	}
	b.header = http.Header{}
	for name, values := range r.Header { // whose names the client writes in lower case
		switch name = http.CanonicalHeaderKey(name); {
		case name == "X-Ms-Blob-Content-Type":
			b.header["Content-Type"] = values
		case strings.HasPrefix(name, "X-Ms-Meta-"):
			b.header[name] = values
		}
	}
	b.say(answer)
	return answer
}

// say tells what the blob is now.
func (b *blob) say(answer *http.Response) {
	answer.Header.Set("ETag", b.etag)
	answer.Header.Set("Last-Modified", b.at.UTC().Format(http.TimeFormat))
}

// blockList is a list of blocks as the service writes it.
type blockList struct {
	XMLName   xml.Name `xml:"BlockList"`
	Committed struct {
		Blocks []block `xml:"Block"`
	} `xml:"CommittedBlocks"`
}

type block struct {
	Name string
	Size int
}

// refuse answers with a code of the service.
func refuse(answer *http.Response, status int, code string) *http.Response {
	answer.StatusCode = status
	answer.Header.Set("x-ms-error-code", code)
	return answer
}

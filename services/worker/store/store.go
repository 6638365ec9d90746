// Package store owns where payloads are read and results are written: two containers
// of Blob storage. Results lie at paths that follow from their items, and say in
// their metadata what they answer.
package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// Errors of payloads and results that no second try mends.
var (
	ErrMissing = errors.New("payload_missing") // the blob is gone
	ErrChanged = errors.New("payload_changed") // the blob is another one
	// ErrTaken says that somebody else writes the same result at the same time.
	ErrTaken = errors.New("another worker writes this result")
)

// Store reads payloads and writes results.
type Store struct {
	Payloads, Results *container.Client
}

// Payload is a payload that is read from storage as it is used.
type Payload struct {
	ContentType string
	Size        int64
	Body        io.ReadCloser
}

// Open opens the payload at a blob, which must have the ETag. A connection that
// breaks is opened again where it broke.
func (s *Store) Open(ctx context.Context, name, etag string) (Payload, error) {
	at := s.Payloads.NewBlobClient(name)
	got, err := at.DownloadStream(ctx, &blob.DownloadStreamOptions{
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: new(azcore.ETag(etag))}},
	})
	switch {
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return Payload{}, ErrMissing
	case bloberror.HasCode(err, bloberror.ConditionNotMet):
		return Payload{}, s.changed(ctx, at)
	case err != nil:
		return Payload{}, err
	}
	p := Payload{Body: got.NewRetryReader(ctx, nil)}
	if got.ContentType != nil {
		p.ContentType = *got.ContentType
	}
	if got.ContentLength != nil {
		p.Size = *got.ContentLength
	}
	return p, nil
}

// changed says why a blob does not have its ETag: services differ in what they say of
// one that is gone.
func (s *Store) changed(ctx context.Context, at *blob.Client) error {
	_, err := at.GetProperties(ctx, nil)
	switch {
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return ErrMissing
	case err != nil:
		return err
	}
	return ErrChanged
}

// Result is what lies at the path of an item, or will.
type Result struct {
	Meta
	At     time.Time // when it was written; zero while there is nothing
	blob   *blockblob.Client
	etag   *azcore.ETag // nil while there is nothing
	blocks []string     // of one that is partial
}

// Find finds what lies at a path: an empty Meta for nothing.
func (s *Store) Find(ctx context.Context, path string) (*Result, error) {
	r := &Result{blob: s.Results.NewBlockBlobClient(path)}
	got, err := r.blob.GetProperties(ctx, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.etag, r.At = got.ETag, at(got.LastModified)
	r.Meta = parseMeta(got.Metadata)
	if r.Outcome != Partial {
		return r, nil
	}
	list, err := r.blob.GetBlockList(ctx, blockblob.BlockListTypeCommitted, nil)
	if err != nil {
		return nil, err
	}
	for _, b := range list.CommittedBlocks {
		r.blocks = append(r.blocks, *b.Name)
	}
	return r, nil
}

// Put writes a whole result in place of what was found. It fails with ErrTaken when
// somebody else wrote since this one looked.
func (r *Result) Put(ctx context.Context, lines []byte, meta Meta) error {
	got, err := r.blob.Upload(ctx, streaming.NopCloser(bytes.NewReader(lines)), &blockblob.UploadOptions{
		HTTPHeaders: headers(), Metadata: meta.format(), AccessConditions: r.unchanged(),
	})
	if err != nil {
		return taken(err)
	}
	r.Meta, r.At, r.etag, r.blocks = meta, at(got.LastModified), got.ETag, nil
	return nil
}

// unchanged is the condition that nobody else wrote.
func (r *Result) unchanged() *blob.AccessConditions {
	condition := &blob.ModifiedAccessConditions{IfMatch: r.etag}
	if r.etag == nil {
		condition.IfNoneMatch = to.Ptr(azcore.ETagAny)
	}
	return &blob.AccessConditions{ModifiedAccessConditions: condition}
}

// taken names the error of a condition that does not hold.
func taken(err error) error {
	if bloberror.HasCode(err, bloberror.ConditionNotMet, bloberror.BlobAlreadyExists) {
		return ErrTaken
	}
	return err
}

// at is a time that the service said.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Restart forgets what lies there: the first Append then takes its place.
func (r *Result) Restart() { r.Meta, r.blocks = Meta{}, nil }

// Append adds lines to a result, which is whole when meta says so. It fails with
// ErrTaken when somebody else wrote since this one looked.
func (r *Result) Append(ctx context.Context, lines []byte, meta Meta) error {
	blocks := slices.Clone(r.blocks)
	if len(lines) > 0 {
		name := blockName(len(blocks), lines)
		if _, err := r.blob.StageBlock(ctx, name, streaming.NopCloser(bytes.NewReader(lines)), nil); err != nil {
			return err
		}
		blocks = append(blocks, name)
	}
	got, err := r.blob.CommitBlockList(ctx, blocks, &blockblob.CommitBlockListOptions{
		HTTPHeaders: headers(), Metadata: meta.format(), AccessConditions: r.unchanged(),
	})
	if err != nil {
		return taken(err)
	}
	r.Meta, r.At, r.etag, r.blocks = meta, at(got.LastModified), got.ETag, blocks
	return nil
}

// blockName names a block by its place and content: another writer's block of the
// same place, which was never committed, must not be taken for it.
func blockName(place int, lines []byte) string {
	sum := sha256.Sum256(lines)
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%08d-%x", place, sum[:8]))
}

func headers() *blob.HTTPHeaders {
	return &blob.HTTPHeaders{BlobContentType: new("application/jsonl")}
}

// Outcome is how far a result is, and what it says.
type Outcome string

// The outcomes of results.
const (
	Answered Outcome = "answered"
	Refused  Outcome = "refused"
	Partial  Outcome = "partial"
)

// Meta is what a result's metadata says.
type Meta struct {
	Key, Payload, Alias, Correlation string
	Outcome                          Outcome
	Items, Refused, Failed           int
	Prompt, Cached, Completion       int // tokens
}

// Answers says whether this is the whole result of an item's payload.
func (m Meta) Answers(key, etag string) bool {
	return m.Continues(key, etag) && m.Outcome != Partial
}

// Continues says whether this is a result, or a part of one, of an item's payload.
func (m Meta) Continues(key, etag string) bool {
	return m.Outcome != "" && m.Key == key && m.Payload == bare(etag)
}

// bare is an ETag without quotes, which metadata would have to escape.
func bare(etag string) string { return strings.Trim(etag, `"`) }

// texts are the fields by their names in metadata.
func (m *Meta) texts() map[string]*string {
	return map[string]*string{"key": &m.Key, "payload": &m.Payload, "alias": &m.Alias, "correlation": &m.Correlation, "outcome": (*string)(&m.Outcome)}
}

func (m *Meta) numbers() map[string]*int {
	return map[string]*int{"items": &m.Items, "refused": &m.Refused, "failed": &m.Failed, "prompt_tokens": &m.Prompt, "cached_tokens": &m.Cached, "completion_tokens": &m.Completion}
}

func (m Meta) format() map[string]*string {
	m.Payload = bare(m.Payload)
	out := maps.Clone(m.texts())
	for name, n := range m.numbers() {
		out[name] = new(strconv.Itoa(*n))
	}
	return out
}

// parseMeta reads metadata. Its names come back in another case than they went.
func parseMeta(metadata map[string]*string) Meta {
	var m Meta
	texts, numbers := m.texts(), m.numbers()
	for name, value := range metadata {
		if value == nil {
			continue
		}
		name = strings.ToLower(name)
		if text, ok := texts[name]; ok {
			*text = *value
		}
		if number, ok := numbers[name]; ok {
			*number, _ = strconv.Atoi(*value)
		}
	}
	return m
}

package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
)

// Azure holds blobs in Azure Storage. The containers must exist.
type Azure struct{ client *azblob.Client }

// NewAzure is the store that client speaks to.
func NewAzure(client *azblob.Client) *Azure { return &Azure{client} }

// blockBytes is how much of a blob is held at a time. With 50,000 blocks at the most,
// one has up to 200 GB.
// https://learn.microsoft.com/rest/api/storageservices/understanding-block-blobs--append-blobs--and-page-blobs
const blockBytes = 4 << 20

// sumKey is the metadata that has the hash of the bytes which Write made a blob of.
const sumKey = "sha256"

// Write implements Store. Azure gives every write another ETag, so what is there
// already is not written. And no write replaces what it has not seen: of two at once
// with the same bytes, the second finds what the first has made.
func (a *Azure) Write(ctx context.Context, container, name string, r io.Reader) (Info, error) {
	to, hash := a.blob(container, name), sha256.New()
	list, size, err := stage(ctx, to, io.TeeReader(r, hash))
	if err != nil {
		return Info{}, fmt.Errorf("blobs: write %s/%s: %w", container, name, err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	there, is, err := a.known(ctx, container, name)
	only := &blob.ModifiedAccessConditions{IfMatch: new(azcore.ETag(there.ETag))}
	switch {
	case errors.Is(err, ErrNotFound):
		only = &blob.ModifiedAccessConditions{IfNoneMatch: new(azcore.ETagAny)}
	case err != nil:
		return Info{}, err
	case is == sum:
		return there, nil
	}
	made, err := to.CommitBlockList(ctx, list, &blockblob.CommitBlockListOptions{
		Metadata: map[string]*string{sumKey: &sum}, AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: only},
	})
	if err != nil { // another write came first, or this one has, and its answer was lost
		if there, is, failed := a.known(ctx, container, name); failed == nil && is == sum {
			return there, nil
		}
		return Info{}, fmt.Errorf("blobs: write %s/%s: %w", container, name, err)
	}
	info := Info{Name: name, Size: size}
	if made.ETag != nil {
		info.ETag = string(*made.ETag)
	}
	return info, nil
}

// stage puts what r has into blocks that are no blob yet. Those that never become one
// are gone after a week.
func stage(ctx context.Context, to *blockblob.Client, r io.Reader) (list []string, size int64, err error) {
	var block bytes.Buffer
	for {
		block.Reset()
		n, end := io.CopyN(&block, r, blockBytes)
		if end != nil && !errors.Is(end, io.EOF) {
			return nil, 0, end
		}
		if n > 0 {
			// Ids have one length, and two writes at once the same ids for the same bytes alone.
			id := fmt.Appendf(nil, "%08d%x", len(list), sha256.Sum256(block.Bytes()))
			list, size = append(list, base64.StdEncoding.EncodeToString(id[:64])), size+n
			if _, err := to.StageBlock(ctx, list[len(list)-1], streaming.NopCloser(bytes.NewReader(block.Bytes())), nil); err != nil {
				return nil, 0, err
			}
		}
		if end != nil {
			return list, size, nil //nolint:nilerr // io.EOF
		}
	}
}

// Read implements Store.
func (a *Azure) Read(ctx context.Context, container, name string, offset, length int64) (io.ReadCloser, error) {
	if length == 0 { // Azure has no empty range
		_, err := a.Stat(ctx, container, name)
		return io.NopCloser(&io.LimitedReader{}), err
	}
	count := length
	if length < 0 {
		count = blob.CountToEnd
	}
	found, err := a.client.DownloadStream(ctx, container, name, &azblob.DownloadStreamOptions{Range: azblob.HTTPRange{Offset: offset, Count: count}})
	switch {
	case missing(err):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("blobs: read %s/%s: %w", container, name, err)
	}
	return found.NewRetryReader(ctx, &azblob.RetryReaderOptions{MaxRetries: 3}), nil
}

// Stat implements Store.
func (a *Azure) Stat(ctx context.Context, container, name string) (Info, error) {
	info, _, err := a.known(ctx, container, name)
	return info, err
}

// known is what is known of a blob, and the hash of what Write made it of; "" where
// somebody else made it.
func (a *Azure) known(ctx context.Context, container, name string) (info Info, sum string, err error) {
	found, err := a.blob(container, name).GetProperties(ctx, nil)
	switch {
	case missing(err):
		return Info{}, "", ErrNotFound
	case err != nil:
		return Info{}, "", fmt.Errorf("blobs: stat %s/%s: %w", container, name, err)
	}
	info = Info{Name: name}
	if found.ContentLength != nil {
		info.Size = *found.ContentLength
	}
	if found.ETag != nil {
		info.ETag = string(*found.ETag)
	}
	for key, value := range found.Metadata { // in another case than it went
		if strings.EqualFold(key, sumKey) && value != nil {
			sum = *value
		}
	}
	return info, sum, nil
}

func (a *Azure) blob(container, name string) *blockblob.Client {
	return a.client.ServiceClient().NewContainerClient(container).NewBlockBlobClient(name)
}

// missing tells whether there is no such blob.
func missing(err error) bool {
	return bloberror.HasCode(err, bloberror.BlobNotFound)
}

// Delete implements Store.
func (a *Azure) Delete(ctx context.Context, container, name string) error {
	if _, err := a.client.DeleteBlob(ctx, container, name, nil); err != nil && !missing(err) {
		return fmt.Errorf("blobs: delete %s/%s: %w", container, name, err)
	}
	return nil
}

// List implements Store.
func (a *Azure) List(ctx context.Context, container, prefix string) ([]Info, error) {
	var out []Info
	pages := a.client.NewListBlobsFlatPager(container, &azblob.ListBlobsFlatOptions{Prefix: &prefix})
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("blobs: list %s/%s: %w", container, prefix, err)
		}
		for _, item := range page.Segment.BlobItems {
			info := Info{Name: *item.Name}
			if item.Properties != nil && item.Properties.ContentLength != nil {
				info.Size = *item.Properties.ContentLength
			}
			if item.Properties != nil && item.Properties.ETag != nil {
				info.ETag = string(*item.Properties.ETag)
			}
			out = append(out, info)
		}
	}
	return out, nil
}

// UploadURL is a URL with which its holder may make that one blob until it expires:
// a SAS that the caller's identity signs, for no account key is allowed.
// https://learn.microsoft.com/rest/api/storageservices/create-user-delegation-sas
func (a *Azure) UploadURL(ctx context.Context, container, name string, from, until time.Time) (string, error) {
	start, expiry := from.UTC().Format(sas.TimeFormat), until.UTC().Format(sas.TimeFormat)
	key, err := a.client.ServiceClient().GetUserDelegationCredential(ctx, service.KeyInfo{Start: &start, Expiry: &expiry}, nil)
	if err != nil {
		return "", fmt.Errorf("blobs: delegation key: %w", err)
	}
	signed, err := sas.BlobSignatureValues{
		Protocol: sas.ProtocolHTTPS, StartTime: from.UTC(), ExpiryTime: until.UTC(), ContainerName: container, BlobName: name,
		Permissions: (&sas.BlobPermissions{Create: true, Write: true}).String(),
	}.SignWithUserDelegation(key)
	if err != nil {
		return "", fmt.Errorf("blobs: sign: %w", err)
	}
	return a.blob(container, name).URL() + "?" + signed.Encode(), nil
}

package blobs

import (
	"context"
	"fmt"
	"io"
	"time"

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

// How a blob is written: two blocks on their way at a time. With 50,000 blocks at
// the most, that is up to 200 GB.
// https://learn.microsoft.com/rest/api/storageservices/understanding-block-blobs--append-blobs--and-page-blobs
const (
	blockBytes = 4 << 20
	blocks     = 2
)

// Write implements Store.
func (a *Azure) Write(ctx context.Context, container, name string, r io.Reader) (Info, error) {
	count := &counted{Reader: r}
	made, err := a.client.UploadStream(ctx, container, name, count, &azblob.UploadStreamOptions{BlockSize: blockBytes, Concurrency: blocks})
	if err != nil {
		return Info{}, fmt.Errorf("blobs: write %s/%s: %w", container, name, err)
	}
	info := Info{Name: name, Size: count.n}
	if made.ETag != nil {
		info.ETag = string(*made.ETag)
	}
	return info, nil
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
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
	found, err := a.blob(container, name).GetProperties(ctx, nil)
	switch {
	case missing(err):
		return Info{}, ErrNotFound
	case err != nil:
		return Info{}, fmt.Errorf("blobs: stat %s/%s: %w", container, name, err)
	}
	info := Info{Name: name}
	if found.ContentLength != nil {
		info.Size = *found.ContentLength
	}
	if found.ETag != nil {
		info.ETag = string(*found.ETag)
	}
	return info, nil
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

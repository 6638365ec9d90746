package azurite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/azurite"
)

// The real clients work with tokens: a blob once, a row under its etag.
func TestRealClientsWithTokens(t *testing.T) {
	t.Parallel()
	s := azurite.Start(t)
	options := azcore.ClientOptions{Transport: s.Client, Retry: policy.RetryOptions{MaxRetries: -1}}

	blobs, err := azblob.NewClient(s.BlobURL, s.Credential, &azblob.ClientOptions{ClientOptions: options})
	require.NoError(t, err)
	_, err = blobs.CreateContainer(t.Context(), "payloads", nil)
	require.NoError(t, err)
	once := &azblob.UploadStreamOptions{AccessConditions: &azblob.AccessConditions{
		ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: new(azcore.ETagAny)},
	}}
	_, err = blobs.UploadStream(t.Context(), "payloads", "a/b", strings.NewReader("text"), once)
	require.NoError(t, err)
	_, err = blobs.UploadStream(t.Context(), "payloads", "a/b", strings.NewReader("other"), once)
	assert.True(t, bloberror.HasCode(err, bloberror.BlobAlreadyExists), "%v", err)

	delegation, err := blobs.ServiceClient().GetUserDelegationCredential(t.Context(), service.KeyInfo{
		Start: new(time.Now().UTC().Format(sas.TimeFormat)), Expiry: new(time.Now().Add(time.Hour).UTC().Format(sas.TimeFormat)),
	}, nil)
	require.NoError(t, err)
	assert.NotNil(t, delegation)

	tables, err := aztables.NewServiceClient(s.TableURL, s.Credential, &aztables.ClientOptions{ClientOptions: options})
	require.NoError(t, err)
	_, err = tables.CreateTable(t.Context(), "ledger", nil)
	require.NoError(t, err)
	ledger := tables.NewClient("ledger")
	row := []byte(`{"PartitionKey":"p","RowKey":"r","State":"reserved"}`)
	added, err := ledger.AddEntity(t.Context(), row, nil)
	require.NoError(t, err)
	replace := &aztables.UpdateEntityOptions{IfMatch: &added.ETag, UpdateMode: aztables.UpdateModeReplace}
	_, err = ledger.UpdateEntity(t.Context(), row, replace)
	require.NoError(t, err)
	_, err = ledger.UpdateEntity(t.Context(), row, replace)
	var refused *azcore.ResponseError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 412, refused.StatusCode, "the etag has changed")
}

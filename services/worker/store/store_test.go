package store

import (
	"io"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/azurite"
	"onedoor/services/worker/memblob"
)

// TestInMemory and TestAgainstAzurite ask the same of both: what our own stand-in
// accepts must not be a matter of our own opinion.
func TestInMemory(t *testing.T) {
	t.Parallel()
	account := memblob.New()
	all(t, func(t *testing.T, name string) *container.Client { t.Helper(); return account.Container(t, name) })
}

func TestAgainstAzurite(t *testing.T) {
	t.Parallel()
	server := azurite.Start(t)
	all(t, func(t *testing.T, name string) *container.Client {
		t.Helper()
		client, err := container.NewClient(server.BlobURL+"/"+name, server.Credential, &container.ClientOptions{
			ClientOptions: azcore.ClientOptions{Transport: server.Client},
		})
		require.NoError(t, err)
		_, err = client.Create(t.Context(), nil)
		require.NoError(t, err)
		return client
	})
}

func all(t *testing.T, open func(*testing.T, string) *container.Client) {
	t.Helper()
	s := &Store{Payloads: open(t, "payloads"), Results: open(t, "results")}
	for name, test := range map[string]func(*testing.T, *Store){
		"Payloads": payloads, "WholeResults": wholeResults, "PartialResults": partialResults, "TwoWriters": twoWriters, "Restarts": restarts,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s) })
	}
}

func payloads(t *testing.T, s *Store) {
	t.Helper()
	put := func(text string) string {
		got, err := s.Payloads.NewBlockBlobClient("a/b/1").UploadBuffer(t.Context(), []byte(text), &blockblob.UploadBufferOptions{
			HTTPHeaders: &blob.HTTPHeaders{BlobContentType: new("text/plain")},
		})
		require.NoError(t, err)
		return string(*got.ETag)
	}
	etag := put("hello")
	p, err := s.Open(t.Context(), "a/b/1", etag)
	require.NoError(t, err)
	defer func() { _ = p.Body.Close() }()
	text, err := io.ReadAll(p.Body)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))
	assert.Equal(t, "text/plain", p.ContentType)
	assert.EqualValues(t, 5, p.Size)
	put("other")
	_, err = s.Open(t.Context(), "a/b/1", etag)
	require.ErrorIs(t, err, ErrChanged)
	_, err = s.Open(t.Context(), "a/b/2", etag)
	require.ErrorIs(t, err, ErrMissing)
}

// read reads a result's lines.
func read(t *testing.T, s *Store, path string) string {
	t.Helper()
	got, err := s.Results.NewBlobClient(path).DownloadStream(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return string(text)
}

func find(t *testing.T, s *Store, path string) *Result {
	t.Helper()
	r, err := s.Find(t.Context(), path)
	require.NoError(t, err)
	return r
}

func metaOf(outcome Outcome, items int) Meta {
	return Meta{Key: "job:1", Payload: `"0x1"`, Alias: "small", Correlation: "c", Outcome: outcome, Items: items, Refused: 1, Failed: 2, Prompt: 10, Cached: 3, Completion: 5}
}

func wholeResults(t *testing.T, s *Store) {
	t.Helper()
	r := find(t, s, "t/j/whole")
	assert.Equal(t, Meta{}, r.Meta)
	assert.False(t, r.Answers("", ""), "nothing answers nothing")
	require.NoError(t, r.Put(t.Context(), []byte("one\n"), metaOf(Answered, 1)))
	r = find(t, s, "t/j/whole")
	want := metaOf(Answered, 1)
	want.Payload = "0x1"
	assert.Equal(t, want, r.Meta)
	assert.WithinDuration(t, time.Now(), r.At, time.Minute)
	assert.True(t, r.Answers("job:1", `"0x1"`))
	assert.False(t, r.Answers("job:2", `"0x1"`), "another item's")
	assert.False(t, r.Answers("job:1", `"0x2"`), "another payload's")
	require.NoError(t, r.Put(t.Context(), []byte("two\n"), metaOf(Refused, 1)))
	assert.Equal(t, "two\n", read(t, s, "t/j/whole"))
}

func partialResults(t *testing.T, s *Store) {
	t.Helper()
	r := find(t, s, "t/j/partial")
	require.NoError(t, r.Append(t.Context(), []byte("1\n2\n"), metaOf(Partial, 2)))
	require.NoError(t, r.Append(t.Context(), []byte("3\n"), metaOf(Partial, 3)))
	r = find(t, s, "t/j/partial") // of the next delivery
	assert.Equal(t, 3, r.Items)
	assert.False(t, r.Answers("job:1", `"0x1"`))
	assert.True(t, r.Continues("job:1", `"0x1"`))
	require.NoError(t, r.Append(t.Context(), []byte("4\n"), metaOf(Partial, 4)))
	require.NoError(t, r.Append(t.Context(), nil, metaOf(Answered, 4)))
	assert.Equal(t, "1\n2\n3\n4\n", read(t, s, "t/j/partial"))
	assert.True(t, find(t, s, "t/j/partial").Answers("job:1", `"0x1"`))
}

// A worker that lost its lock and does not know yet must not spoil what the next one
// writes.
func twoWriters(t *testing.T, s *Store) {
	t.Helper()
	first, second := find(t, s, "t/j/two"), find(t, s, "t/j/two")
	require.NoError(t, first.Append(t.Context(), []byte("first\n"), metaOf(Partial, 1)))
	require.ErrorIs(t, second.Append(t.Context(), []byte("second\n"), metaOf(Partial, 1)), ErrTaken)
	second = find(t, s, "t/j/two")
	require.NoError(t, second.Append(t.Context(), []byte("second\n"), metaOf(Answered, 2)))
	require.ErrorIs(t, first.Append(t.Context(), []byte("third\n"), metaOf(Answered, 2)), ErrTaken)
	assert.Equal(t, "first\nsecond\n", read(t, s, "t/j/two"))
	for _, path := range []string{"t/j/two", "t/j/new"} {
		first, second := find(t, s, path), find(t, s, path)
		require.NoError(t, first.Put(t.Context(), []byte("first\n"), metaOf(Answered, 1)))
		require.ErrorIs(t, second.Put(t.Context(), []byte("second\n"), metaOf(Answered, 1)), ErrTaken)
		assert.Equal(t, "first\n", read(t, s, path))
	}
}

func restarts(t *testing.T, s *Store) {
	t.Helper()
	r := find(t, s, "t/j/again")
	require.NoError(t, r.Append(t.Context(), []byte("1\n"), metaOf(Answered, 1)))
	r = find(t, s, "t/j/again")
	r.Restart()
	require.NoError(t, r.Append(t.Context(), []byte("new\n"), metaOf(Partial, 1)))
	assert.Equal(t, "new\n", read(t, s, "t/j/again"))
}

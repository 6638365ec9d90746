package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/blobs"
	"onedoor/services/internal/azurite"
)

// emulated is an emulator's storage with a container "con", whose requests go through
// those policies.
func emulated(t *testing.T, through ...policy.Policy) *blobs.Azure {
	t.Helper()
	s := azurite.Start(t)
	client, err := azblob.NewClient(s.BlobURL, s.Credential, &azblob.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: s.Client, Retry: policy.RetryOptions{MaxRetries: -1}, PerCallPolicies: through,
	}})
	require.NoError(t, err)
	_, err = client.CreateContainer(t.Context(), "con", nil)
	require.NoError(t, err)
	return blobs.NewAzure(client)
}

var stores = map[string]func(*testing.T) blobs.Store{
	"Dir":   func(t *testing.T) blobs.Store { t.Helper(); return blobs.Dir(t.TempDir()) },
	"Azure": func(t *testing.T) blobs.Store { t.Helper(); return emulated(t) },
}

func read(t *testing.T, s blobs.Store, name string, offset, length int64) string {
	t.Helper()
	in, err := s.Read(context.Background(), "con", name, offset, length)
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	return string(text)
}

// Every store keeps the same promises.
func TestStores(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := open(t), context.Background()
			_, err := s.Read(ctx, "con", "a/b", 0, -1)
			require.ErrorIs(t, err, blobs.ErrNotFound)
			_, err = s.Stat(ctx, "con", "a/b")
			require.ErrorIs(t, err, blobs.ErrNotFound)
			require.NoError(t, s.Delete(ctx, "con", "a/b"))

			made, err := s.Write(ctx, "con", "a/b", strings.NewReader("0123456789"))
			require.NoError(t, err)
			assert.Equal(t, int64(10), made.Size)
			known, err := s.Stat(ctx, "con", "a/b")
			require.NoError(t, err)
			assert.Equal(t, made, known)
			assert.Equal(t, "0123456789", read(t, s, "a/b", 0, -1))
			assert.Equal(t, "345", read(t, s, "a/b", 3, 3))
			assert.Equal(t, "789", read(t, s, "a/b", 7, -1))
			assert.Empty(t, read(t, s, "a/b", 3, 0))

			again, err := s.Write(ctx, "con", "a/b", strings.NewReader("other"))
			require.NoError(t, err)
			assert.NotEqual(t, made.ETag, again.ETag)
			_, err = s.Write(ctx, "con", "a", strings.NewReader(""))
			require.NoError(t, err, "a blob may be named as a directory of others")
			assert.Empty(t, read(t, s, "a", 0, -1))
			_, err = s.Write(ctx, "con", "b", strings.NewReader("x"))
			require.NoError(t, err)
			found, err := s.List(ctx, "con", "a/")
			require.NoError(t, err)
			require.Len(t, found, 1)
			assert.Equal(t, []any{"a/b", int64(5)}, []any{found[0].Name, found[0].Size})
			found, err = s.List(ctx, "con", "")
			require.NoError(t, err)
			assert.Len(t, found, 3)
			require.NoError(t, s.Delete(ctx, "con", "a/b"))
			_, err = s.Stat(ctx, "con", "a/b")
			require.ErrorIs(t, err, blobs.ErrNotFound)
		})
	}
}

// Half an upload is no blob, and replaces none.
func TestAWriteThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := open(t), context.Background()
			large := bytes.Repeat([]byte("x"), 9<<20) // more than two blocks
			cut := func() io.Reader { return io.MultiReader(bytes.NewReader(large), iotest.ErrReader(broken)) }
			_, err := s.Write(ctx, "con", "n", cut())
			require.ErrorIs(t, err, broken)
			_, err = s.Stat(ctx, "con", "n")
			require.ErrorIs(t, err, blobs.ErrNotFound)
			_, err = s.Write(ctx, "con", "n", strings.NewReader("whole"))
			require.NoError(t, err)
			_, err = s.Write(ctx, "con", "n", cut())
			require.Error(t, err)
			assert.Equal(t, "whole", read(t, s, "n", 0, -1))
			found, err := s.List(ctx, "con", "")
			require.NoError(t, err)
			assert.Len(t, found, 1)
			_, err = s.Write(ctx, "con", "n", bytes.NewReader(large))
			require.NoError(t, err)
			assert.Equal(t, string(large[:10]), read(t, s, "n", 5<<20, 10))
		})
	}
}

// Whoever posts the same again names the same blob: by the ETag, it is the payload that
// was posted before.
func TestTheSameBytesAreTheSameBlob(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := open(t), context.Background()
			for size, bytes := range map[string]string{"empty": "", "small": "x", "a block": strings.Repeat("x", 4<<20)} {
				write := func(text string) blobs.Info {
					info, err := s.Write(ctx, "con", "n", strings.NewReader(text))
					require.NoError(t, err)
					known, err := s.Stat(ctx, "con", "n")
					require.NoError(t, err)
					assert.Equal(t, info, known)
					return info
				}
				first := write(bytes)
				assert.Equal(t, first, write(bytes), size)
				assert.NotEqual(t, first.ETag, write(bytes+"y").ETag, size)
				write(bytes)
				assert.Equal(t, bytes, read(t, s, "n", 0, -1), size)
			}
		})
	}
}

// meanwhile does something before the first request that makes a blob.
type meanwhile struct{ do func() }

func (m *meanwhile) Do(r *policy.Request) (*http.Response, error) {
	if query := r.Raw().URL.Query(); r.Raw().Method == http.MethodPut && query.Get("restype") == "" && query.Get("comp") != "block" {
		if do := m.do; do != nil {
			m.do = nil
			do()
		}
	}
	return r.Next()
}

// A write that another one overtakes replaces nothing: it is the other one's if the
// bytes are the same, else its caller writes again.
func TestWritesAtOnceMakeOneBlob(t *testing.T) {
	t.Parallel()
	m := &meanwhile{}
	s, ctx := emulated(t, m), context.Background()
	for name, c := range map[string]struct{ before, overtakes, text string }{
		"new":     {"", "x", "x"},
		"changed": {"before", "x", "x"},
		"blocks":  {"", strings.Repeat("x", 9<<20), strings.Repeat("x", 9<<20)},
		"other":   {"", "other", "x"},
		"others":  {"before", "other", "x"},
	} {
		write := func(text string) (blobs.Info, error) { return s.Write(ctx, "con", name, strings.NewReader(text)) }
		if c.before != "" {
			_, err := write(c.before)
			require.NoError(t, err, name)
		}
		var first blobs.Info
		m.do = func() {
			var err error
			first, err = write(c.overtakes)
			assert.NoError(t, err, name)
		}
		second, err := write(c.text)
		if c.overtakes == c.text {
			require.NoError(t, err, name)
			assert.Equal(t, first, second, name)
			continue
		}
		require.Error(t, err, name)
		assert.Equal(t, c.overtakes, read(t, s, name, 0, -1), name)
		_, err = write(c.text)
		require.NoError(t, err, name)
	}
}

func TestAPipeMakesABlobOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	s, ctx := blobs.Dir(t.TempDir()), context.Background()
	p := blobs.NewPipe(ctx, s, "con", "n")
	_, err := p.Write([]byte("ab"))
	require.NoError(t, err)
	_, err = p.Write([]byte("cd"))
	require.NoError(t, err)
	info, err := p.Close(nil)
	require.NoError(t, err)
	assert.Equal(t, []any{"n", int64(4)}, []any{info.Name, info.Size})
	assert.Equal(t, "abcd", read(t, s, "n", 0, -1))

	info, err = blobs.NewPipe(ctx, s, "con", "none").Close(nil)
	require.NoError(t, err)
	assert.Empty(t, info.Name)
	failed := blobs.NewPipe(ctx, s, "con", "failed")
	_, err = failed.Write([]byte("x"))
	require.NoError(t, err)
	cause := errors.New("cause")
	_, err = failed.Close(cause)
	require.ErrorIs(t, err, cause)
	found, err := s.List(ctx, "con", "")
	require.NoError(t, err)
	assert.Len(t, found, 1)

	down := blobs.NewPipe(ctx, s, "con", "../out") // a store that gives up does not hold a writer up
	for range 10 {
		if _, err = down.Write(make([]byte, 1<<20)); err != nil {
			break
		}
	}
	require.Error(t, err)
	_, err = down.Close(nil)
	require.ErrorContains(t, err, `name "../out"`)
}

// Whoever has the URL may make the one blob, and read none. The emulator hands out
// the key, but does not know signatures of the client's version: what is signed is
// read here.
func TestASignedURLMakesOneBlob(t *testing.T) {
	t.Parallel()
	s := emulated(t)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	text, err := s.UploadURL(t.Context(), "con", "desk/j/1", now, now.Add(time.Hour))
	require.NoError(t, err)
	signed, err := url.Parse(text)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(signed.Path, "/con/desk/j/1"), signed.Path)
	q := signed.Query()
	assert.Equal(t, []string{"cw", "b", "https", "2026-11-29T12:00:00Z", "2026-11-29T13:00:00Z"}, []string{q.Get("sp"), q.Get("sr"), q.Get("spr"), q.Get("st"), q.Get("se")})
	assert.NotEmpty(t, q.Get("skoid"), "it is signed by an identity, not by the account's key")
	assert.NotEmpty(t, q.Get("sig"))
}

package ledger_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/ledger"
	"onedoor/services/internal/azurite"
)

// tables are all kinds of table, empty.
var tables = map[string]func(*testing.T) ledger.Table{
	"Memory": func(*testing.T) ledger.Table { return ledger.NewLocal() },
	"Journal": func(t *testing.T) ledger.Table {
		t.Helper()
		l, err := ledger.OpenLocal(filepath.Join(t.TempDir(), "journal"))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, l.Close()) })
		return l
	},
	"Azure": func(t *testing.T) ledger.Table {
		t.Helper()
		s := azurite.Start(t)
		options := azcore.ClientOptions{Transport: s.Client, Retry: policy.RetryOptions{MaxRetries: -1}}
		service, err := aztables.NewServiceClient(s.TableURL, s.Credential, &aztables.ClientOptions{ClientOptions: options})
		require.NoError(t, err)
		_, err = service.CreateTable(t.Context(), "ledger", nil)
		require.NoError(t, err)
		return ledger.NewAzure(service.NewClient("ledger"))
	},
}

func document(partition, row, data string) ledger.Document {
	return ledger.Document{Key: ledger.Key{Partition: partition, Row: row}, Data: []byte(data)}
}

// Every table keeps the same promises.
func TestTables(t *testing.T) {
	t.Parallel()
	for name, open := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, ctx := open(t), context.Background()
			_, err := table.Get(ctx, ledger.Key{Partition: "p", Row: "r"})
			require.ErrorIs(t, err, ledger.ErrNotFound)
			_, err = table.Replace(ctx, document("p", "r", "1"))
			require.Error(t, err)

			first, err := table.Insert(ctx, document("p", "r", "1"))
			require.NoError(t, err)
			_, err = table.Insert(ctx, document("p", "r", "2"))
			require.ErrorIs(t, err, ledger.ErrExists)
			got, err := table.Get(ctx, ledger.Key{Partition: "p", Row: "r"})
			require.NoError(t, err)
			assert.Equal(t, ledger.Document{Key: ledger.Key{Partition: "p", Row: "r"}, ETag: first, Data: []byte("1")}, got)

			next := got
			next.Data, next.Open = []byte("2"), true
			second, err := table.Replace(ctx, next)
			require.NoError(t, err)
			assert.NotEqual(t, first, second)
			stale := got
			stale.Data = []byte("3")
			_, err = table.Replace(ctx, stale)
			require.ErrorIs(t, err, ledger.ErrChanged)
			require.ErrorIs(t, table.Delete(ctx, stale), ledger.ErrChanged)
			got, err = table.Get(ctx, ledger.Key{Partition: "p", Row: "r"})
			require.NoError(t, err)
			assert.Equal(t, []byte("2"), got.Data)
			assert.True(t, got.Open)

			require.NoError(t, table.Delete(ctx, got))
			require.NoError(t, table.Delete(ctx, got), "a second time is no error")
			_, err = table.Get(ctx, got.Key)
			require.ErrorIs(t, err, ledger.ErrNotFound)
		})
	}
}

func TestTablesList(t *testing.T) {
	t.Parallel()
	for name, open := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, ctx := open(t), context.Background()
			for _, row := range []string{"c", "a", "e", "b", "d"} {
				d := document("p", row, row)
				d.Open = row == "a" || row == "d" || row == "e"
				_, err := table.Insert(ctx, d)
				require.NoError(t, err)
			}
			_, err := table.Insert(ctx, document("q", "a", ""))
			require.NoError(t, err)
			rows := func(q ledger.Query) string {
				found, err := table.List(ctx, q)
				require.NoError(t, err)
				var out strings.Builder
				for _, d := range found {
					out.WriteString(d.Row + " ")
				}
				return out.String()
			}
			for _, c := range []struct {
				want string
				q    ledger.Query
			}{
				{"a b c d e ", ledger.Query{Partition: "p"}},
				{"a b ", ledger.Query{Partition: "p", Limit: 2}},
				{"c d ", ledger.Query{Partition: "p", After: "b", Limit: 2}},
				{"c d e ", ledger.Query{Partition: "p", After: "b' or true or '"}},
				{"a d e ", ledger.Query{Partition: "p", Open: true}},
				{"d ", ledger.Query{Partition: "p", Open: true, After: "a", Limit: 1}},
				{"", ledger.Query{Partition: "p", After: "e"}},
				{"", ledger.Query{Partition: "none"}},
			} {
				assert.Equal(t, c.want, rows(c.q), "%+v", c.q)
			}
		})
	}
}

// A job of many parts does not fit in one property of Azure's.
func TestTablesTakeLargeDocuments(t *testing.T) {
	t.Parallel()
	for name, open := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, ctx := open(t), context.Background()
			for _, size := range []int{0, 64 << 10, 64<<10 + 1, ledger.MaxData} {
				d := document("p", strconv.Itoa(size), "")
				d.Data = bytes.Repeat([]byte("é"), size/2+1)[:size]
				_, err := table.Insert(ctx, d)
				require.NoError(t, err)
				got, err := table.Get(ctx, d.Key)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(d.Data, got.Data), "%d bytes", size)
			}
			_, err := table.Insert(ctx, document("p", "more", string(make([]byte, ledger.MaxData+1))))
			require.ErrorContains(t, err, "want at most 786432")
		})
	}
}

// An answer of Azure's that was lost makes its client ask again, and find itself.
func TestASecondTryOfTheSameWriteIsNoRefusal(t *testing.T) {
	t.Parallel()
	table, ctx := tables["Azure"](t), context.Background()
	first, err := table.Insert(ctx, document("p", "r", "1"))
	require.NoError(t, err)
	again, err := table.Insert(ctx, document("p", "r", "1"))
	require.NoError(t, err)
	assert.Equal(t, first, again)
	d := document("p", "r", "2")
	d.ETag = first
	second, err := table.Replace(ctx, d)
	require.NoError(t, err)
	again, err = table.Replace(ctx, d)
	require.NoError(t, err)
	assert.Equal(t, second, again)
}

// What was written before a kill is there after it; what was half written is not.
func TestAJournalIsReadAgain(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "journal"), context.Background()
	table, err := ledger.OpenLocal(path)
	require.NoError(t, err)
	etag, err := table.Insert(ctx, document("p", "a", "1"))
	require.NoError(t, err)
	_, err = table.Insert(ctx, document("p", "b", "1"))
	require.NoError(t, err)
	d := document("p", "a", "2")
	d.ETag = etag
	etag, err = table.Replace(ctx, d)
	require.NoError(t, err)
	gone, err := table.Get(ctx, ledger.Key{Partition: "p", Row: "b"})
	require.NoError(t, err)
	require.NoError(t, table.Delete(ctx, gone))
	require.NoError(t, table.Close())
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"Partition":"p","Row":"c"`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	table, err = ledger.OpenLocal(path)
	require.NoError(t, err)
	all, err := table.List(ctx, ledger.Query{Partition: "p"})
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "2", string(all[0].Data))
	assert.Equal(t, etag, all[0].ETag)
	_, err = table.Insert(ctx, document("p", "d", "1"))
	require.NoError(t, err)
	require.NoError(t, table.Close())
	table, err = ledger.OpenLocal(path)
	require.NoError(t, err)
	all, err = table.List(ctx, ledger.Query{Partition: "p"})
	require.NoError(t, err)
	assert.Len(t, all, 2)
	require.NoError(t, table.Close())
}

package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/sim/openai"
)

var errDown = errors.New("down")

// outage is storage that can be down.
type outage struct {
	ledger.Table
	blobs.Store
	down bool
}

func (o *outage) table() ledger.Table { return downTable{o} }
func (o *outage) store() blobs.Store  { return downStore{o} }

type downTable struct{ *outage }

func (d downTable) Insert(ctx context.Context, doc ledger.Document) (string, error) {
	if d.down {
		return "", errDown
	}
	return d.Table.Insert(ctx, doc)
}

func (d downTable) Replace(ctx context.Context, doc ledger.Document) (string, error) {
	if d.down {
		return "", errDown
	}
	return d.Table.Replace(ctx, doc)
}

func (d downTable) Get(ctx context.Context, key ledger.Key) (ledger.Document, error) {
	if d.down {
		return ledger.Document{}, errDown
	}
	return d.Table.Get(ctx, key)
}

func (d downTable) List(ctx context.Context, q ledger.Query) ([]ledger.Document, error) {
	if d.down {
		return nil, errDown
	}
	return d.Table.List(ctx, q)
}

func (d downTable) Delete(ctx context.Context, doc ledger.Document) error {
	return d.Table.Delete(ctx, doc)
}

type downStore struct{ *outage }

func (d downStore) Write(ctx context.Context, container, name string, r io.Reader) (blobs.Info, error) {
	if d.down {
		return blobs.Info{}, errDown
	}
	return d.Store.Write(ctx, container, name, r)
}

func (d downStore) Delete(ctx context.Context, container, name string) error {
	return d.Store.Delete(ctx, container, name)
}

func (d downStore) List(ctx context.Context, container, prefix string) ([]blobs.Info, error) {
	return d.Store.List(ctx, container, prefix)
}

// Storage is down: callers are told to come back, and what was accepted goes on
// when it is up again.
func TestAnOutageOfStorageLosesNothing(t *testing.T) {
	t.Parallel()
	w := open(t)
	stores := &outage{Table: w.table, Store: w.blobs}
	var log bytes.Buffer
	s, err := service.New(service.Parts{
		Settings: given(), Table: stores.table(), Blobs: stores.store(), Bus: w.bus, Account: account.New(w.azure, credential("control-plane"), http.DefaultClient),
		Identity: callers{}, KeysDir: w.keys, Signing: "2", Scratch: t.TempDir(), Now: w.sim.Now, Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	require.NoError(t, err)
	w.Service, w.faulty = s, true
	id := w.submit("desk", line("a", "chat", "a secret prompt")+line("b", "chat", "[sim:busy] another secret"), nil)
	w.pass(2 * time.Minute)
	stores.down = true
	for _, c := range [][3]string{{"GET", "/v1/batches/" + id, ""}, {"GET", "/v1/batches", ""}, {"POST", "/v1/items?modality=text&alias=small", "payload"}} {
		status, got, header := w.call(c[0], c[1], "desk", "text/plain", c[2])
		refused(t, 503, "service_unavailable", status, got)
		assert.Equal(t, "10", header.Get("Retry-After"))
		assert.NotContains(t, got, "down", "what is the matter is for the log")
	}
	contentType, body := form("purpose", "batch", "file", lines(2))
	status, got, _ := w.call(http.MethodPost, "/v1/files", "desk", contentType, body)
	refused(t, 503, "service_unavailable", status, got)
	ready := httptest.NewRecorder()
	s.Status().ServeHTTP(ready, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	assert.Equal(t, http.StatusServiceUnavailable, ready.Code)
	w.pass(10 * time.Minute) // nobody writes down what happens meanwhile
	stores.down = false
	ready = httptest.NewRecorder()
	s.Status().ServeHTTP(ready, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	assert.Equal(t, http.StatusOK, ready.Code)
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	w.balanced(j)

	// Neither logs nor metrics hold a part of what was asked or answered.
	assert.NotContains(t, log.String(), "secret")
	assert.Contains(t, log.String(), `"event":"batch.job.terminal"`)
	metrics := httptest.NewRecorder()
	s.Status().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	assert.NotContains(t, metrics.Body.String(), "secret")
	for _, name := range []string{`onedoor_leader 0`, `onedoor_batch_events_total{event="batch.job.terminal",status="completed"} 1`, `route="GET /v1/batches/{id}",status="503"`} {
		assert.Contains(t, metrics.Body.String(), name)
	}
	for line := range bytes.Lines(log.Bytes()) {
		assert.True(t, gjson.ValidBytes(line), "%s", line)
	}
}

// The account is down: jobs are taken, and wait.
func TestAnOutageOfTheAccountLetsJobsWait(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.faulty = true
	w.sim.Inject(openai.Fault{Status: 503, Code: "503", Times: 200})
	id := w.submit("desk", lines(3), nil)
	w.pass(30 * time.Minute)
	assert.True(t, w.job("desk", id).Open())
	assert.Empty(t, w.atAzure())
	j := w.ended("desk", id)
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, w.atAzure(), 1)
	w.balanced(j)
}

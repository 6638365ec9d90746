package service_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	client "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/insights"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/outbox"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/controlplane/service"
	"onedoor/services/internal/ingestion"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

const accountName = "oai-batch-test"

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// given are settings that tests change their subject in.
func given() settings.Settings {
	return settings.Settings{
		Region: "swedencentral", Audience: "api://test",
		Aliases: map[string]settings.Alias{
			"chat": {Deployment: "chat-batch", Model: "gpt-5.1", SKU: "GlobalBatch", Residency: "global", EnqueuedTokens: 50_000},
			"zone": {Deployment: "zone-batch", Model: "gpt-5.1", SKU: "DataZoneBatch", Residency: "dataZone", EnqueuedTokens: 50_000},
		},
		Plans: map[string]settings.Plan{
			"full":  {Aliases: []string{"chat", "zone", "small"}},
			"small": {Aliases: []string{"zone"}, Quota: 2000, Period: "Daily"},
		},
		Tenants: map[string]settings.Tenant{
			"desk": {Plan: "full", Residency: "global"},
			"labs": {Plan: "full", Residency: "global"},
			"home": {Plan: "full", Residency: "dataZone"},
			"mini": {Plan: "small", Residency: "global"},
		},
		Queues: map[string]settings.Intake{
			"text": {ContentType: "application/vnd.onedoor.text+json", Payloads: "payloads-text", Results: "results-text", Alias: "small", TimeToLiveSeconds: 3600},
		},
		NightlyJobs:    map[string]settings.Nightly{"tickets": {Schedule: "0 1 * * *", Tenant: "desk", Alias: "chat", Source: "nightly/tickets/", DeadlineSeconds: 86_400}},
		InputContainer: "batch-input", OutputContainer: "batch-output",
		OutputExpirySeconds: 1_209_600, PollSeconds: 60, DeadlineSeconds: 86_400,
		MaxLines: 100_000, MaxFileBytes: 200_000_000, MaxFilesInTheAccount: 10_000,
	}
}

// callers takes a tenant's name, "nightly" or "worker-text" for a token.
type callers struct{}

func (callers) Verify(_ context.Context, token string) (identity.Caller, error) {
	switch token {
	case "nightly":
		return identity.Caller{Nightly: true}, nil
	case "worker-text":
		return identity.Caller{Modality: "text"}, nil
	case "nobody":
		return identity.Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "no such token")
	}
	return identity.Caller{Tenant: token}, nil
}

// credential is a token that the simulated account knows.
type credential string

func (c credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// azure is a simulated account with a server.
func azure(t *testing.T, change func(*openai.Config)) (*openai.Service, string) {
	t.Helper()
	c := openai.Config{
		Config: core.Config{
			Start: start,
			Accounts: []core.Account{{Name: accountName, Region: "swedencentral", Deployments: []core.Deployment{
				{Name: "chat-batch", Model: "gpt-5.1", SKU: "GlobalBatch", Capacity: 50},
				{Name: "zone-batch", Model: "gpt-5.1", SKU: "DataZoneBatch", Capacity: 50},
			}}},
			Behaviour: core.DefaultBehaviour(),
		},
		Issued: func(token string) (core.Principal, bool) {
			p, ok := map[string]core.Principal{
				"control-plane": {ID: "control-plane", Actions: az.BatchSubmitter.DataActions},
				"rogue":         {ID: "rogue", Actions: []string{"Microsoft.CognitiveServices/accounts/OpenAI/*"}},
			}[token]
			return p, ok
		},
	}
	if change != nil {
		change(&c)
	}
	sim := openai.New(c)
	server := httptest.NewServer(sim.Handler(openai.Entry{Account: accountName}))
	t.Cleanup(server.Close)
	return sim, server.URL
}

// world is a control plane before a simulated account, in virtual time.
type world struct {
	t *testing.T
	*service.Service
	sim   *openai.Service
	azure string // URL of the account
	url   string // of the door
	table ledger.Table
	blobs blobs.Dir
	bus   *intake.Memory
	keys  string
	sink  *ingestion.Service // that events go to

	faulty bool          // ticks may fail in part
	idle   time.Duration // for how long a content may stand still; 0 for as long as it may

	mu     sync.Mutex
	events []schedule.Event
}

// change changes what a world is made of.
type change struct {
	settings func(*settings.Settings)
	azure    func(*openai.Config)
}

func open(t *testing.T, changes ...change) *world {
	t.Helper()
	s := given()
	w := &world{t: t, table: ledger.NewLocal(), blobs: blobs.Dir(t.TempDir()), bus: &intake.Memory{}, keys: keys(t)}
	var ofAzure func(*openai.Config)
	for _, c := range changes {
		if c.settings != nil {
			c.settings(&s)
		}
		if c.azure != nil {
			ofAzure = c.azure
		}
	}
	w.sim, w.azure = azure(t, ofAzure)
	w.sink = &ingestion.Service{Key: "key", Token: "control-plane", Resource: "/appi", Now: w.sim.Now}
	w.start(s)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.Handler().ServeHTTP(rw, r) }))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// start starts a control plane, as after a crash: all it knows is in the stores.
func (w *world) start(s settings.Settings) {
	w.t.Helper()
	var events outbox.Sink
	if w.sink != nil {
		server := httptest.NewTLSServer(w.sink)
		w.t.Cleanup(server.Close)
		events = &insights.Client{Target: insights.Target{Endpoint: server.URL, Key: "key"}, Token: credential("control-plane"), HTTP: server.Client(), Now: w.sim.Now}
	}
	at := account.New(w.azure, credential("control-plane"), http.DefaultClient)
	at.Idle = cmp.Or(w.idle, at.Idle)
	made, err := service.New(service.Parts{
		Settings: s, Table: w.table, Events: events, Blobs: w.blobs, Bus: w.bus, Account: at,
		Identity: callers{}, KeysDir: w.keys, Signing: "2", Scratch: w.t.TempDir(), Now: w.sim.Now, Log: quiet(), Emit: func(_ context.Context, e schedule.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, e)
		},
	})
	require.NoError(w.t, err)
	w.Service = made
}

// behind puts a server before the account, which answers as f says, and starts a
// control plane that knows the account by it.
func (w *world) behind(f func(rw http.ResponseWriter, r *http.Request, account http.Handler)) {
	w.t.Helper()
	account := w.sim.Handler(openai.Entry{Account: accountName})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { f(rw, r, account) }))
	w.t.Cleanup(server.Close)
	w.azure = server.URL
	w.start(given())
}

// isContent tells whether somebody asks the account for what a file holds.
func isContent(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/content") }

func quiet() *slog.Logger {
	if os.Getenv("ONEDOOR_TEST_LOG") != "" {
		return slog.Default()
	}
	return slog.New(slog.DiscardHandler)
}

// keys makes a directory with keys 1 and 2.
func keys(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, id := range []string{"1", "2"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, id), []byte(strings.Repeat(id, 64)), 0o600))
	}
	return dir
}

// as is OpenAI's client for the door, as a tenant.
func (w *world) as(tenant string) client.Client {
	return client.NewClient(option.WithBaseURL(w.url+"/v1"), option.WithAPIKey(tenant), option.WithMaxRetries(0))
}

// tick is one step of the leader.
func (w *world) tick() {
	w.t.Helper()
	err := w.Tick(context.Background())
	if !w.faulty {
		require.NoError(w.t, err)
	}
}

// pass lets time pass in steps of 30 s, with a tick after each.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	for range d / (30 * time.Second) {
		require.NoError(w.t, w.sim.Advance(30*time.Second))
		w.tick()
	}
}

// until lets time pass until the tenant's job is as wanted, for three days at the
// most.
func (w *world) until(tenant, id string, is func(*jobs.Job) bool) *jobs.Job {
	w.t.Helper()
	for range 3 * 24 * 120 {
		j := w.job(tenant, id)
		if is(j) {
			return j
		}
		w.pass(30 * time.Second)
	}
	require.Fail(w.t, "the job does not get there", "%+v", w.job(tenant, id))
	return nil
}

func (w *world) ended(tenant, id string) *jobs.Job {
	w.t.Helper()
	return w.until(tenant, id, func(j *jobs.Job) bool { return !j.Open() })
}

func (w *world) job(tenant, id string) *jobs.Job {
	w.t.Helper()
	j, err := jobs.Store{Table: w.table}.Job(context.Background(), tenant, id)
	require.NoError(w.t, err)
	return j
}

// line is a request of a file.
func line(id, model, prompt string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":%q}]}}`+"\n", id, model, prompt)
}

// lines are n harmless requests, row-0 and so on.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(fmt.Sprintf("row-%d", i), "chat", fmt.Sprintf("ticket %d", i)))
	}
	return b.String()
}

// upload uploads a file, which must be taken.
func (w *world) upload(tenant, content string) string {
	w.t.Helper()
	api := w.as(tenant)
	file, err := api.Files.New(context.Background(), client.FileNewParams{
		File: client.File(strings.NewReader(content), "in.jsonl", "application/jsonl"), Purpose: client.FilePurposeBatch,
	})
	require.NoError(w.t, err)
	return file.ID
}

// create makes a job of a file, which must be taken.
func (w *world) create(tenant, file string, metadata map[string]string) string {
	w.t.Helper()
	api := w.as(tenant)
	batch, err := api.Batches.New(context.Background(), client.BatchNewParams{
		InputFileID: file, Endpoint: "/v1/chat/completions", CompletionWindow: "24h", Metadata: metadata,
	})
	require.NoError(w.t, err)
	return batch.ID
}

// submit is upload and create.
func (w *world) submit(tenant, content string, metadata map[string]string) string {
	w.t.Helper()
	return w.create(tenant, w.upload(tenant, content), metadata)
}

// content is that of a tenant's file.
func (w *world) content(tenant, id string) string {
	w.t.Helper()
	api := w.as(tenant)
	response, err := api.Files.Content(context.Background(), id)
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return string(text)
}

// heard are the events of that name.
func (w *world) heard(name string) []schedule.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []schedule.Event
	for _, e := range w.events {
		if e.Name == name {
			out = append(out, e)
		}
	}
	return out
}

// call calls the door without a client.
func (w *world) call(method, path, tenant, contentType, body string) (int, string, http.Header) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, w.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	request.Header.Set("Authorization", "Bearer "+tenant)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(w.t, err)
	return response.StatusCode, string(text), response.Header
}

// keyOf is where the ledger has a job.
func keyOf(tenant, id string) ledger.Key { return ledger.Key{Partition: "job." + tenant, Row: id} }

func writeKey(tb testing.TB, dir string) {
	tb.Helper()
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "1"), []byte(strings.Repeat("k", 64)), 0o600))
}

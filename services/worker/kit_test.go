package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/internal/azurite"
	"onedoor/services/internal/busfake"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/report"
	"onedoor/services/worker/settings"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// TestMain runs the tests, or a worker: a process of its own is the only thing that
// can be killed.
func TestMain(m *testing.M) {
	if code, yes := payload.Extracting(os.Args); yes {
		os.Exit(code)
	}
	if n := os.Getenv("TEST_BARE_CALLS"); n != "" {
		os.Exit(bareCalls(n))
	}
	if at := os.Getenv("TEST_WORKER_BUS"); at != "" {
		os.Exit(workerProcess(at))
	}
	os.Exit(m.Run())
}

// workerProcess is main against stand-ins, with a token from the environment.
func workerProcess(bus string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	told, err := settings.Read(os.LookupEnv)
	if err != nil {
		log.Error("settings", "error", err)
		return exitWrong
	}
	bound(told)
	insecure := &tls.Config{InsecureSkipVerify: true} // the stand-ins' own certificates
	storage := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure, MaxIdleConnsPerHost: 10}}
	return serve(ctx, told, azure{
		credential: token(os.Getenv("TEST_WORKER_TOKEN")),
		bus:        &azservicebus.ClientOptions{CustomEndpoint: bus, TLSConfig: insecure},
		containers: &container.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: storage}},
	}, log)
}

// token is a credential of one token.
type token string

func (t token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(t), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// platform is everything round workers.
type platform struct {
	t       testing.TB
	bus     *busfake.Bus
	storage *azurite.Server
	sim     *openai.Service
	gateway *httptest.Server
	control *httptest.Server
	dir     string // of keys and token

	mu      sync.Mutex
	tries   map[string]int // calls that were not answered with 429, by idempotency key
	refused map[string]int // refusals that were answered
	told    map[string]report.Item
}

const (
	lockTime = 3 * time.Second
	chatBody = `{"messages":[{"role":"user","content":%q}]}`
)

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{t: t, tries: map[string]int{}, refused: map[string]int{}, told: map[string]report.Item{}, dir: t.TempDir()}
	require.NoError(t, os.Mkdir(p.keys(), 0o700))
	require.NoError(t, os.WriteFile(p.tokenFile(), []byte("token"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.keys(), "2"), []byte(strings.Repeat("k", 64)), 0o600))
	p.bus = busfake.Start(t, busfake.Namespace{
		Queues: []busfake.Queue{{Name: "text", Lock: lockTime, Deliveries: 10}},
		Topics: []busfake.Topic{{Name: "ingest", Subscriptions: []busfake.Subscription{{ContentType: "application/vnd.onedoor.text+json", ForwardTo: "text"}}}},
	})
	p.storage = azurite.Start(t)
	for _, name := range []string{"payloads", "results"} {
		_, err := p.container(name).Create(t.Context(), nil)
		require.NoError(t, err)
	}
	p.sim = openai.New(openai.Config{
		Config: core.Config{Start: time.Now(), Accounts: []core.Account{{Name: "oai", Region: "swedencentral", Deployments: []core.Deployment{
			{Name: "small", Model: "gpt-4o-mini", Version: "2024-07-18", SKU: "GlobalStandard", Capacity: 1_000_000},
		}}}},
		Issued: func(string) (core.Principal, bool) {
			return core.Principal{ID: "gateway", Actions: []string{"*"}}, true
		},
	})
	model := p.sim.Handler(openai.Entry{Account: "oai"})
	p.gateway = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("x-onedoor-tenant") != "contoso" {
			http.Error(w, `{"error":{"code":"tenant_unknown"}}`, http.StatusForbidden)
			return
		}
		seen := &seen{ResponseWriter: w}
		defer func() { // a connection that breaks panics
			p.mu.Lock()
			defer p.mu.Unlock()
			if seen.status != http.StatusTooManyRequests {
				p.tries[r.Header.Get("Idempotency-Key")]++
			}
			if strings.Contains(seen.body.String(), "content_filter\"") {
				p.refused[r.Header.Get("Idempotency-Key")]++
			}
		}()
		model.ServeHTTP(seen, r)
	}))
	t.Cleanup(p.gateway.Close)
	p.control = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var item report.Item
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&item))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told[item.Item+" "+item.At.Format(time.RFC3339)] = item
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(p.control.Close)
	return p
}

func (p *platform) keys() string      { return filepath.Join(p.dir, "keys") }
func (p *platform) tokenFile() string { return filepath.Join(p.dir, "token") }

// seen is an answer that somebody looks at.
type seen struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (s *seen) WriteHeader(status int) { s.status = status; s.ResponseWriter.WriteHeader(status) }

func (s *seen) Write(p []byte) (int, error) { s.body.Write(p); return s.ResponseWriter.Write(p) }

func (p *platform) container(name string) *container.Client {
	p.t.Helper()
	client, err := container.NewClient(p.storage.BlobURL+"/"+name, p.storage.Credential, &container.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: p.storage.Client},
	})
	require.NoError(p.t, err)
	return client
}

// post puts a payload into storage, and its claim onto the topic.
func (p *platform) post(item, contentType, content string, change func([]byte) []byte) {
	p.t.Helper()
	m := claim.Message{Tenant: "contoso", Modality: "text", Alias: "small", Job: "job", Item: item, Correlation: "c-" + item}
	m.Blob = m.Path()
	put, err := p.container("payloads").NewBlockBlobClient(m.Blob).UploadBuffer(p.t.Context(), []byte(content), &blockblob.UploadBufferOptions{
		HTTPHeaders: &blob.HTTPHeaders{BlobContentType: new(contentType)},
	})
	require.NoError(p.t, err)
	m.ETag = string(*put.ETag)
	data, err := claim.Sign(m, ring.Ring(p.keys()), "2")
	require.NoError(p.t, err)
	if change != nil {
		data = change(data)
	}
	p.bus.Send(p.t, "ingest", &azservicebus.Message{
		MessageID: new(item), ContentType: new("application/vnd.onedoor.text+json"), Body: data,
	})
}

// process is a worker in a process of its own.
type process struct {
	*exec.Cmd
	out  *bytes.Buffer
	port int
}

// start starts a worker. more changes what it is told.
func (p *platform) start(more map[string]string) *process {
	p.t.Helper()
	w := &process{Cmd: exec.Command(os.Args[0]), out: &bytes.Buffer{}, port: freePort(p.t)}
	access, err := p.storage.Credential.GetToken(p.t.Context(), policy.TokenRequestOptions{})
	require.NoError(p.t, err)
	env := map[string]string{
		"TEST_WORKER_BUS": p.bus.Options().CustomEndpoint, "TEST_WORKER_TOKEN": access.Token,
		"ONEDOOR_ALIAS": "small", "ONEDOOR_ATTEMPTS": "4", "ONEDOOR_BACKOFF": "10ms,20ms,40ms", "ONEDOOR_BLOB_URL": p.storage.BlobURL,
		"ONEDOOR_BUS_HOST": p.bus.Host, "ONEDOOR_CHECKPOINT_ITEMS": "10", "ONEDOOR_CONTROL_PLANE_URL": p.control.URL, "ONEDOOR_TOKEN_FILE": p.tokenFile(),
		"ONEDOOR_CONTROL_PLANE_AUTHORITY": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.control.Certificate().Raw})),
		"ONEDOOR_FETCH":                   "1", "ONEDOOR_GATEWAY_AUDIENCE": "api://gateway",
		"ONEDOOR_GATEWAY_URL": p.gateway.URL + "/openai/v1", "ONEDOOR_GIVE_UP": "30s", "ONEDOOR_GRACE": "10s", "ONEDOOR_KEYS_DIR": p.keys(),
		"ONEDOOR_LOCK_RENEW": (lockTime / 3).String(), "ONEDOOR_MESSAGES": "many", "ONEDOOR_MODALITY": "text", "ONEDOOR_PARALLEL": "10",
		"ONEDOOR_PAYLOADS_CONTAINER": "payloads", "ONEDOOR_PAYLOAD_MIB": "1", "ONEDOOR_QUEUE": "text", "ONEDOOR_REQUESTS_PER_MINUTE": "1000000",
		"ONEDOOR_RESULTS_CONTAINER": "results", "ONEDOOR_STATUS_PORT": strconv.Itoa(w.port), "ONEDOOR_TOKENS_PER_MINUTE": "1000000000",
	}
	maps.Copy(env, more)
	for name, value := range env {
		w.Env = append(w.Env, name+"="+value)
	}
	w.Stdout, w.Stderr = w.out, w.out
	require.NoError(p.t, w.Start())
	p.t.Cleanup(func() { _ = w.Process.Kill() }) // unless it ended
	return w
}

// stop tells a worker to end, and returns its exit code.
func (w *process) stop(t testing.TB) int {
	t.Helper()
	require.NoError(t, w.Process.Signal(syscall.SIGTERM))
	_ = w.Wait() // the code says it
	return w.ProcessState.ExitCode()
}

// kill ends a worker at once.
func (w *process) kill(t testing.TB) {
	t.Helper()
	require.NoError(t, w.Process.Kill())
	_ = w.Wait() // it was killed
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/insights"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
)

// envVictim makes the test binary a control plane that kills itself; it holds an order.
const envVictim = "ONEDOOR_TEST_VICTIM"

// order is what a victim is told.
type order struct {
	Dir     string    // of all that lasts
	Account string    // URL, where ingestion is, too
	Now     time.Time // the virtual time
	Fuse    int64     // how many points it passes before it kills itself; 0 for never
}

func TestMain(m *testing.M) {
	if text := os.Getenv(envVictim); text != "" {
		if err := victim(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// fuse counts points: just before and just after something lasting happens.
type fuse struct {
	length int64
	passed atomic.Int64
}

func (f *fuse) pass() {
	if f.passed.Add(1) == f.length {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

type table struct {
	ledger.Table
	*fuse
}

func (t table) Insert(ctx context.Context, d ledger.Document) (string, error) {
	t.pass()
	defer t.pass()
	return t.Table.Insert(ctx, d)
}

func (t table) Replace(ctx context.Context, d ledger.Document) (string, error) {
	t.pass()
	defer t.pass()
	return t.Table.Replace(ctx, d)
}

func (t table) Delete(ctx context.Context, d ledger.Document) error {
	t.pass()
	defer t.pass()
	return t.Table.Delete(ctx, d)
}

type store struct {
	blobs.Store
	*fuse
}

func (s store) Write(ctx context.Context, container, name string, r io.Reader) (blobs.Info, error) {
	s.pass()
	defer s.pass()
	return s.Store.Write(ctx, container, name, r)
}

func (s store) Delete(ctx context.Context, container, name string) error {
	s.pass()
	defer s.pass()
	return s.Store.Delete(ctx, container, name)
}

// wire is the way to the account. What only reads changes nothing.
type wire struct{ *fuse }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		w.pass()
		defer w.pass() // the account has answered, and nobody has heard
	}
	return http.DefaultTransport.RoundTrip(r)
}

// callers takes the name of a tenant for a token.
type callers struct{}

func (callers) Verify(_ context.Context, token string) (identity.Caller, error) {
	return identity.Caller{Tenant: token}, nil
}

type credential string

func (c credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// told cuts a file of three lines into two jobs.
func told() settings.Settings {
	return settings.Settings{
		Region:         "swedencentral",
		Aliases:        map[string]settings.Alias{"chat": {Deployment: deployment, Model: "gpt-5.1", SKU: "GlobalBatch", Residency: "global", EnqueuedTokens: 50_000}},
		Plans:          map[string]settings.Plan{"plan": {Aliases: []string{"chat"}}},
		Tenants:        map[string]settings.Tenant{"desk": {Plan: "plan", Residency: "global"}, "labs": {Plan: "plan", Residency: "global"}},
		InputContainer: "batch-input", OutputContainer: "batch-output",
		OutputExpirySeconds: 14 * settings.SecondsOfADay, PollSeconds: 60, DeadlineSeconds: settings.SecondsOfADay,
		MaxLines: 2, MaxFileBytes: 200_000_000, MaxFilesInTheAccount: 10_000,
	}
}

// victim serves callers, and ticks when it is told to and what time it is, until it is
// killed. It prints its URL when it is ready.
func victim(text string) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	go func() { // nobody is left to talk to
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	f := &fuse{length: o.Fuse}
	local, err := ledger.OpenLocal(filepath.Join(o.Dir, "ledger"))
	if err != nil {
		return err
	}
	var now atomic.Pointer[time.Time]
	now.Store(&o.Now)
	s, err := service.New(service.Parts{
		Settings: told(), Table: table{local, f}, Blobs: store{blobs.Dir(filepath.Join(o.Dir, "blobs")), f}, Bus: &intake.Memory{},
		Account:  account.New(o.Account, credential(submitter), &http.Client{Transport: wire{f}}),
		Events:   &insights.Client{Target: insights.Target{Endpoint: o.Account, Key: "key"}, Token: credential(submitter), HTTP: &http.Client{Transport: wire{f}}, Now: func() time.Time { return *now.Load() }},
		Identity: callers{}, KeysDir: filepath.Join(o.Dir, "keys"), Signing: "1", Scratch: o.Dir,
		Now: func() time.Time { return *now.Load() }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.Handler())
	mux.HandleFunc("POST /tick", func(w http.ResponseWriter, r *http.Request) {
		at, err := time.Parse(time.RFC3339, r.URL.Query().Get("now"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		now.Store(&at)
		if err := s.Tick(r.Context()); err != nil {
			_, _ = io.WriteString(w, err.Error()) // the next tick tries again
		}
	})
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", at.Addr())
	return http.Serve(at, mux)
}

package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"onedoor/internal/az"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// The deployment of the demonstration.
const (
	alias       = "tickets"
	model       = "gpt-5.4-mini"
	sku         = "GlobalBatch"
	deployment  = "tickets-batch"
	accountName = "oai-batch-demo"
	capacity    = 100 // units of 1,000 enqueued tokens
)

// start is the virtual time at the beginning. It is fixed, so that two runs print the same.
var start = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// told is what a deployment would tell the control plane.
func told() settings.Settings {
	return settings.Settings{
		Region: "swedencentral",
		Aliases: map[string]settings.Alias{
			alias: {Deployment: deployment, Model: model, SKU: sku, Residency: "global", EnqueuedTokens: capacity * 1000},
		},
		Plans: map[string]settings.Plan{"desk": {Aliases: []string{alias}}},
		Tenants: map[string]settings.Tenant{
			north: {Plan: "desk", Residency: "global"},
			south: {Plan: "desk", Residency: "global"},
		},
		InputContainer: "batch-input", OutputContainer: "batch-output",
		OutputExpirySeconds: 14 * settings.SecondsOfADay, PollSeconds: 60, DeadlineSeconds: settings.SecondsOfADay,
		MaxLines: 100_000, MaxFileBytes: 200_000_000, MaxFilesInTheAccount: 10_000,
	}
}

// world is the account, the control plane before it, and servers for both.
type world struct {
	azure    *openai.Service
	plane    *service.Service
	table    *ledger.Local
	door     string // URL of the control plane
	account  string // URL of the account itself
	stopping []func() error
}

// submitter is the token of the control plane's identity. The token of a tenant is its name:
// who may do what is real here, who somebody is, is not.
const submitter = "control-plane"

// open starts everything in the directory.
func open(dir string) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	contents := filepath.Join(dir, "account")
	keys := filepath.Join(dir, "keys")
	for _, d := range []string{contents, keys} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return w, err
		}
	}
	if err := os.WriteFile(filepath.Join(keys, "1"), []byte(strings.Repeat("demo", 16)), 0o600); err != nil {
		return w, err
	}
	files, err := openai.NewDir(contents)
	if err != nil {
		return w, err
	}
	w.azure = openai.New(openai.Config{
		Config: core.Config{
			Start: start, Behaviour: core.DefaultBehaviour(),
			Accounts: []core.Account{{Name: accountName, Region: "swedencentral", Deployments: []core.Deployment{
				{Name: deployment, Model: model, SKU: sku, Capacity: capacity},
			}}},
		},
		Rules: rules(), Store: files, Issued: issued,
	})
	if w.account, err = w.serve(w.azure.Handler(openai.Entry{Account: accountName})); err != nil {
		return w, err
	}
	if w.table, err = ledger.OpenLocal(filepath.Join(dir, "ledger")); err != nil {
		return w, err
	}
	w.stopping = append(w.stopping, w.table.Close)
	w.plane, err = service.New(service.Parts{
		Settings: told(), Table: w.table, Blobs: blobs.Dir(filepath.Join(dir, "storage")), Bus: &intake.Memory{},
		Account: account.New(w.account, credential(submitter), http.DefaultClient), Identity: callers{},
		KeysDir: keys, Signing: "1", Scratch: dir, Now: w.azure.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return w, err
	}
	w.door, err = w.serve(w.plane.Handler())
	return w, err
}

// serve runs a server on a port of this machine.
func (w *world) serve(handler http.Handler) (string, error) {
	at, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is local and at once
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(at) }()
	w.stopping = append(w.stopping, func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	})
	return "http://" + at.Addr().String(), nil
}

// close stops everything, the last started first.
func (w *world) close() error {
	var errs []error
	for _, stop := range slices.Backward(w.stopping) {
		errs = append(errs, stop())
	}
	return errors.Join(errs...)
}

// issued tells the account who shows a token, with the roles that the platform gives: only the
// control plane may submit.
func issued(token string) (core.Principal, bool) {
	switch {
	case token == submitter:
		return core.Principal{ID: token, Actions: az.BatchSubmitter.DataActions}, true
	case slices.Contains(tenants, token):
		return core.Principal{ID: token, Actions: az.SyncOnly.DataActions}, true
	}
	return core.Principal{}, false
}

// callers tells the control plane the same.
type callers struct{}

// Verify implements identity.Verifier.
func (callers) Verify(_ context.Context, token string) (identity.Caller, error) {
	if slices.Contains(tenants, token) {
		return identity.Caller{Tenant: token}, nil
	}
	return identity.Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "got an unknown token, want the name of a tenant")
}

// credential is a token that the simulated account knows.
type credential string

// GetToken implements azcore.TokenCredential.
func (c credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(c), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// pass lets time pass, and the control plane do what is due.
func (w *world) pass(ctx context.Context, d time.Duration) error {
	if err := w.azure.Advance(d); err != nil {
		return err
	}
	if err := w.plane.Tick(ctx); err != nil {
		return fmt.Errorf("control plane: %w", err)
	}
	return nil
}

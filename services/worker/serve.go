package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"onedoor/internal/prices"
	"onedoor/internal/trust"
	"onedoor/services/internal/ring"
	"onedoor/services/worker/bus"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/report"
	"onedoor/services/worker/settings"
	"onedoor/services/worker/status"
	"onedoor/services/worker/store"
	"onedoor/services/worker/work"
)

// azure is how Azure is reached: but for the credential, as its clients do by
// themselves.
type azure struct {
	credential azcore.TokenCredential
	bus        *azservicebus.ClientOptions
	containers *container.ClientOptions
}

// closing is how long closing the connection to the bus may take.
const closing = 5 * time.Second

// serve works as told until the context ends, or the one message is settled.
func serve(ctx context.Context, told settings.Settings, at azure, log *slog.Logger) int {
	cost, err := costOf(told.PriceAs)
	if err != nil {
		log.Error("what the worker was told is wrong", "error", err)
		return exitWrong
	}
	client, err := azservicebus.NewClient(told.BusHost, at.credential, at.bus)
	if err != nil {
		log.Error("the bus cannot be reached", "error", err)
		return exitFailed
	}
	queue, err := bus.Open(client, told.Queue)
	if err != nil {
		log.Error("the queue cannot be reached", "error", err)
		return exitFailed
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		if err := client.Close(ctx); err != nil { // and the receiver with it
			log.Warn("the connection to the bus was not closed", "error", err)
		}
	}()
	containers, err := open(told, at)
	if err != nil {
		log.Error("the storage account cannot be reached", "error", err)
		return exitFailed
	}
	caller, err := trust.Client(told.Authority)
	if err != nil {
		log.Error("what the worker was told is wrong", "error", err)
		return exitWrong
	}
	control := &report.Reporter{URL: told.Control, TokenFile: told.TokenFile, HTTP: caller}
	window := quota.New(told.Tokens, told.Requests, rand.Float64)
	w := &work.Worker{
		Queue: queue, Keys: ring.Ring(told.Keys), Store: containers, Window: window,
		Model: model.Gather(&model.Client{URL: told.Gateway, Scope: told.Audience + "/.default", Token: at.credential, HTTP: httpClient(told.Parallel), Most: told.MaxAnswer},
			min(told.Gather, told.Parallel)),
		Maker:   payload.Maker{Modality: told.Modality, Alias: told.Alias, MaxBytes: told.MaxBytes, MaxOutput: told.MaxOutput},
		Limits:  work.Limits{Parallel: told.Parallel, Fetch: told.Fetch, Renew: told.Renew, GiveUp: told.GiveUp, Grace: told.Grace, Attempts: told.Attempts, Backoff: told.Backoff, Check: told.Check},
		Metrics: status.New(told.Queue, window.Share), Health: &status.Health{}, Report: control.Report, Cost: cost, Log: log,
	}
	return observed(ctx, w, told, log)
}

// observed works, and shows how the worker is meanwhile.
func observed(ctx context.Context, w *work.Worker, told settings.Settings, log *slog.Logger) int {
	// What it shows outlives receiving: a worker that finishes its work is alive.
	shows, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	receives, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, 1)
	go func() {
		err := status.Serve(shows, told.Port, status.Handler(w.Health, w.Metrics))
		end() // without it, nobody knows how the worker is
		done <- err
	}()
	var failed error
	if told.One {
		failed = w.RunOne(receives)
	} else {
		w.Run(receives)
	}
	stop(nil)
	if err := <-done; err != nil {
		failed = err
	}
	if failed != nil {
		log.Error("the worker failed", "error", failed)
		return exitFailed
	}
	return exitDone
}

// open opens the containers.
func open(told settings.Settings, at azure) (*store.Store, error) {
	payloads, err := container.NewClient(told.BlobURL+"/"+told.Payloads, at.credential, at.containers)
	if err != nil {
		return nil, err
	}
	results, err := container.NewClient(told.BlobURL+"/"+told.Results, at.credential, at.containers)
	if err != nil {
		return nil, err
	}
	return &store.Store{Payloads: payloads, Results: results}, nil
}

// httpClient keeps a connection for each call at once, and goes nowhere but to the
// gateway.
func httpClient(parallel int) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = parallel
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// costOf is what tokens cost by the price table; nothing when no row is named.
func costOf(name settings.Price) (func(model.Usage) float64, error) {
	if name == (settings.Price{}) {
		return func(model.Usage) float64 { return 0 }, nil
	}
	table, err := prices.Load()
	if err != nil {
		return nil, err
	}
	price, ok := table.Tokens(name.Model, name.SKU)
	if !ok {
		return nil, fmt.Errorf("ONEDOOR_PRICE_AS: the price table has no row %s/%s", name.Model, name.SKU)
	}
	return func(u model.Usage) float64 {
		return price.Cost(int64(u.Prompt), int64(u.Cached), int64(u.Completion)).Float()
	}, nil
}

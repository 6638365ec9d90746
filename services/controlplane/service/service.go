// Package service owns how the parts of the control plane are put together, the
// same for Azure and for one machine. Where they come from belongs to whoever
// calls: the program, a demonstration, a test.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"onedoor/internal/prices"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/api"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/outbox"
	"onedoor/services/controlplane/results"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/controlplane/stamp"
	"onedoor/services/controlplane/telemetry"
	"onedoor/services/controlplane/usage"
	"onedoor/services/internal/ring"
)

// Parts are what a service is made of.
type Parts struct {
	Settings settings.Settings
	Table    ledger.Table
	Blobs    blobs.Store
	Bus      intake.Bus
	Signer   intake.Signer   // nil where storage cannot sign
	Account  *account.Client // nil in a stack without batch deployments
	Identity identity.Verifier
	KeysDir  string           // directory of the keys that prove work
	Signing  string           // id of the key that new proofs are made with
	Scratch  string           // directory for rows that are put in order; "" for the system's
	Now      func() time.Time // nil for the clock
	Events   outbox.Sink      // takes events; nil where nobody asks for them
	Emit     func(context.Context, schedule.Event)
	Log      *slog.Logger
}

// Service is the control plane of one instance.
type Service struct {
	parts   Parts
	api     *api.API
	leader  *schedule.Leader
	outbox  *outbox.Outbox // nil where nobody takes events
	metrics *telemetry.Metrics
	closing atomic.Bool
	ticking atomic.Pointer[time.Time] // since when a tick runs; nil between two
}

// New puts a service together.
func New(p Parts) (*Service, error) {
	table, err := prices.Load()
	if err != nil {
		return nil, err
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	s := &Service{parts: p, metrics: telemetry.New(time.Duration(p.Settings.OutputExpirySeconds) * time.Second)}
	if p.Events != nil {
		s.outbox = &outbox.Outbox{Table: p.Table, Sink: p.Events, Now: p.Now}
	}
	store := jobs.Store{Table: p.Table}
	costs := usage.Prices{Table: table, Aliases: p.Settings.Aliases}
	s.api = &api.API{
		Settings: p.Settings, Jobs: store, Usage: usage.Store{Table: p.Table}, Prices: costs, Blobs: p.Blobs,
		Intake:   intake.Intake{Bus: p.Bus, Signer: p.Signer, Keys: ring.Ring(p.KeysDir), Signing: p.Signing},
		Identity: p.Identity, Now: p.Now, Log: p.Log, Items: s.metrics.Item, Closing: s.closing.Load,
	}
	if p.Account != nil {
		s.leader = &schedule.Leader{
			Settings: p.Settings, Jobs: store, Usage: usage.Store{Table: p.Table}, Prices: costs,
			Results: results.Store{Blobs: p.Blobs, Inputs: p.Settings.InputContainer, Outputs: p.Settings.OutputContainer, Scratch: p.Scratch},
			Account: p.Account, Stamps: stamp.Stamps{Keys: ring.Ring(p.KeysDir), Signing: p.Signing}, Now: p.Now, Emit: s.emitter(), Observe: s.metrics.Observe, Drift: s.metrics.Drift, Log: p.Log,
		}
	}
	return s, nil
}

// emitter tells of events in every way there is. The one that must not lose any comes
// first.
func (s *Service) emitter() func(context.Context, schedule.Event) error {
	tell := s.metrics.Emitter(s.parts.Log)
	return func(ctx context.Context, e schedule.Event) error {
		if s.outbox != nil {
			if err := s.outbox.Put(ctx, e); err != nil {
				return err
			}
		}
		tell(ctx, e)
		if s.parts.Emit != nil {
			s.parts.Emit(ctx, e)
		}
		return nil
	}
}

// Handler answers callers.
func (s *Service) Handler() http.Handler { return s.metrics.Calls(s.api.Handler()) }

// Status answers the platform: health, readiness and metrics.
func (s *Service) Status() http.Handler {
	mux := http.NewServeMux()
	says := func(path string, is func(context.Context) error) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := is(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte("ok\n"))
		})
	}
	says("/healthz", s.healthy)
	says("/readyz", s.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.Registry, promhttp.HandlerOpts{}))
	return mux
}

// longest is the most that a tick may take. One that takes longer hangs, or does too
// much for those who wait for the next: what it has done is written down, and whoever
// leads then goes on from there.
const longest = time.Hour

// healthy tells whether the service works. A leader whose tick hangs does not, though
// it renews its lease: once it is started anew, somebody leads who does.
func (s *Service) healthy(context.Context) error {
	if began := s.ticking.Load(); began != nil && s.parts.Now().Sub(*began) > longest {
		return fmt.Errorf("a tick runs since %s", began.UTC().Format(time.RFC3339))
	}
	return nil
}

// ready tells whether the service can take work.
func (s *Service) ready(ctx context.Context) error {
	if s.closing.Load() {
		return errors.New("stopping")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.parts.Table.Get(ctx, ledger.Key{Partition: "service", Row: "ready"})
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return errors.New("the ledger does not answer") // details are in the log
	}
	return nil
}

// Close takes no new uploads from now on.
func (s *Service) Close() { s.closing.Store(true) }

// Tick gets all jobs on as far as they go now. Only the leader calls it.
func (s *Service) Tick(ctx context.Context) error {
	if s.leader == nil {
		return nil
	}
	began := s.parts.Now()
	s.ticking.Store(&began)
	defer s.ticking.Store(nil)
	err := telemetry.Tick(ctx, s.leader.Tick)
	if s.outbox == nil {
		return err
	}
	return errors.Join(err, s.send(ctx))
}

// send sends events that wait, those of this tick among them.
func (s *Service) send(ctx context.Context) error {
	oldest, err := s.outbox.Send(ctx)
	wait := time.Duration(0)
	if !oldest.IsZero() {
		wait = max(0, s.parts.Now().Sub(oldest))
	}
	s.metrics.Waits(wait)
	return err
}

// pause is the time between two ticks.
const pause = 5 * time.Second

// Lead ticks until the context ends: call it while this instance leads.
func (s *Service) Lead(ctx context.Context) {
	s.metrics.Leads(true)
	defer s.metrics.Leads(false)
	if s.leader != nil {
		s.leader.Begin()
	}
	for ctx.Err() == nil {
		if err := s.Tick(ctx); err != nil && ctx.Err() == nil {
			s.parts.Log.Warn("not all jobs got on; the next tick tries again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Package telemetry owns what the control plane shows of itself: metrics, events,
// traces and logs. None of it ever holds a part of a prompt or of an answer.
package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/schedule"
)

// Metrics are those of docs/contracts/control-plane.md.
type Metrics struct {
	Registry *prometheus.Registry
	states   *prometheus.GaugeVec
	tokens   *prometheus.GaugeVec
	drift    *prometheus.GaugeVec
	left     *prometheus.GaugeVec
	outputs  *prometheus.GaugeVec
	items    *prometheus.CounterVec
	events   *prometheus.CounterVec
	waiting  prometheus.Gauge
	calls    *prometheus.HistogramVec
	leader   prometheus.Gauge
	keeps    time.Duration
}

// New registers the metrics. keeps is how long the account keeps the outputs of jobs.
func New(keeps time.Duration) *Metrics {
	m := &Metrics{
		keeps:    keeps,
		Registry: prometheus.NewRegistry(),
		states:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "onedoor_batch_jobs", Help: "Open jobs, by state; of the leader alone."}, []string{"state"}),
		tokens:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "onedoor_batch_enqueued_tokens", Help: "Tokens of input that count as enqueued, as reserved in the ledger; of the leader alone."}, []string{"deployment"}),
		drift:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "onedoor_batch_enqueued_drift_tokens", Help: "By how many tokens more the account counted as enqueued than the ledger when it last made a job; of the leader alone."}, []string{"deployment"}),
		left:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "onedoor_batch_deadline_seconds", Help: "What is left to the deadline of an open job; of the leader alone."}, []string{"batch_job"}),
		outputs:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "onedoor_batch_outputs_seconds", Help: "What is left at the least until the account deletes outputs that are not copied yet; of the leader alone."}, []string{"tenant", "batch_job"}),
		items:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "onedoor_intake_items_total", Help: "Items of queues, by what became of them."}, []string{"tenant", "modality", "outcome"}),
		events:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "onedoor_batch_events_total", Help: "Events, by name."}, []string{"event", "status"}),
		waiting:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "onedoor_batch_events_waiting_seconds", Help: "Age of the oldest event that Application Insights has not taken yet; of the leader alone."}),
		calls:    prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "onedoor_door_request_seconds", Help: "Calls of the API, by route and status.", Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 5, 30, 120, 600}}, []string{"route", "status"}),
		leader:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "onedoor_leader", Help: "1 in the instance that leads."}),
	}
	m.Registry.MustRegister(m.states, m.tokens, m.drift, m.left, m.outputs, m.items, m.events, m.waiting, m.calls, m.leader)
	return m
}

// Observe shows how the open jobs are.
func (m *Metrics) Observe(open []*jobs.Job, now time.Time) {
	m.states.Reset()
	m.tokens.Reset()
	m.left.Reset()
	m.outputs.Reset()
	for _, j := range open {
		if !j.Open() {
			continue
		}
		m.states.WithLabelValues(string(j.Status)).Inc()
		m.left.WithLabelValues(j.ID).Set(j.Deadline.Sub(now).Seconds())
		for n := range j.Parts {
			m.tokens.WithLabelValues(j.Deployment).Add(float64(j.Parts[n].Counts()))
		}
		if made, ok := firstOutput(j); ok {
			m.outputs.WithLabelValues(j.Tenant, j.ID).Set(made.Add(m.keeps).Sub(now).Seconds())
		}
	}
}

// firstOutput is the earliest time at which the account can have made outputs that
// are not in the platform's storage yet: it says when they were asked for, not when
// they came.
func firstOutput(j *jobs.Job) (first time.Time, ok bool) {
	for n := range j.Parts {
		if p := &j.Parts[n]; p.State == jobs.Ended && (!ok || p.Tried.Before(first)) {
			first, ok = p.Tried, true
		}
	}
	return first, ok
}

// Leads shows whether this instance leads. One that does not shows no jobs.
func (m *Metrics) Leads(yes bool) {
	if yes {
		m.leader.Set(1)
		return
	}
	m.leader.Set(0)
	m.drift.Reset()
	m.waiting.Set(0)
	m.Observe(nil, time.Time{})
}

// Drift shows by how many tokens more the account counts as enqueued than the ledger.
func (m *Metrics) Drift(deployment string, tokens int64) {
	m.drift.WithLabelValues(deployment).Set(float64(tokens))
}

// Item counts an item of a queue.
func (m *Metrics) Item(tenant, modality, outcome string) {
	m.items.WithLabelValues(tenant, modality, outcome).Inc()
}

// Waits shows for how long the oldest event has waited to be taken.
func (m *Metrics) Waits(d time.Duration) { m.waiting.Set(d.Seconds()) }

// Emitter emits events: as lines of the log whose attribute "event" names them,
// and as events of the span that they happen in.
func (m *Metrics) Emitter(log *slog.Logger) func(context.Context, schedule.Event) {
	return func(ctx context.Context, e schedule.Event) {
		level := slog.LevelInfo
		if e.Name != schedule.Submitted && e.Name != schedule.Terminal {
			level = slog.LevelError // somebody must look
		}
		log.LogAttrs(ctx, level, e.Name, slog.String("event", e.Name), slog.String("tenant", e.Tenant), slog.String("alias", e.Alias),
			slog.String("jobId", e.Job), slog.String("status", string(e.Status)), slog.String("detail", e.Detail))
		m.events.WithLabelValues(e.Name, string(e.Status)).Inc()
		trace.SpanFromContext(ctx).AddEvent(e.Name, trace.WithAttributes(
			attribute.String("tenant", e.Tenant), attribute.String("alias", e.Alias), attribute.String("jobId", e.Job), attribute.String("status", string(e.Status))))
	}
}

// tracer makes the spans. Without an exporter it costs next to nothing.
var tracer = otel.Tracer("onedoor/services/controlplane")

// Calls wraps the API with a span, which goes on with the caller's trace, and a
// measure of each call.
func (m *Metrics) Calls(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		ctx, span := tracer.Start(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)), "call", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		said := &status{ResponseWriter: w, code: http.StatusOK}
		r = r.WithContext(ctx)
		next.ServeHTTP(said, r)
		route := r.Pattern
		if route == "" {
			route = "none"
		}
		span.SetName(route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", said.code))
		if said.code >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		m.calls.WithLabelValues(route, strconv.Itoa(said.code)).Observe(time.Since(began).Seconds())
	})
}

// status remembers the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Tick wraps a step of the leader with a span.
func Tick(ctx context.Context, f func(context.Context) error) error {
	ctx, span := tracer.Start(ctx, "tick")
	defer span.End()
	err := f(ctx)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

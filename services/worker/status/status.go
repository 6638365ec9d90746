// Package status owns what a worker shows of itself: metrics, and whether it lives
// and receives.
package status

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are those of docs/contracts/worker.md.
type Metrics struct {
	Registry  *prometheus.Registry
	Items     *prometheus.CounterVec // by outcome
	Seconds   prometheus.Histogram
	Tokens    *prometheus.CounterVec // by kind
	Retries   *prometheus.CounterVec // by reason
	Throttled prometheus.Counter
	InFlight  prometheus.Gauge
	Cost      prometheus.Counter
	Share     prometheus.GaugeFunc
}

// seconds are the buckets of durations: from a short answer to the longest hold.
var seconds = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600}

// New returns the metrics of a queue's worker. share is what of its promise the
// worker uses.
func New(queue string, share func() float64) *Metrics {
	r := prometheus.NewRegistry()
	own := prometheus.WrapRegistererWith(prometheus.Labels{"queue": queue}, prometheus.WrapRegistererWithPrefix("onedoor_worker_", r))
	m := &Metrics{
		Registry:  r,
		Items:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "items_total", Help: "Items that ended, by outcome."}, []string{"outcome"}),
		Seconds:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "item_seconds", Help: "Time from receiving a message to its end.", Buckets: seconds}),
		Tokens:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tokens_total", Help: "Tokens that models counted, by kind."}, []string{"kind"}),
		Retries:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "retries_total", Help: "Tries that failed, by reason."}, []string{"reason"}),
		Throttled: prometheus.NewCounter(prometheus.CounterOpts{Name: "throttled_total", Help: "Answers with 429."}),
		InFlight:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "in_flight", Help: "Messages that are held."}),
		Cost:      prometheus.NewCounter(prometheus.CounterOpts{Name: "cost_usd_total", Help: "What the tokens cost by the price table; divided by items it is the cost of one."}),
		Share:     prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "quota_share", Help: "Part of the promised tokens a minute that is used at most, after 429s."}, share),
	}
	own.MustRegister(m.Items, m.Seconds, m.Tokens, m.Retries, m.Throttled, m.InFlight, m.Cost, m.Share)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Health is whether the worker lives and receives.
type Health struct {
	next      atomic.Int64 // until when it wants to be heard of again
	receiving atomic.Bool
}

// Within notes that the worker is heard of again within d, unless it is stuck.
func (h *Health) Within(d time.Duration) { h.next.Store(time.Now().Add(d).UnixNano()) }

// Receiving notes whether the queue answers.
func (h *Health) Receiving(yes bool) { h.receiving.Store(yes) }

// Handler answers /healthz, /readyz and /metrics.
func Handler(h *Health, m *Metrics) http.Handler {
	mux := http.NewServeMux()
	say := func(path string, good func() bool) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			if !good() {
				http.Error(w, "no", http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte("ok\n"))
		})
	}
	say("/healthz", func() bool { return time.Now().UnixNano() < h.next.Load() })
	say("/readyz", h.receiving.Load)
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
	return mux
}

// Serve serves the handler on a port until the context ends.
func Serve(ctx context.Context, port int, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

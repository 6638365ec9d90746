package work

import (
	"bytes"

	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"onedoor/internal/pause"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
	"onedoor/services/worker/memblob"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/quota"
	"onedoor/services/worker/report"
	"onedoor/services/worker/status"
	"onedoor/services/worker/store"
)

// Of the fake queue.
const (
	lock       = 30 * time.Second
	deliveries = 10 // of a message at most
)

// queue is a queue in memory, in the time of its test: locks run out, and a message
// that was delivered too often is a dead letter.
type queue struct {
	mu       sync.Mutex
	ready    []*message
	held     []*message
	dead     map[string]string // reasons, by message
	detail   map[string]string
	done     []string
	renewals int
	arrived  chan struct{}
}

type message struct {
	id         string
	body       []byte
	tries      int
	deliveries int
	until      time.Time
	round      int // of the delivery that holds it
}

func newQueue() *queue {
	return &queue{dead: map[string]string{}, detail: map[string]string{}, arrived: make(chan struct{}, 1)}
}

func (q *queue) put(id string, body []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready = append(q.ready, &message{id: id, body: body})
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// expire takes back what nobody renewed.
func (q *queue) expire() {
	q.held = slices.DeleteFunc(q.held, func(m *message) bool {
		if time.Now().Before(m.until) {
			return false
		}
		m.round++
		q.ready = append(q.ready, m)
		return true
	})
}

func (q *queue) Receive(ctx context.Context, most int) ([]Delivery, error) {
	for {
		q.mu.Lock()
		q.expire()
		var out []Delivery
		for len(q.ready) > 0 && len(out) < most {
			m := q.ready[0]
			q.ready = q.ready[1:]
			if m.deliveries++; m.deliveries > deliveries {
				q.dead[m.id] = "MaxDeliveryCountExceeded"
				continue
			}
			m.until = time.Now().Add(lock)
			q.held = append(q.held, m)
			out = append(out, &held{q, m, m.round})
		}
		q.mu.Unlock()
		if len(out) > 0 {
			return out, nil
		}
		select {
		case <-q.arrived:
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *queue) counts() (ready, held, done int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ready), len(q.held), len(q.done)
}

// held is a message that a worker holds.
type held struct {
	q     *queue
	m     *message
	round int
}

func (h *held) Body() []byte { return h.m.body }
func (h *held) Tries() int   { return h.m.tries }

// use runs what needs the lock.
func (h *held) use(do func()) error {
	h.q.mu.Lock()
	defer h.q.mu.Unlock()
	h.q.expire()
	if !slices.Contains(h.q.held, h.m) || h.m.round != h.round {
		return ErrLockLost
	}
	do()
	return nil
}

func (h *held) leave() {
	h.q.held = slices.DeleteFunc(h.q.held, func(m *message) bool { return m == h.m })
}

func (h *held) Renew(context.Context) error {
	return h.use(func() { h.m.until = time.Now().Add(lock); h.q.renewals++ })
}

func (h *held) Complete(context.Context) error {
	return h.use(func() { h.leave(); h.q.done = append(h.q.done, h.m.id) })
}

func (h *held) Abandon(_ context.Context, tries int) error {
	return h.use(func() {
		h.leave()
		h.m.tries = tries
		h.m.round++
		h.q.ready = append(h.q.ready, h.m)
		h.q.wake()
	})
}

func (h *held) DeadLetter(_ context.Context, reason, detail string) error {
	return h.use(func() { h.leave(); h.q.dead[h.m.id], h.q.detail[h.m.id] = reason, detail })
}

// gateway answers calls as it is told, by the last words of their prompts.
type gateway struct {
	mu    sync.Mutex
	calls []model.Request
	do    func(n int, r model.Request) (model.Answer, error) // n counts from 1
	takes time.Duration
	stuck string // end of the keys of calls that are never answered
}

func (g *gateway) Call(ctx context.Context, r model.Request) (model.Answer, error) {
	g.mu.Lock()
	g.calls = append(g.calls, r)
	n := len(g.calls)
	g.mu.Unlock()
	takes := g.takes
	if g.stuck != "" && strings.HasSuffix(r.Key, g.stuck) {
		takes = math.MaxInt64
	}
	if err := pause.For(ctx, takes); err != nil {
		return model.Answer{}, err
	}
	if g.do == nil {
		return answer("fine"), nil
	}
	return g.do(n, r)
}

func (g *gateway) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.calls)
}

func answer(text string) model.Answer {
	return model.Answer{Status: 200, RequestID: "r1", Body: json.RawMessage(fmt.Sprintf(`{"choices":[{"message":{"content":%q}}]}`, text)), Usage: model.Usage{Prompt: 10, Completion: 5}}
}

// world is a worker with everything round it.
type world struct {
	*Worker
	t       *testing.T
	queue   *queue
	gateway *gateway
	blobs   *memblob.Account
	log     *bytes.Buffer
	keys    ring.Ring

	mu   sync.Mutex
	told []report.Item
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1"), []byte(strings.Repeat("k", 64)), 0o600))
	w := &world{t: t, queue: newQueue(), gateway: &gateway{}, blobs: memblob.New(), log: &bytes.Buffer{}, keys: ring.Ring(dir)}
	window := quota.New(1_000_000, 1000, func() float64 { return 0 })
	w.Worker = &Worker{
		Queue: w.queue, Keys: w.keys, Store: &store.Store{Payloads: w.blobs.Container(t, "payloads"), Results: w.blobs.Container(t, "results")},
		Model: w.gateway, Window: window,
		Maker:   payload.Maker{Modality: "text", Alias: "small", MaxBytes: 1 << 20, MaxOutput: 100},
		Limits:  Limits{Parallel: 5, Fetch: 1, GiveUp: time.Minute, Grace: 30 * time.Second, Attempts: 4, Backoff: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, Check: 10},
		Metrics: status.New("text", window.Share), Health: &status.Health{}, Cost: func(u model.Usage) float64 { return float64(u.Completion) },
		Log: slog.New(slog.NewJSONHandler(&guarded{b: w.log}, nil)),
	}
	w.Limits.Renew = lock / 3
	w.Report = func(_ context.Context, item report.Item) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, item)
		return nil
	}
	return w
}

// guarded is a buffer for many writers.
type guarded struct {
	mu sync.Mutex
	b  *bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.Write(p)
}

const chat = `{"messages":[{"role":"user","content":"secret words"}]}`

// post puts a payload into storage and its claim into the queue.
func (w *world) post(item, contentType, content string, changes ...func(*claim.Message)) claim.Message {
	w.t.Helper()
	m := claim.Message{Tenant: "contoso", Modality: "text", Alias: "small", Job: "job", Item: item, Correlation: "c-" + item}
	m.Blob = m.Path()
	m.ETag = w.blobs.Put("payloads/"+m.Blob, contentType, []byte(content))
	for _, change := range changes {
		change(&m)
	}
	data, err := claim.Sign(m, w.keys, "1")
	require.NoError(w.t, err)
	w.queue.put(item, data)
	return m
}

// run works for so long.
func (w *world) run(d time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	w.Run(ctx)
}

// result is the lines of a result, and its metadata.
func (w *world) result(item string) ([]resultLine, map[string]string) {
	w.t.Helper()
	content, metadata := w.blobs.Get("results/contoso/job/" + item)
	var out []resultLine
	for text := range strings.Lines(string(content)) {
		var l resultLine
		require.NoError(w.t, json.Unmarshal([]byte(text), &l))
		out = append(out, l)
	}
	return out, metadata
}

// counted is what the items of an outcome were counted.
func (w *world) counted(outcome string) int {
	return int(testutil.ToFloat64(w.Metrics.Items.WithLabelValues(outcome)))
}

// lines is a payload of n items.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"line-%d","body":{"messages":[{"role":"user","content":"secret %d"}]}}`+"\n", i, i)
	}
	return b.String()
}

// states are what health and readiness answer.
func (w *world) states(t *testing.T) []int {
	t.Helper()
	var out []int
	for _, path := range []string{"/healthz", "/readyz"} {
		answer := httptest.NewRecorder()
		status.Handler(w.Health, w.Metrics).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		out = append(out, answer.Code)
	}
	return out
}

package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/insights"
	"onedoor/services/controlplane/intake"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/service"
	"onedoor/services/controlplane/usage"
	"onedoor/services/internal/ingestion"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// A process that is killed at the n-th point at which something lasting happens.
const (
	crashDir = "ONEDOOR_TEST_CRASH_DIR" // makes the test binary such a process
	crashAt  = "ONEDOOR_TEST_CRASH_AT"
	crashURL = "ONEDOOR_TEST_CRASH_URL" // of the account
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := victim(dir, os.Getenv(crashURL), os.Getenv(crashAt)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// points count what lasts, before and after it happens, and kill the process at one.
type points struct {
	at   int64
	seen atomic.Int64
}

func (p *points) pass() {
	if p.seen.Add(1) == p.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

type fragileTable struct {
	ledger.Table
	*points
}

func (f fragileTable) Insert(ctx context.Context, d ledger.Document) (string, error) {
	f.pass()
	defer f.pass()
	return f.Table.Insert(ctx, d)
}

func (f fragileTable) Replace(ctx context.Context, d ledger.Document) (string, error) {
	f.pass()
	defer f.pass()
	return f.Table.Replace(ctx, d)
}

func (f fragileTable) Delete(ctx context.Context, d ledger.Document) error {
	f.pass()
	defer f.pass()
	return f.Table.Delete(ctx, d)
}

type fragileBlobs struct {
	blobs.Store
	*points
}

func (f fragileBlobs) Write(ctx context.Context, container, name string, r io.Reader) (blobs.Info, error) {
	f.pass()
	defer f.pass()
	return f.Store.Write(ctx, container, name, r)
}

type fragileWire struct{ *points }

func (f fragileWire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return http.DefaultTransport.RoundTrip(r)
	}
	f.pass()
	defer f.pass() // it is answered, and nobody has heard
	return http.DefaultTransport.RoundTrip(r)
}

// crashSettings make a job of three lines two parts.
func crashSettings() settings.Settings {
	s := given()
	s.MaxLines = 2
	return s
}

// victim leads until all jobs have ended. Time is the account's.
func victim(dir, url, at string) error {
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return err
	}
	p := &points{at: n}
	table, err := ledger.OpenLocal(filepath.Join(dir, "ledger"))
	if err != nil {
		return err
	}
	var now time.Time
	advance := func() error {
		response, err := http.Post(url+"/advance", "", nil)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		now, err = time.Parse(time.RFC3339, string(text))
		return err
	}
	if err := advance(); err != nil {
		return err
	}
	s, err := service.New(service.Parts{
		Settings: crashSettings(), Table: fragileTable{table, p}, Blobs: fragileBlobs{blobs.Dir(filepath.Join(dir, "blobs")), p}, Bus: &intake.Memory{},
		Account:  account.New(url, credential("control-plane"), &http.Client{Transport: fragileWire{p}}),
		Events:   &insights.Client{Target: insights.Target{Endpoint: url, Key: "key"}, Token: credential("control-plane"), HTTP: &http.Client{Transport: fragileWire{p}}, Now: func() time.Time { return now }},
		Identity: callers{}, KeysDir: filepath.Join(dir, "keys"), Signing: "1", Scratch: dir, Now: func() time.Time { return now }, Log: quiet(),
	})
	if err != nil {
		return err
	}
	for range 500 {
		if err := s.Tick(context.Background()); err != nil {
			return err
		}
		open, err := jobs.Store{Table: table}.Open(context.Background(), "desk")
		if err != nil {
			return err
		}
		if len(open) == 0 {
			fmt.Println("points", p.seen.Load())
			return table.Close()
		}
		if err := advance(); err != nil {
			return err
		}
	}
	return errors.New("the job does not end")
}

// scene is what a victim works in.
type scene struct {
	dir, url string
	sim      *openai.Service
	sink     *ingestion.Service // that events go to
}

// newScene has a job of two parts; one of its lines is answered only the second time.
func newScene(t *testing.T) scene {
	t.Helper()
	var mu sync.Mutex
	busy := true
	sim, azureURL := azure(t, func(c *openai.Config) {
		c.Rules.Outcome = func(row core.Row) core.Outcome {
			mu.Lock()
			defer mu.Unlock()
			if row.CustomID == "busy" && busy {
				busy = false
				return core.Throttled
			}
			return core.Marked(row)
		}
	})
	s := scene{dir: t.TempDir(), sim: sim, sink: &ingestion.Service{Key: "key", Token: "control-plane", Resource: "/appi", Now: sim.Now}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2.1/track" {
			s.sink.ServeHTTP(w, r)
			return
		}
		if r.URL.Path == "/advance" {
			if err := sim.Advance(30 * time.Second); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprint(w, sim.Now().Format(time.RFC3339))
			return
		}
		sim.Handler(openai.Entry{Account: accountName}).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "keys"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "keys", "1"), []byte(strings.Repeat("k", 64)), 0o600))

	table, err := ledger.OpenLocal(filepath.Join(s.dir, "ledger"))
	require.NoError(t, err)
	w := &world{t: t, table: table, blobs: blobs.Dir(filepath.Join(s.dir, "blobs")), bus: &intake.Memory{}, keys: filepath.Join(s.dir, "keys"), sim: sim, azure: azureURL}
	w.start(crashSettings())
	door := httptest.NewServer(w.Handler())
	t.Cleanup(door.Close)
	w.url = door.URL
	w.submit("desk", line("a", "chat", "x")+line("busy", "chat", "y")+line("c", "chat", "[sim:refused]"), nil)
	require.NoError(t, table.Close())
	return s
}

// run runs a victim that is killed at that point, 0 for never, and returns what it
// says.
func (s scene) run(t *testing.T, at int) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	c.Env = append(os.Environ(), crashDir+"="+s.dir, crashURL+"="+s.url, crashAt+"="+strconv.Itoa(at))
	out, err := c.CombinedOutput()
	if at > 0 {
		var ended *exec.ExitError
		require.ErrorAs(t, err, &ended, "%s", out)
		require.Equal(t, "signal: killed", ended.String(), "%s", out)
		return ""
	}
	require.NoError(t, err, "%s", out)
	return string(out)
}

// check holds the scene to what must be true at the end, whatever happened.
func (s scene) check(t *testing.T) {
	t.Helper()
	table, err := ledger.OpenLocal(filepath.Join(s.dir, "ledger"))
	require.NoError(t, err)
	defer func() { _ = table.Close() }()
	all, err := jobs.Store{Table: table}.Jobs(t.Context(), "desk", "", 0)
	require.NoError(t, err)
	require.Len(t, all, 1)
	j := all[0]
	assert.Equal(t, account.Completed, j.Status)
	assert.Len(t, j.Parts, 3, "two, and the line that was tried again")
	var reserved, refunded int64
	for _, p := range j.Parts {
		reserved, refunded = reserved+p.Reserved, refunded+p.Refunded
		assert.Equal(t, jobs.Collected, p.State)
	}
	assert.Equal(t, reserved, refunded, "tokens reserved are tokens refunded")

	stamps := map[string]int{}
	for b := range s.sim.State().Jobs.All() {
		stamps[b.Metadata["onedoor_id"]]++
	}
	assert.Len(t, stamps, 3, "jobs at the account: %v", stamps)
	for stamp, n := range stamps {
		assert.Equal(t, 1, n, "job %s was made twice", stamp)
	}

	out, err := os.ReadFile(filepath.Join(s.dir, "blobs", "batch-output", "desk", j.ID, "output.jsonl.blob"))
	require.NoError(t, err)
	var ids []string
	for row := range strings.Lines(string(out)) {
		ids = append(ids, gjson.Get(row, "custom_id").String())
	}
	slices.Sort(ids)
	assert.Equal(t, []string{"a", "busy", "c"}, ids, "every line has one result")
	assert.Empty(t, j.Errors)
	entries, err := usage.Store{Table: table}.Between(t.Context(), "desk", start, start.AddDate(0, 0, 9))
	require.NoError(t, err)
	require.Len(t, entries, 1, "it is billed once")
	assert.Equal(t, j.Results, entries[0].Used)

	told := map[string]string{} // events by id, which every row of one has
	for _, row := range s.sink.Rows() {
		told[row["Properties"].(map[string]any)["id"].(string)] = fmt.Sprintf("%s %v", row["Name"], row["Measurements"])
	}
	assert.ElementsMatch(t, []string{
		"batch.job.submitted map[]",
		fmt.Sprintf("batch.job.terminal %v", map[string]any{
			"items": 3, "answered": 2, "refused": 1, "inputTokens": j.Results.Input, "cachedTokens": j.Results.Cached, "outputTokens": j.Results.Output,
		}),
	}, slices.Collect(maps.Values(told)), "it is told of once")
	waiting, err := table.List(t.Context(), ledger.Query{Partition: "outbox"})
	require.NoError(t, err)
	assert.Empty(t, waiting)
}

// Whatever the point at which the process is killed, the next one loses nothing and
// submits nothing twice.
func TestAKillAnywhereLosesNothingAndSubmitsNothingTwice(t *testing.T) {
	t.Parallel()
	whole := newScene(t)
	said := whole.run(t, 0)
	whole.check(t)
	var total int
	_, err := fmt.Sscanf(said, "points %d", &total)
	require.NoError(t, err, said)
	require.Greater(t, total, 60)
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 1; at <= total; at += step {
		t.Run(strconv.Itoa(at), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.run(t, at)
			s.run(t, 0)
			s.check(t)
		})
	}
}

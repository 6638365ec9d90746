package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"onedoor/internal/az"
	"onedoor/internal/event"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/ledger"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/controlplane/usage"
	"onedoor/services/internal/ingestion"
	sim "onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

const (
	accountName = "oai-batch-test"
	deployment  = "chat-batch"
	submitter   = "control-plane"
)

var start = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// runs is how long a job of the account runs: so long that one which is cancelled has
// seldom ended before. A new leader first waits until it may look at the account, and so
// one that dies over and over may come too late.
const runs = 30 * time.Minute

// scene is a simulated account, and a control plane before it that is killed and started
// again.
type scene struct {
	t       *testing.T
	dir     string
	azure   *sim.Service
	sink    *ingestion.Service // that events go to
	account string
	length  int64 // of the fuse

	process *exec.Cmd
	url     string
	deaths  int
}

func open(t *testing.T, length int64) *scene {
	t.Helper()
	var lock sync.Mutex
	seen := map[string]bool{}
	behaviour := core.DefaultBehaviour()
	behaviour.Running = runs
	s := &scene{t: t, dir: t.TempDir(), length: length, azure: sim.New(sim.Config{
		Config: core.Config{Start: start, Behaviour: behaviour, Accounts: []core.Account{{
			Name: accountName, Region: "swedencentral",
			Deployments: []core.Deployment{{Name: deployment, Model: "gpt-5.1", SKU: "GlobalBatch", Capacity: 50}},
		}}},
		Rules: core.Rules{Outcome: func(row core.Row) core.Outcome { // the first time, one line meets a busy model
			lock.Lock()
			defer lock.Unlock()
			if row.CustomID == "busy" && !seen[row.CustomID] {
				seen[row.CustomID] = true
				return core.Throttled
			}
			return core.Marked(row)
		}},
		Issued: func(token string) (core.Principal, bool) {
			return core.Principal{ID: token, Actions: az.BatchSubmitter.DataActions}, token == submitter
		},
	})}
	s.sink = &ingestion.Service{Key: "key", Token: submitter, Resource: "/appi", Now: s.azure.Now}
	mux := http.NewServeMux()
	mux.Handle("/", s.azure.Handler(sim.Entry{Account: accountName}))
	mux.Handle("/v2.1/track", s.sink)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.account = server.URL
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "keys"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "keys", "1"), []byte(strings.Repeat("k", 64)), 0o600))
	t.Cleanup(s.kill)
	return s
}

// begin starts a control plane that kills itself after that many points.
func (s *scene) begin(length int64) {
	s.t.Helper()
	text, err := json.Marshal(order{Dir: s.dir, Account: s.account, Now: s.azure.Now(), Fuse: length})
	require.NoError(s.t, err)
	s.process = exec.CommandContext(context.WithoutCancel(s.t.Context()), os.Args[0]) // until it is killed
	s.process.Env = append(os.Environ(), envVictim+"="+string(text))
	s.process.Stderr = os.Stderr
	said, err := s.process.StdoutPipe()
	require.NoError(s.t, err)
	_, err = s.process.StdinPipe() // ends with this process, and the victim with it
	require.NoError(s.t, err)
	require.NoError(s.t, s.process.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(s.t, err)
	s.url = strings.TrimSpace(line)
}

func (s *scene) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill() // it may have done so itself
		_ = s.process.Wait()
		s.process = nil
	}
}

// lives is how many deaths make the lives after them one point longer. A new leader waits
// before it looks at the account, and one that always dies while it waits never looks:
// how much it does until then depends on what runs at once.
const lives = 20

// ask makes a request until it is answered: when the process dies meanwhile, another is
// started that lives a little longer each time, and asked the same. One that never gets
// further would be a fault of the control plane.
func (s *scene) ask(what string, request func() error) {
	s.t.Helper()
	for tries := range int64(60) {
		if s.process == nil {
			s.begin(s.length + tries + int64(s.deaths/lives))
		}
		err := request()
		var answered *openai.Error
		if err == nil {
			return
		}
		require.False(s.t, errors.As(err, &answered), "%s: %v", what, err)
		s.kill()
		s.deaths++
	}
	require.Fail(s.t, "the control plane does not get further", what)
}

// client is a caller that asks once; asking again is for ask.
func (s *scene) client(tenant string) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey(tenant), option.WithMaxRetries(0))
}

// submit uploads a file and creates a job of it, with a key by which the door knows a
// request that is made again.
func (s *scene) submit(tenant, key, content string) (id string) {
	s.t.Helper()
	file := ""
	s.ask("upload", func() error {
		client := s.client(tenant)
		uploaded, err := client.Files.New(s.t.Context(), openai.FileNewParams{
			File: openai.File(strings.NewReader(content), "in.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
		})
		if err == nil {
			file = uploaded.ID
		}
		return err
	})
	s.ask("create", func() error {
		client := s.client(tenant)
		job, err := client.Batches.New(s.t.Context(), openai.BatchNewParams{
			InputFileID: file, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions, CompletionWindow: "24h",
		}, option.WithHeader("Idempotency-Key", key))
		if err == nil {
			id = job.ID
		}
		return err
	})
	return id
}

// cancel cancels a job.
func (s *scene) cancel(tenant, id string) {
	s.t.Helper()
	s.ask("cancel", func() error {
		client := s.client(tenant)
		_, err := client.Batches.Cancel(s.t.Context(), id)
		return err
	})
}

// step is the virtual time between two ticks, and patience what all jobs get to end in: a
// new leader waits for a minute before it looks at the account, and here nobody leads long.
const (
	step     = 30 * time.Second
	patience = 12 * time.Hour
)

// running tells whether a job of the account has not ended, or one of the door.
func (s *scene) running() bool {
	s.t.Helper()
	for job := range s.azure.State().Jobs.All() {
		if !job.Terminal() {
			return true
		}
	}
	open := 0
	for _, tenant := range []string{"desk", "labs"} {
		s.ask("list", func() error {
			client := s.client(tenant)
			page, err := client.Batches.List(s.t.Context(), openai.BatchListParams{})
			if err != nil {
				return err
			}
			for _, job := range page.Data {
				if job.CompletedAt+job.CancelledAt+job.FailedAt+job.ExpiredAt == 0 {
					open++
				}
			}
			return nil
		})
	}
	return open > 0
}

// pass lets time pass, with a tick after each step.
func (s *scene) pass(d time.Duration) {
	s.t.Helper()
	for range d / step {
		require.NoError(s.t, s.azure.Advance(step))
		s.ask("tick", func() error {
			answer, err := http.Post(s.url+"/tick?now="+url.QueryEscape(s.azure.Now().Format(time.RFC3339)), "", nil)
			if err != nil {
				return err
			}
			defer func() { _ = answer.Body.Close() }()
			require.Equal(s.t, http.StatusOK, answer.StatusCode)
			_, err = io.Copy(io.Discard, answer.Body)
			return err
		})
	}
}

func line(id, prompt string) string {
	return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"chat","messages":[{"role":"user","content":%q}]}}`+"\n", id, prompt)
}

// However often the control plane is killed, at whatever point, and again while it recovers,
// and whatever answers of the account are lost:
// every line ends once, jobs are submitted once, tokens come back, and all is billed once.
func TestKilledOverAndOver(t *testing.T) {
	t.Parallel()
	lengths := []int64{4, 5, 11}
	if os.Getenv(envAll) != "" {
		lengths = []int64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
	}
	for _, length := range lengths {
		t.Run(fmt.Sprintf("after %d points", length), func(t *testing.T) {
			t.Parallel()
			s := open(t, length)
			// Besides, the account does what it was asked for and nobody hears of it.
			s.azure.Inject(sim.Fault{Operation: core.CreateBatch, When: sim.After, Drop: true, Times: 2})
			s.azure.Inject(sim.Fault{Operation: core.CreateBatch, When: sim.After, Status: http.StatusServiceUnavailable, Code: "503"})
			s.azure.Inject(sim.Fault{Operation: core.CreateFile, When: sim.After, Drop: true})
			s.sink.Inject(ingestion.Fault{Lost: true}, ingestion.Fault{Status: http.StatusServiceUnavailable})
			whole := s.submit("desk", "key-1", line("a", "x")+line("busy", "y")+line("c", "[sim:refused]"))
			stopped := s.submit("desk", "key-2", line("d", "x")+line("e", "y")+line("f", "z"))
			other := s.submit("labs", "key-1", line("g", "x"))
			s.pass(4 * time.Minute)
			s.cancel("desk", stopped)
			for passed := time.Duration(0); s.running() && passed < patience; passed += step {
				s.pass(step)
			}
			s.pass(step) // an event whose sending failed last is sent again
			s.kill()
			require.Greater(t, s.deaths, 5)
			t.Logf("killed %d times", s.deaths)

			table, err := ledger.OpenLocal(filepath.Join(s.dir, "ledger"))
			require.NoError(t, err)
			defer func() { assert.NoError(t, table.Close()) }()
			s.check(table, "desk", whole, "completed", []string{"a", "busy", "c"}, 3)
			s.check(table, "desk", stopped, "cancelled", nil, 2)
			s.check(table, "labs", other, "completed", []string{"g"}, 1)
			for _, tenant := range []string{"desk", "labs"} {
				all, err := jobs.Store{Table: table}.Jobs(t.Context(), tenant, "", 0)
				require.NoError(t, err)
				assert.Len(t, all, map[string]int{"desk": 2, "labs": 1}[tenant], "a request that is made again makes no second job")
			}
			made := map[string]int{} // jobs of the account by tenant, job and part, whichever attempt it was
			for job := range s.azure.State().Jobs.All() {
				stamp := job.Metadata["onedoor_id"]
				made[stamp[:strings.LastIndexByte(stamp, '.')]]++
				assert.True(t, job.Terminal(), "%s", job.Status)
				assert.Zero(t, job.Held)
			}
			for part, n := range made {
				assert.Equal(t, 1, n, "part %s was submitted more than once", part)
			}
			for file := range s.azure.State().Files.All() {
				assert.False(t, file.Expires.IsZero(), "file %s of the account would stay for ever", file.ID)
			}
		})
	}
}

// envAll makes the tests kill at every length of the fuse, which takes a minute.
const envAll = "ONEDOOR_CRASH"

// check holds a job to what must be true of it at the end.
func (s *scene) check(table ledger.Table, tenant, id, status string, ids []string, parts int) {
	s.t.Helper()
	job, err := jobs.Store{Table: table}.Job(s.t.Context(), tenant, id)
	require.NoError(s.t, err)
	if status == "cancelled" && job.Results.Missing == 0 {
		status = "completed" // killed so often, it asks the account too late, which has done it all
	}
	assert.EqualValues(s.t, status, job.Status, id)
	assert.LessOrEqual(s.t, len(job.Parts), parts)
	var reserved, refunded int64
	for _, part := range job.Parts {
		assert.True(s.t, part.Done(), "part is %s", part.State)
		reserved, refunded = reserved+part.Reserved, refunded+part.Refunded
	}
	assert.Positive(s.t, reserved)
	assert.Equal(s.t, reserved, refunded, "tokens reserved are tokens refunded")
	assert.Equal(s.t, job.Lines, job.Results.Answered+job.Results.Refused+job.Results.Failed+job.Results.Missing, "every line ends once: %+v", job.Results)

	entries, err := usage.Store{Table: table}.Between(s.t.Context(), tenant, start, start.AddDate(0, 0, 1))
	require.NoError(s.t, err)
	entries = slices.DeleteFunc(entries, func(e usage.Entry) bool { return e.Job != id })
	require.Len(s.t, entries, 1, "it is billed once")
	assert.Equal(s.t, job.Results, entries[0].Used)
	told := map[any]map[string]any{} // what is told of the job's end, by the event's id
	for _, row := range s.sink.Rows() {
		if properties := row["Properties"].(map[string]any); properties["jobId"] == id && row["Name"] == schedule.Terminal {
			told[properties["id"]] = row["Measurements"].(map[string]any)
		}
	}
	require.Len(s.t, told, 1, "its end is told, and once by its id")
	for _, numbers := range told {
		assert.EqualValues(s.t, job.Results.Answered, numbers[event.Answered])
		assert.EqualValues(s.t, job.Results.Output, numbers[event.Output])
	}
	if ids == nil {
		return
	}
	out, err := os.ReadFile(filepath.Join(s.dir, "blobs", "batch-output", tenant, id, "output.jsonl.blob"))
	require.NoError(s.t, err)
	var got []string
	for row := range strings.Lines(string(out)) {
		got = append(got, gjson.Get(row, "custom_id").String())
	}
	slices.Sort(got)
	assert.Equal(s.t, ids, got, "every line has one result")
}

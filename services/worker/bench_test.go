package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"onedoor/services/worker/model"
)

// mostOver is the most that a worker may add to the bare call of a model, in time of
// the processor for an item.
const mostOver = 2 * time.Millisecond

// bareCalls makes calls as any client does, and nothing else.
func bareCalls(n string) int {
	calls, err := strconv.Atoi(n)
	if err != nil {
		return exitWrong
	}
	c := &model.Client{URL: os.Getenv("ONEDOOR_GATEWAY_URL"), Token: token("t"), HTTP: httpClient(10), Most: 1 << 20}
	for range calls {
		body := fmt.Appendf(nil, `{"model":"small","messages":[{"role":"user","content":%q}]}`, "ticket")
		if _, err := c.Call(context.Background(), model.Request{Path: model.Chat, Body: body, Tenant: "contoso"}); err != nil {
			fmt.Println(err)
			return exitFailed
		}
	}
	return exitDone
}

// processor is how long a process had the processor.
func processor(w *exec.Cmd) time.Duration {
	return w.ProcessState.UserTime() + w.ProcessState.SystemTime()
}

// BenchmarkItem measures what a worker's process uses for an item from bus to result,
// over what a process uses for the bare call. What both use to start is taken off.
//
//	go test -run ^$ -bench Item -benchtime 500x ./services/worker
func BenchmarkItem(b *testing.B) {
	p := newPlatform(b)
	empty := p.start(nil)
	require.Eventually(b, func() bool { code, _ := empty.get("/readyz"); return code == http.StatusOK }, time.Minute, 10*time.Millisecond)
	require.Equal(b, exitDone, empty.stop(b), "%s", empty.out)
	bare := func(n int) time.Duration {
		c := exec.Command(os.Args[0])
		c.Env = []string{"TEST_BARE_CALLS=" + strconv.Itoa(n), "ONEDOOR_GATEWAY_URL=" + p.gateway.URL + "/openai/v1"}
		out, err := c.CombinedOutput()
		require.NoError(b, err, "%s", out)
		return processor(c)
	}
	call := (bare(b.N) - bare(0)) / time.Duration(b.N)
	for i := range b.N {
		p.post(strconv.Itoa(i), "application/json", fmt.Sprintf(chatBody, "ticket"), nil)
	}
	b.ResetTimer()
	w := p.start(nil)
	require.Eventually(b, func() bool { ready, locked := p.bus.Counts("text"); return ready+locked == 0 }, 10*time.Minute, 10*time.Millisecond)
	b.StopTimer()
	require.Equal(b, exitDone, w.stop(b), "%s", w.out)
	require.Len(b, p.results(), b.N)
	item := (processor(w.Cmd) - processor(empty.Cmd)) / time.Duration(b.N)
	b.ReportMetric(float64(call.Microseconds()), "cpu-us/call")
	b.ReportMetric(float64(item.Microseconds()), "cpu-us/item")
	if over := item - call; b.N >= 100 && over > mostOver {
		b.Errorf("the worker adds %s to a call, want at most %s", over, mostOver)
	}
}

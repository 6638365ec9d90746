package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/capacity"
)

// A pod has the memory that is planned for its worker. Whoever posts lines whose
// answers are as large as answers may be must not have it ended for taking more.
func TestAWorkerKeepsToItsMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the most that a process had")
	}
	p := newPlatform(t)
	const answer = `{"data":[{"embedding":["%s"]}],"usage":{"prompt_tokens":5}}`
	body := fmt.Sprintf(answer, strings.Repeat("x", capacity.LeastItemMiB<<20-len(answer)))
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) }))
	t.Cleanup(gateway.Close)
	var list strings.Builder
	for i := range 5 { // fewer than a checkpoint
		fmt.Fprintf(&list, `{"custom_id":"%d","body":{"input":"x"}}`+"\n", i)
	}
	const parallel = 10
	for i := range parallel {
		p.post(strconv.Itoa(i), "application/jsonl", list.String(), nil)
	}
	w := p.start(map[string]string{"ONEDOOR_GATEWAY_URL": gateway.URL, "ONEDOOR_PARALLEL": strconv.Itoa(parallel), "ONEDOOR_PAYLOAD_MIB": "1"})
	p.drained(0, nil)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.Process.Pid))
	require.NoError(t, err)
	most, err := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(status)[1]))
	require.NoError(t, err)
	planned, why := capacity.Memory(parallel, 1)
	assert.Less(t, most>>10, planned, why)
	assert.Equal(t, exitDone, w.stop(t), "%s", w.out)
	for item, outcome := range p.results() {
		assert.Equal(t, "answered", outcome, item)
	}
}

//go:build linux

package performance

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pace is how often memory is looked at: a look costs a few milliseconds.
const pace = 100 * time.Millisecond

// memory is the most megabytes that processes held at one time.
type memory struct{ here, children, together float64 }

// watch looks at the memory of this process (program and simulator) and of all that
// it started (the engine and the packs), until stop is called.
func watch() (stop func() memory) {
	done, seen := make(chan struct{}), make(chan memory)
	go func() {
		var most memory
		for {
			here, children := resident()
			most = memory{max(most.here, here), max(most.children, children), max(most.together, here+children)}
			select {
			case <-done:
				seen <- most
				return
			case <-time.After(pace):
			}
		}
	}()
	return func() memory { close(done); return <-seen }
}

// resident is how many megabytes this process and its descendants hold now. What
// processes share, such as the text of a program that runs twice, counts in parts.
// A process that ends meanwhile counts as nothing.
func resident() (here, children float64) {
	parent := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// The command's name is in parentheses and may hold blanks; behind it come the
		// state and the parent.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent[pid], _ = strconv.Atoi(fields[1])
	}
	self := os.Getpid()
	for pid := range parent {
		for above := parent[pid]; above > 1; above = parent[above] {
			if above == self {
				children += held(pid)
				break
			}
		}
	}
	return held(self), children
}

// held is the proportional share of memory of one process in megabytes.
func held(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes / 1024
		}
	}
	return 0
}

func (m memory) String() string {
	return fmt.Sprintf("%.0f MB together: program and simulator up to %.0f, engine and packs up to %.0f", m.together, m.here, m.children)
}

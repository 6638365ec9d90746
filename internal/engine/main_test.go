package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain makes the test binary play every executable that the tests hand to the engine.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case IsRecorder(os.Args[0]):
		RecorderMain()
	case name == refusingPack:
		refusingPackMain()
	case name == "go":
		fakeGoMain()
	case name == "pulumi":
		fakePulumiMain()
	case os.Getenv(helperEnv) != "":
		helperMain()
	}
	os.Exit(m.Run())
}

// two engines at once fit on a small machine.
var engines = make(chan struct{}, 2)

var findOnce = sync.OnceValues(func() (CLI, error) {
	return Find(context.Background(), Options{Progress: os.Stderr})
})

// cli waits for a turn and returns the real CLI, built on first use on a fresh machine.
func cli(t testing.TB) CLI {
	t.Helper()
	c, err := findOnce()
	require.NoError(t, err)
	engines <- struct{}{}
	t.Cleanup(func() { <-engines })
	return c
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

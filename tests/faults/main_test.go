// Package faults brings whole stacks up and down while Azure fails, loses answers, or
// everything is killed, and shows that each time the same stack is there in the end.
// docs/faults.md says what to do after each.
package faults

import (
	"os"
	"testing"

	"onedoor/cmd/embedded"
)

// fullEnv makes the tests strike each operation instead of a sample when its value is "all".
const fullEnv = "ONEDOOR_FAULTS"

// full says whether each operation is to be struck.
func full() bool { return os.Getenv(fullEnv) == "all" }

func TestMain(m *testing.M) {
	embedded.Dispatch()
	if spec := os.Getenv(doomedEnv); spec != "" {
		doomedMain(spec)
	}
	os.Exit(m.Run())
}

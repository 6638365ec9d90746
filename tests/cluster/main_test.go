// Package cluster follows the cluster and what scales in it through updates of whole stacks.
package cluster

import (
	"os"
	"testing"

	"onedoor/cmd/embedded"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

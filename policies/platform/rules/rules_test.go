package rules

import (
	"testing"

	"onedoor/internal/policypack/packtest"
)

func TestRules(t *testing.T) {
	t.Parallel()
	packtest.Run(t, New, "SET-02", "testdata")
}

func FuzzRules(f *testing.F) { packtest.Fuzz(f, New, "SET-02", "testdata") }

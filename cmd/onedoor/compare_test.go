package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/cmd/embedded"
)

// compared is preview --base in dir, over a base that build builds.
func compared(t *testing.T, build embedded.Build, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	root := screen{dir, &out, &errs, build}.root()
	root.SetArgs(append([]string{"preview", "--home", filepath.Join(t.TempDir(), "home")}, args...))
	code = report(&errs, root.ExecuteContext(t.Context()))
	return code, out.String(), errs.String()
}

func TestABaseThatIsNoneIsTheUsersMistake(t *testing.T) {
	t.Parallel()
	dir := project(t)
	for reason, base := range map[string]string{"no commit": "no-such-branch", "no project": t.TempDir(), "an option": "--output=x"} {
		code, _, stderr := compared(t, selfBuild, dir, "--base="+base)
		assert.Equal(t, exitUser, code, reason)
		assert.Contains(t, stderr, "--base", reason)
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/change"
	"onedoor/internal/forge"
)

func TestCommentsComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
	env := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}
	for reason, test := range map[string]struct {
		env  map[string]string
		from forge.Source
		want string // "" for none
	}{
		"a run on GitHub":               {map[string]string{"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "o/r"}, forge.Source{Number: 7}, ""},
		"no token":                      {map[string]string{"GITHUB_REPOSITORY": "o/r"}, forge.Source{Number: 7}, "GITHUB_TOKEN"},
		"no pull request":               {map[string]string{"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "o/r"}, forge.Source{Head: "o:b"}, "--sha"},
		"a run on Azure DevOps":         {map[string]string{"TF_BUILD": "True", "SYSTEM_ACCESSTOKEN": "t", "SYSTEM_PULLREQUEST_PULLREQUESTID": "7"}, forge.Source{}, ""},
		"a run of no pull request":      {map[string]string{"TF_BUILD": "True", "SYSTEM_ACCESSTOKEN": "t"}, forge.Source{}, "PULLREQUESTID"},
		"nothing of the sort":           {nil, forge.Source{}, "GITHUB_TOKEN"},
		"a repository without an owner": {map[string]string{"GITHUB_TOKEN": "t", "GITHUB_REPOSITORY": "r"}, forge.Source{Number: 7}, "owner/name"},
	} {
		_, err := pullRequest(t.Context(), test.from, env(test.env))
		if test.want == "" {
			assert.NoError(t, err, reason)
		} else {
			assert.ErrorContains(t, err, test.want, reason)
		}
	}
}

func TestCommentRefusesWhatIsNoComment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "good.md"), []byte(change.Marker("onedoor", "dev")+"\nhello"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.md"), []byte("hello"), 0o644))
	for reason, test := range map[string]struct {
		args []string
		want string
	}{
		"no file":            {nil, "got no file"},
		"a file that is not": {[]string{"none.md"}, "none.md"},
		"one of two is bad":  {[]string{"good.md", "bad.md"}, "bad.md"},
	} {
		code, _, stderr := call(dir, append([]string{"comment"}, test.args...)...)
		assert.Equal(t, exitUser, code, reason)
		assert.Contains(t, stderr, test.want, reason)
	}
}

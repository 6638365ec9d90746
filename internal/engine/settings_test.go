package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestProjectCopy(t *testing.T) {
	t.Parallel()
	name, copy, err := projectCopy(write(t, projectYAML+"main: ./cmd\nstackConfigDir: elsewhere\npackages:\n  x: y\n"))
	require.NoError(t, err)
	assert.Equal(t, "engine-test", name)
	assert.Equal(t, "name: engine-test\nruntime: go # a comment that stays\nconfig:\n  engine-test:mode: {type: string}\n", string(copy))

	for text, want := range map[string]string{
		"runtime: go\n":             "`name` is missing",
		"name: ../x\nruntime: go\n": "is no project name",
		"name: x\n":                 "`runtime` is missing",
		"- a\n":                     "wanted a mapping",
		"a: [\n":                    "file.yaml",
	} {
		_, _, err := projectCopy(write(t, text))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestStackCopy(t *testing.T) {
	t.Parallel()
	copy, err := stackCopy(write(t, stackYAML+`  engine-test:deep:
    a:
      - b:
          secure: AAAA
      - secure: {not: text}
      - {secure: AAAA, other: 1}
encryptionsalt: v1:user
`))
	require.NoError(t, err)
	assert.Equal(t, `config:
  engine-test:mode: dev
  engine-test:token:
    secure: `+securePlaceholder+`
  engine-test:object:
    list:
      - plain
      - secure: `+securePlaceholder+`
  engine-test:deep:
    a:
      - b:
          secure: `+securePlaceholder+`
      - secure: {not: text}
      - {secure: AAAA, other: 1}
encryptionsalt: `+encryptionSalt+"\n", string(copy))

	empty, err := stackCopy(write(t, ""))
	require.NoError(t, err)
	assert.Equal(t, "encryptionsalt: "+encryptionSalt+"\n", string(empty))
}

// TestPlaceholderDecrypts keeps the three constants consistent.
func TestPlaceholderDecrypts(t *testing.T) {
	t.Parallel()
	c := config.NewSymmetricCrypterFromPassphrase(passphrase, []byte("onedoor!"))
	text, err := c.DecryptValue(t.Context(), securePlaceholder)
	require.NoError(t, err)
	assert.Equal(t, Placeholder, text)
}

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shownAfter is the screen that the README shows below a command.
func shownAfter(t *testing.T, command string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(readme), "```sh\n"+command+"\n```\n")
	require.True(t, found, command)
	_, after, found = strings.Cut(after, "```text\n")
	require.True(t, found, command)
	screen, _, found := strings.Cut(after, "```")
	require.True(t, found, command)
	return screen
}

// elided stands in a screen for lines that a reader does not need.
const elided = "  ...\n"

// The README shows a screen; it is the one that a reader will see, but for the
// time it took and the lines in its middle that it leaves out.
func TestReadmeShowsTheScreenOfAPreview(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(project(t), "preview")
	require.Equal(t, exitOK, code, stderr)
	header, rest, _ := strings.Cut(stderr, "\n")
	rest = rest[strings.LastIndex(rest, "preview: "):] // before it: the engine being built, and how far a slow preview is
	duration := regexp.MustCompile(`, [0-9.]+m?s\n`)
	screen := duration.ReplaceAllString(header+"\n"+rest+stdout, "\n")

	head, tail, found := strings.Cut(duration.ReplaceAllString(shownAfter(t, "go run ./cmd/onedoor preview"), "\n"), elided)
	require.True(t, found, "the screen is long: the README leaves out its middle")
	require.Greater(t, len(strings.Split(head, "\n")), 5)
	require.Greater(t, len(strings.Split(tail, "\n")), 5)
	require.Greater(t, len(screen), len(head)+len(tail))
	assert.Equal(t, head, screen[:len(head)])
	assert.Equal(t, tail, screen[len(screen)-len(tail):])
}

func TestReadmeShowsTheScreenOfTheDemonstration(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := call(t.TempDir(), "demo", "batch")
	require.Equal(t, exitOK, code, stderr)
	assert.Equal(t, shownAfter(t, "go run ./cmd/onedoor demo batch"), stdout)
}

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README shows a screen; it is the one that a reader will see, but for the
// time it took.
func TestReadmeShowsTheScreenOfAPreview(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(readme), "```\nOneDoor preview of dev.")
	require.True(t, found)
	shown, _, _ := strings.Cut("OneDoor preview of dev."+after, "```")

	code, stdout, stderr := call(project(t), "preview")
	require.Equal(t, exitOK, code, stderr)
	header, rest, _ := strings.Cut(stderr, "\n")
	rest = rest[strings.LastIndex(rest, "preview: "):] // before it: the engine being built, and how far a slow preview is
	screen := header + "\n" + rest + stdout
	duration := regexp.MustCompile(`, [0-9.]+m?s\n`)
	assert.Equal(t, duration.ReplaceAllString(shown, "\n"), duration.ReplaceAllString(screen, "\n"))
}

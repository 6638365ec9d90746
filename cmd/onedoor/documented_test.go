package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/docs"
	"onedoor/tests/docs/shown"
)

// runnable are the commands that do something by themselves.
func runnable(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range docs.Runnable(root) {
		if !c.HasSubCommands() || c.HasFlags() {
			out = append(out, c)
		}
	}
	return out
}

// takes tells whether the command line takes words: that there is such a command, its
// flags and values of theirs, and that its arguments are ones that it accepts.
func takes(words []string) error {
	root := newRoot(".", &bytes.Buffer{}, &bytes.Buffer{})
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return nil
	}
	if c.Args == nil {
		return fmt.Errorf("%s does not say which words it takes", c.CommandPath())
	}
	return c.Args(c, c.Flags().Args())
}

// onedoorWords are what the command line gets from a line of shell, nil where the line
// does not call it.
func onedoorWords(line string) []string {
	found, err := shown.Parse(line)
	if err != nil {
		return nil
	}
	for _, c := range found {
		if words := shown.Onedoor(c.Words); words != nil {
			return words
		}
	}
	return nil
}

// claim begins what a MAC of messages is made over; it only looks like a command.
const claim = "`onedoor claim 1`"

// inline is a call of the command line in running text.
var inline = regexp.MustCompile("`(onedoor [a-z][^`]*)`")

// Every call of the command line that a document shows, in a block or in running text,
// is one that it takes.
func TestDocumentedCallsAreTaken(t *testing.T) {
	t.Parallel()
	pages, err := shown.Pages("../..")
	require.NoError(t, err)
	n := 0
	for _, page := range pages {
		commands, err := shown.Commands("../..", page)
		require.NoError(t, err)
		for _, c := range commands {
			if words := shown.Onedoor(c.Words); words != nil {
				n++
				assert.NoError(t, takes(words), c.String())
			}
		}
	}
	assert.Greater(t, n, 30, "the documents show calls")
}

// Running text names commands and flags, mostly without their values.
func TestCommandsInRunningTextExist(t *testing.T) {
	t.Parallel()
	root := newRoot(".", &bytes.Buffer{}, &bytes.Buffer{})
	n := 0
	pages, err := shown.Pages("../..")
	require.NoError(t, err)
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", page))
		require.NoError(t, err)
		for _, found := range inline.FindAllStringSubmatch(string(text), -1) {
			if found[0] == claim {
				continue
			}
			n++
			assert.NoError(t, names(root, strings.Fields(found[1])[1:]), "%s: %s", page, found[0])
		}
	}
	assert.Greater(t, n, 20)
	assert.Error(t, names(root, []string{"previews"}))
	assert.Error(t, names(root, []string{"preview", "--bases"}))
}

// names tells whether words name a command and flags of it.
func names(root *cobra.Command, words []string) error {
	c, _, err := root.Find(words)
	if err != nil {
		return err
	}
	if c == root {
		return fmt.Errorf("no command %q", words[0])
	}
	for _, word := range words {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && c.Flags().Lookup(name) == nil && name != "help" {
			return fmt.Errorf("%s has no flag --%s", c.CommandPath(), name)
		}
	}
	return nil
}

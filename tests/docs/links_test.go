// Package docs_test holds documents to what they show: links lead somewhere, and
// commands do what they say. Whether pages of the code are current is tested beside
// the command that writes them.
package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/docs"
	"onedoor/tests/docs/shown"
)

const root = "../.."

func pages(t *testing.T) []string {
	t.Helper()
	all, err := shown.Pages(root)
	require.NoError(t, err)
	require.Contains(t, all, "docs/deploy.md")
	return all
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	headings := map[string][]string{}
	for _, page := range pages(t) {
		links, err := shown.Links(root, page)
		require.NoError(t, err)
		for _, link := range links {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(link.Target)))
			if info, statErr := os.Stat(filepath.Join(root, filepath.FromSlash(link.Target))); statErr == nil && info.IsDir() {
				err = nil
			}
			if !assert.NoError(t, err, "%s links to %s", page, link.Target) || link.Anchor == "" {
				continue
			}
			if headings[link.Target] == nil {
				headings[link.Target] = shown.Headings(string(raw))
			}
			assert.Contains(t, headings[link.Target], link.Anchor, "%s links to a heading of %s", page, link.Target)
		}
	}
}

// What a reader asks first is one click from the README.
func TestTheReadmeAnswersInOneClick(t *testing.T) {
	t.Parallel()
	links, err := shown.Links(root, "README.md")
	require.NoError(t, err)
	for question, want := range map[string]struct{ target, anchor, says string }{
		"how to add a tenant":      {"docs/day-2.md", "add-a-tenant", "onedoor:tenants:"},
		"what it costs idle":       {"docs/reference/cost.md", "", "| stack | idle |"},
		"who can reach batch":      {"docs/reference/reach.md", "", "| batch account | batch control plane"},
		"what a failed rule means": {"docs/rules/README.md", "", "| [BAT-01](BAT-01.md) |"},
	} {
		assert.Contains(t, links, shown.Link{Page: "README.md", Target: want.target, Anchor: want.anchor}, question)
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(want.target)))
		require.NoError(t, err)
		assert.Contains(t, string(raw), want.says, question)
	}
}

// Every page is found from the README, by way of others.
func TestNoPageIsLost(t *testing.T) {
	t.Parallel()
	found, next := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if filepath.Ext(page) != ".md" {
			continue
		}
		links, err := shown.Links(root, page)
		require.NoError(t, err)
		for _, link := range links {
			if !found[link.Target] {
				found[link.Target] = true
				next = append(next, link.Target)
			}
		}
	}
	for _, page := range pages(t) {
		assert.True(t, found[page], "nothing links to %s", page)
	}
}

// Whoever sees a code finds what to do about it, under a heading of that name.
func TestTroubleshootingHasEveryCode(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, docs.Trouble))
	require.NoError(t, err)
	codes, err := docs.ReadCodes(root)
	require.NoError(t, err)
	headings := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if text, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			headings[strings.TrimSpace(text)] = true
		}
	}
	for _, c := range slices.Concat(codes.Gateway, codes.ControlPlane, codes.Command, codes.Azure) {
		assert.True(t, headings[c.Text], "%s says nothing of %s", docs.Trouble, c.Text)
	}
	assert.Greater(t, len(codes.Gateway), 5)
	assert.Greater(t, len(codes.ControlPlane), 10)
	assert.Greater(t, len(codes.Azure), 5)
}

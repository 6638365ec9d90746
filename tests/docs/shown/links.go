package shown

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Link is a link inside the project, or to a heading of its own page.
type Link struct {
	Page   string
	Target string // path below the root; the page's own for a heading of it
	Anchor string // "" for the whole target
}

var (
	linked = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	images = regexp.MustCompile(`(?:src|srcset)="([^"]+)"`)
	code   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// Links are the links of a page that stay inside the project.
func Links(root, page string) ([]Link, error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		return nil, err
	}
	prose := code.ReplaceAllString(string(raw), "")
	var out []Link
	for _, found := range append(linked.FindAllStringSubmatch(prose, -1), images.FindAllStringSubmatch(prose, -1)...) {
		if strings.Contains(found[1], "://") {
			continue
		}
		target, anchor, _ := strings.Cut(found[1], "#")
		to := page
		if target != "" {
			to = filepath.ToSlash(filepath.Join(filepath.Dir(filepath.FromSlash(page)), filepath.FromSlash(target)))
		}
		out = append(out, Link{page, to, anchor})
	}
	return out, nil
}

// Headings are the anchors of a page's headings, as GitHub makes them: a heading that
// comes again has a number.
func Headings(page string) []string {
	var out []string
	seen := map[string]int{}
	inside := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			inside = !inside
		}
		level := strings.TrimLeft(line, "#")
		if inside || len(level) == len(line) || !strings.HasPrefix(level, " ") {
			continue
		}
		anchor := anchorOf(strings.TrimSpace(level))
		seen[anchor]++
		if n := seen[anchor]; n > 1 {
			anchor += "-" + string(rune('0'+n-1))
		}
		out = append(out, anchor)
	}
	return out
}

// anchorOf is lower case, with hyphens for blanks and without punctuation.
func anchorOf(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteRune('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Package forge keeps comments on pull requests: one per subject, found again by a
// hidden first line and changed in place. It knows GitHub and Azure DevOps.
package forge

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"onedoor/internal/change"
)

// Comment is what is said of one subject.
type Comment struct {
	Marker string // the first line of Body, which nobody sees
	Body   string
}

// marker is how the first line of a comment looks.
var marker = regexp.MustCompile(`^<!-- onedoor change of [A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100} -->$`)

// Read takes the text of a comment as onedoor preview --base writes it. A text that
// is no such comment is refused: it may come from a pull request of a stranger.
func Read(text string) (Comment, error) {
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case !marker.MatchString(first):
		return Comment{}, fmt.Errorf("first line: got %.100q, want the hidden marker that onedoor preview --base writes", first)
	case strings.Count(text, "<!--") != 1:
		return Comment{}, fmt.Errorf("got %d hidden comments, want the marker alone", strings.Count(text, "<!--"))
	case len(text) > change.CommentLimit:
		return Comment{}, fmt.Errorf("got %d bytes, want at most %d", len(text), change.CommentLimit)
	}
	return Comment{first, text}, nil
}

// Posted is what became of a comment.
type Posted struct {
	Marker  string `json:"marker"`
	URL     string `json:"url,omitempty"`
	Created bool   `json:"created"` // else it was there, and was changed
}

// Forge is a pull request that can be commented on.
type Forge interface {
	// Put makes the comment with this marker, or changes it in place.
	Put(context.Context, Comment) (Posted, error)
}

// carries tells whether a comment on the forge is the one with this marker.
func carries(body, marker string) bool {
	first, _, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	return first == marker
}

// Package shown reads what documents show their readers: the commands in blocks of
// shell, and the links.
package shown

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pages are the documents below root that show commands and links, by their path below
// it: the README, the pages of docs and what they lead to at the top, sorted.
func Pages(root string) ([]string, error) {
	pages := []string{"README.md", "SECURITY.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		pages = append(pages, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(pages)
	return pages, err
}

// Command is one command of a block of shell.
type Command struct {
	Page  string
	Line  int      // of the page, from 1
	Words []string // expansions stand as they are written
	Env   []string // NAME=value, assigned before it
}

func (c Command) String() string {
	return fmt.Sprintf("%s:%d: %s", c.Page, c.Line, strings.Join(c.Words, " "))
}

// Commands are all commands in the blocks of shell of a page, those of pipes and
// substitutions each by itself.
func Commands(root, page string) ([]Command, error) {
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
	if err != nil {
		return nil, err
	}
	var out []Command
	for _, b := range blocks(string(raw)) {
		found, err := Parse(b.text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", page, b.line, err)
		}
		for _, c := range found {
			c.Page, c.Line = page, b.line+c.Line
			out = append(out, c)
		}
	}
	return out, nil
}

// block is the text of a fenced block.
type block struct {
	line int // of the fence
	text string
}

// blocks are the fenced blocks of shell, with the indentation of lists taken away.
func blocks(page string) []block {
	var out []block
	fence, indent := "", ""
	for i, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case fence == "" && strings.HasPrefix(trimmed, "```"):
			fence, indent = strings.TrimPrefix(trimmed, "```"), line[:len(line)-len(trimmed)]
			if fence == "" {
				fence = "text"
			}
			if fence == "sh" {
				out = append(out, block{line: i + 1})
			}
		case fence != "" && trimmed == "```":
			fence = ""
		case fence == "sh":
			last := &out[len(out)-1]
			last.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return out
}

// text is a word as a program would get it, as far as the page says.
func text(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(text(part.Parts))
		case *syntax.ParamExp:
			b.WriteString("$" + part.Param.Value)
		default: // a substitution, whose commands stand by themselves
			b.WriteString("$()")
		}
	}
	return b.String()
}

// Onedoor are the words that the command line gets from a command, whether it is built
// or run from source; nil where it is another program's.
func Onedoor(words []string) []string {
	for _, start := range [][]string{{"onedoor"}, {"./onedoor"}, {"go", "run", "./cmd/onedoor"}} {
		if len(words) >= len(start) && slices.Equal(words[:len(start)], start) {
			return append([]string{}, words[len(start):]...)
		}
	}
	return nil
}

// Parse reads the commands of a script; their lines are its own.
func Parse(script string) ([]Command, error) {
	parsed, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var out []Command
	syntax.Walk(parsed, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			c := Command{Line: int(call.Pos().Line())}
			for _, word := range call.Args {
				c.Words = append(c.Words, text(word.Parts))
			}
			for _, a := range call.Assigns {
				value := ""
				if a.Value != nil {
					value = text(a.Value.Parts)
				}
				c.Env = append(c.Env, a.Name.Value+"="+value)
			}
			out = append(out, c)
		}
		return true
	})
	return out, nil
}

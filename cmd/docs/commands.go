package docs

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands is the help of every command, and the exit codes.
func commands(root *cobra.Command, exits []Exit) []byte {
	p := newPage("Commands", "the command line's own help")
	p.say("Run them as `go run ./cmd/onedoor`, or build `onedoor` once: `go build -o onedoor ./cmd/onedoor`. Output has no colours and no control characters, on a terminal or not. " +
		"`--json` prints the same for machines; progress goes to standard error.")
	p.head("Exit codes")
	var rows [][]string
	for _, e := range exits {
		rows = append(rows, []string{strconv.Itoa(e.Code), e.Meaning})
	}
	p.table([]string{"code", "means"}, rows)
	for _, c := range Runnable(root) {
		p.head(c.CommandPath())
		about := c.Long
		if about == "" {
			about = c.Short + "."
		}
		p.say("%s", plain(strings.ReplaceAll(about, "\n", " ")))
		p.say("```text\n%s\n```", c.UseLine())
		if c.Example != "" {
			p.say("```sh\n%s\n```", dedent(c.Example))
		}
		var flags [][]string
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			_, usage := pflag.UnquoteUsage(f)
			value := f.DefValue
			if value == "[]" || value == "false" || value == "0" {
				value = ""
			}
			flags = append(flags, []string{code(name), plain(usage), code(value)})
		})
		p.table([]string{"flag", "meaning", "default"}, flags)
	}
	return p.bytes()
}

// Runnable are the commands below c that do something, in the order of the help.
func Runnable(c *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		out = append(out, sub)
		out = append(out, Runnable(sub)...)
	}
	return out
}

// dedent takes the indentation of a help text away.
func dedent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

package waiver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// parser walks the nodes of the file, since a decoder stops at the first
// mistake, takes a key twice and loses lines.
type parser struct{ problems []Problem }

func (p *parser) add(line int, key, got, want, fix string) {
	p.problems = append(p.problems, Problem{line, key, got, want, fix})
}

func (p *parser) file(raw []byte) (f File) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var root yaml.Node
	if err := decoder.Decode(&root); err != nil {
		p.add(1, "file", fmt.Sprintf("what is no YAML (%v)", err), "a list under the key waivers", `write "waivers: []" if there are none`)
		return f
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		p.add(1, "file", "more than one document", "one", "remove what follows the line ---")
	}
	fields := p.mapping(root.Content[0], "file", "waivers")
	list, given := fields["waivers"]
	if !given {
		p.add(1, "waivers", "nothing", "a list", `write "waivers: []" if there are none`)
		return f
	}
	if list.Kind != yaml.SequenceNode {
		p.add(list.Line, "waivers", kind(list), "a list", `write "waivers: []" if there are none`)
		return f
	}
	for _, item := range list.Content {
		f.Waivers = append(f.Waivers, p.waiver(item))
	}
	return f
}

func (p *parser) waiver(n *yaml.Node) Waiver {
	fields := p.mapping(n, "waiver", "id", "rules", "targets", "owner", "approver", "ticket", "reason", "created", "expires", "compensatingControl")
	w := Waiver{lines: map[string]int{}}
	if fields == nil {
		return w
	}
	for key, value := range fields {
		w.lines[key] = value.Line
	}
	w.ID = p.text(n, fields, "id", true)
	w.Rules = p.list(n, fields, "rules")
	w.Targets = p.list(n, fields, "targets")
	w.Owner = p.text(n, fields, "owner", true)
	w.Approver = p.text(n, fields, "approver", false)
	w.Ticket = p.text(n, fields, "ticket", true)
	w.Reason = p.text(n, fields, "reason", true)
	w.Created = p.date(n, fields, "created")
	w.Expires = p.date(n, fields, "expires")
	w.CompensatingControl = p.text(n, fields, "compensatingControl", true)
	return w
}

// mapping are the values by key, nil if the node is no mapping.
func (p *parser) mapping(n *yaml.Node, what string, allowed ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.add(n.Line, what, kind(n), "keys and values", "see the example at the head of the file")
		return nil
	}
	out := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(allowed, key.Value) {
			p.add(key.Line, key.Value, "an unknown key", strings.Join(allowed, ", "), "correct or remove the key")
			continue
		}
		if _, twice := out[key.Value]; twice {
			p.add(key.Line, key.Value, "the key twice", "each key once", "remove one")
		}
		out[key.Value] = n.Content[i+1]
	}
	return out
}

func (p *parser) text(n *yaml.Node, fields map[string]*yaml.Node, key string, required bool) string {
	value, given := fields[key]
	if given && value.Kind != yaml.ScalarNode {
		p.add(value.Line, key, kind(value), "text", "write one line of text")
		return ""
	}
	if given && value.Tag != "!!null" && strings.TrimSpace(value.Value) != "" {
		return strings.TrimSpace(value.Value)
	}
	if required {
		line := n.Line
		if given {
			line = value.Line
		}
		p.add(line, key, "nothing", "text", "fill it in; a reviewer has only this file")
	}
	return ""
}

func (p *parser) list(n *yaml.Node, fields map[string]*yaml.Node, key string) (out []string) {
	value, given := fields[key]
	if !given || value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		got, line := "nothing", n.Line
		if given && value.Kind != yaml.SequenceNode {
			got, line = kind(value), value.Line
		}
		p.add(line, key, got, "a list with at least one entry", "list each one; there is no word for all")
		return nil
	}
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			p.add(item.Line, key, kind(item), "text", "write one line of text")
			continue
		}
		if slices.Contains(out, item.Value) {
			p.add(item.Line, key, quote(item.Value)+" twice", "each once", "remove one")
		}
		out = append(out, item.Value)
	}
	return out
}

func (p *parser) date(n *yaml.Node, fields map[string]*yaml.Node, key string) time.Time {
	known := len(p.problems)
	text := p.text(n, fields, key, true)
	if len(p.problems) > known {
		return time.Time{}
	}
	date, err := time.Parse(day, text)
	if err != nil {
		p.add(fields[key].Line, key, quote(text), "a day, as 2027-01-31", "write year, month and day")
	}
	return date
}

// kind says what stands in the wrong place.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "keys and values"
	case yaml.AliasNode:
		return "an alias"
	default:
		if n.Value == "" || n.Tag == "!!null" {
			return "nothing"
		}
		return quote(n.Value)
	}
}

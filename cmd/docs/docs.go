// Package docs makes the pages of the documentation that follow from the code: the
// reference of configuration, commands, flows, alerts, refusals and bypasses, what the
// two stacks cost and who reaches the models, the pages of rules, and the picture. What
// takes judgement is written by hand beside them and links to them.
package docs

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"onedoor/internal/graph"
	"onedoor/internal/policypack"
	"onedoor/internal/reach"
	"onedoor/internal/report"
)

// Sources is what pages are made of.
type Sources struct {
	Project  string            // root of the project, whose comments and stack files are read
	Dev      []reach.Resource  // the plan of the stack dev
	Prod     []reach.Resource  // that of prod
	Packs    []policypack.Pack // of rules
	Commands *cobra.Command    // the command line
	Exits    []Exit            // its exit codes
}

// Exit is an exit code of the command line.
type Exit struct {
	Code    int
	Meaning string
}

// reference is the folder of the pages.
const reference = "docs/reference"

// Files makes every page, by its path below the project.
func (s Sources) Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, make := range map[string]func() ([]byte, error){
		"configuration.md": func() ([]byte, error) { return configuration(s.Project) },
		"flows.md":         func() ([]byte, error) { return flowTable(), nil },
		"alerts.md":        func() ([]byte, error) { return alertTable(), nil },
		"errors.md":        func() ([]byte, error) { return refusals(s.Project) },
		"bypasses.md":      func() ([]byte, error) { return bypasses(s.Project) },
		"cost.md":          func() ([]byte, error) { return cost(s.Dev, s.Prod) },
		"reach.md":         func() ([]byte, error) { return reachable(s.Dev, s.Prod), nil },
		"commands.md":      func() ([]byte, error) { return commands(s.Commands, s.Exits), nil },
	} {
		text, err := make()
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", reference, name, err)
		}
		out[path.Join(reference, name)] = text
	}
	if err := s.rules(out); err != nil {
		return nil, err
	}
	return out, s.pictures(out)
}

// rules adds the pages of the rules.
func (s Sources) rules(out map[string][]byte) error {
	const rules = "docs/rules"
	for _, pack := range s.Packs {
		for _, rule := range pack.Rules {
			out[rule.Page()] = pack.Page(rule)
		}
	}
	catalog, err := policypack.Catalog(s.Packs...)
	if err != nil {
		return err
	}
	parsed, err := report.ParseCatalog(catalog)
	if err != nil {
		return err
	}
	out[rules+"/rules.json"], out[rules+"/README.md"], out[rules+"/controls.md"] = catalog, policypack.Index(s.Packs...), report.Controls(parsed)
	return nil
}

// pictures adds those of prod, which the README shows.
func (s Sources) pictures(out map[string][]byte) error {
	picture, wide, narrow := graph.Of("prod", s.Prod), bytes.Buffer{}, bytes.Buffer{}
	if err := picture.SVG(&wide); err != nil {
		return err
	}
	if err := picture.NarrowSVG(&narrow); err != nil {
		return err
	}
	out["docs/platform.svg"], out["docs/platform-narrow.svg"] = wide.Bytes(), narrow.Bytes()
	return nil
}

// anchor is where a heading is on its page, as GitHub makes it.
func anchor(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteRune('-')
		}
	}
	return b.String()
}

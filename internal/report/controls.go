package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// family is a run of numbered controls of a framework.
type family struct {
	prefix string // before the number
	title  string
	count  int
}

// benchmark is the Microsoft cloud security benchmark, version 1 with the AI
// controls of version 2 (preview): 92 controls. Their titles are in
// https://learn.microsoft.com/security/benchmark/azure/overview
var benchmark = []family{
	{"NS", "Network security", 10},
	{"IM", "Identity management", 9},
	{"PA", "Privileged access", 8},
	{"DP", "Data protection", 8},
	{"AM", "Asset management", 5},
	{"LT", "Logging and threat detection", 7},
	{"IR", "Incident response", 7},
	{"PV", "Posture and vulnerability management", 7},
	{"ES", "Endpoint security", 3},
	{"BR", "Backup and recovery", 4},
	{"DS", "DevOps security", 7},
	{"GS", "Governance and strategy", 10},
	{"AI", "Artificial intelligence security", 7},
}

// Controls is docs/rules/controls.md: which rules cover each control, and which
// controls of the benchmark have none.
func Controls(c Catalog) []byte {
	of := map[string][]string{}
	for _, rule := range c {
		for _, control := range rule.Controls {
			of[control] = append(of[control], fmt.Sprintf("[%s](%s.md)", rule.ID, rule.ID))
		}
	}
	var b strings.Builder
	b.WriteString("# Controls\n\nGenerated from `rules.json`; `go test ./internal/report -update` writes it again. A rule covers a part of a control, never the whole of it.\n\n" +
		"## Microsoft cloud security benchmark\n\nVersion 1, and the AI controls of version 2 (preview).\n\n| family | controls | with a rule | without |\n|---|---|---|---|\n")
	benchmarked := map[string]bool{}
	var rows strings.Builder
	for _, f := range benchmark {
		var without []string
		for n := 1; n <= f.count; n++ {
			name := f.prefix + "-" + strconv.Itoa(n)
			control := "MCSB " + name
			benchmarked[control] = true
			if len(of[control]) == 0 {
				without = append(without, name)
			} else {
				fmt.Fprintf(&rows, "| %s | %s |\n", name, strings.Join(of[control], ", "))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", f.title, f.count, f.count-len(without), cmp.Or(strings.Join(without, ", "), "-"))
	}
	b.WriteString("\n| control | rules |\n|---|---|\n" + rows.String())
	b.WriteString("\n## Other frameworks\n\nOnly what a rule names: these lists are not complete, so that a control is absent here says nothing.\n\n| control | rules |\n|---|---|\n")
	var others []string
	for control := range of {
		if !benchmarked[control] {
			others = append(others, control)
		}
	}
	slices.SortFunc(others, compareControls)
	for _, control := range others {
		fmt.Fprintf(&b, "| %s | %s |\n", control, strings.Join(of[control], ", "))
	}
	return []byte(b.String())
}

// frameworks come in this order, all others after them.
var frameworks = []string{"MCSB ", "CIS ", "Azure Policy "}

// compareControls orders by framework, and numbers in names as numbers: NS-2
// comes before NS-10.
func compareControls(a, b string) int {
	rank := func(control string) int {
		if i := slices.IndexFunc(frameworks, func(f string) bool { return strings.HasPrefix(control, f) }); i >= 0 {
			return i
		}
		return len(frameworks)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), compareNumbered(a, b))
}

func compareNumbered(a, b string) int {
	for a != "" && b != "" {
		restA, restB := strings.TrimLeftFunc(a, unicode.IsDigit), strings.TrimLeftFunc(b, unicode.IsDigit)
		numberA, numberB := a[:len(a)-len(restA)], b[:len(b)-len(restB)]
		if numberA != "" && numberB != "" {
			if c := cmp.Or(cmp.Compare(len(numberA), len(numberB)), cmp.Compare(numberA, numberB)); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

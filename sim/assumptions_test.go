package sim_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every number that code or tests cite is in ASSUMPTIONS.md, every number there
// is cited, each has all columns, and its test exists and cites it.
func TestAssumptions(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`\bA\d{3}\b`)
	code, tests := map[string]bool{}, map[string]string{} // cited in code; test text by function
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			for _, n := range number.FindAllString(string(text), -1) {
				code[n] = true
			}
			return nil
		}
		// A test's text goes from the comment before it to that before the next.
		from, name := 0, ""
		for _, at := range regexp.MustCompile(`(?m)(?:^//.*\n)*^func (\w+)\(`).FindAllStringSubmatchIndex(string(text), -1) {
			if name != "" {
				tests[name] = string(text[from:at[0]])
			}
			from, name = at[0], string(text[at[2]:at[3]])
		}
		if name != "" {
			tests[name] = string(text[from:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("ASSUMPTIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	known, last := map[string]bool{}, ""
	for line := range strings.Lines(string(table)) {
		if !strings.HasPrefix(line, "| A") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 6 {
			t.Errorf("%d columns, want 6: %s", len(cells), line)
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		no, status, test := cells[0], cells[4], cells[5]
		if no <= last {
			t.Errorf("%s comes after %s", no, last)
		}
		last, known[no] = no, true
		if !slices.Contains([]string{"verified", "reported", "from docs", "inferred", "ours"}, status) {
			t.Errorf("%s: status %q", no, status)
		}
		text, ok := tests[test]
		if !ok {
			t.Errorf("%s: no test %s", no, test)
		} else if !number.MatchString(text) || !strings.Contains(text, no) {
			t.Errorf("%s: %s does not cite it", no, test)
		}
		if !code[no] {
			t.Errorf("%s is not cited in the code", no)
		}
	}
	for no := range code {
		if !known[no] {
			t.Errorf("the code cites %s, which ASSUMPTIONS.md lacks", no)
		}
	}
	for name, text := range tests {
		for _, no := range number.FindAllString(text, -1) {
			if !known[no] {
				t.Errorf("%s cites %s, which ASSUMPTIONS.md lacks", name, no)
			}
		}
	}
}

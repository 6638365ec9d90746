package docs

import (
	"fmt"
	"strconv"
	"strings"

	"onedoor/internal/az/flows"
)

// flowTable is every row of the table of flows.
func flowTable() []byte {
	p := newPage("Flows", "the table in `internal/az/flows`")
	p.say("Who may open a connection to whom. Security groups and the policies of the cluster follow from this table; what it does not list is denied. " +
		"Some rows hold for some stacks only: `onedoor graph` draws those of a plan, `onedoor reach` says what decides each connection.")
	var rows [][]string
	for _, f := range flows.Table {
		source := f.Source
		if strings.HasPrefix(source, "https://") {
			source = "<" + source + ">"
		}
		always := "always"
		if f.When != nil {
			always = "by configuration"
		}
		rows = append(rows, []string{strconv.Itoa(f.Number), f.From.String(), f.To.String(), fmt.Sprintf("%s %s", strings.ToLower(string(f.Ports.Protocol)), strings.Join(f.Ports.Numbers, ", ")), f.Why, always, source})
	}
	p.table([]string{"row", "from", "to", "port", "why", "holds", "source"}, escaped(rows))
	return p.bytes()
}

// escaped keeps what is read from code from being read as Markdown.
func escaped(rows [][]string) [][]string {
	for _, row := range rows {
		for i := range row {
			if !strings.HasPrefix(row[i], "<https://") {
				row[i] = plain(row[i])
			}
		}
	}
	return rows
}

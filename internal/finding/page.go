package finding

import (
	"bytes"
	"fmt"
	"strings"
)

// Markdown is the page that explains a code.
func (c Code) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s\n\nSeverity: %s.\n\n", c.ID, c.Title, c.Severity)
	c.explain(&b)
	return b.Bytes()
}

// Section explains a code as a part of a page; its anchor is the code in lower case.
func (c Code) Section() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n%s. Severity: %s.\n\n", c.ID, c.Title, c.Severity)
	c.explain(&b)
	return b.Bytes()
}

func (c Code) explain(b *bytes.Buffer) {
	fmt.Fprintf(b, "**Why.** %s\n\n**Reads.** %s\n\n**Fix.** %s.\n\nSource: <%s>\n", c.Why, c.Reads, strings.ToUpper(c.Remedy[:1])+c.Remedy[1:], c.Source)
}

// Index lists codes.
func Index(codes []Code, link func(Code) string) []byte {
	var b bytes.Buffer
	b.WriteString("| code | severity | what is right when it is ok |\n|---|---|---|\n")
	for _, c := range codes {
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", c.ID, link(c), c.Severity, c.Title)
	}
	return b.Bytes()
}

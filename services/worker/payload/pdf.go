package payload

import (
	"bytes"
	"errors"

	"github.com/ledongthuc/pdf"
)

// Limits of the tree of a document's pages.
const (
	maxPages = 10_000 // and nodes between them
	maxDepth = 64
)

// errUnreadable says that bytes are no document.
var errUnreadable = bad(Malformed, "the PDF cannot be read")

// textOfPDF is the text of a document, of up to most bytes. The library panics on
// some that are none.
func textOfPDF(data []byte, most int64) (text []byte, err error) {
	defer func() {
		if recover() != nil {
			text, err = nil, errUnreadable
		}
	}()
	reader, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, pdf.ErrInvalidPassword) {
		return nil, bad(Unsupported, "the PDF has a password")
	}
	if err != nil {
		return nil, errUnreadable
	}
	w := walk{}
	if !w.pages(reader.Trailer().Key("Root").Key("Pages"), 0) {
		return nil, bad(Malformed, "the PDF has more than %d pages, or a tree of them that never ends", maxPages)
	}
	for _, page := range w.found {
		part, err := page.GetPlainText(nil)
		if err != nil {
			return nil, errUnreadable
		}
		if text = append(text, part...); int64(len(text)) > most {
			return nil, bad(TooLarge, "the PDF has more text than the workers have memory for")
		}
	}
	if text = bytes.TrimSpace(bytes.ToValidUTF8(text, nil)); len(text) == 0 {
		return nil, bad(Unsupported, "the PDF has no text; post its pages as images")
	}
	return text, nil
}

// walk finds the pages of a document.
type walk struct {
	found []pdf.Page
	nodes int
}

// pages adds the pages below a node; false when there are too many.
func (w *walk) pages(node pdf.Value, depth int) bool {
	if w.nodes++; w.nodes > maxPages || depth > maxDepth {
		return false
	}
	if node.Key("Type").Name() == "Page" {
		w.found = append(w.found, pdf.Page{V: node})
		return true
	}
	kids := node.Key("Kids")
	for i := range kids.Len() {
		if !w.pages(kids.Index(i), depth+1) {
			return false
		}
	}
	return true
}

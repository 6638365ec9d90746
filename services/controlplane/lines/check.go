package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"onedoor/services/controlplane/apierror"
)

// Rules are what a file must keep.
type Rules struct {
	MaxLines  int   // of the whole file
	MaxBytes  int64 // of the whole file
	MaxParts  int   // of the whole file
	PartLines int   // of what Azure takes at a time
	PartBytes int64 // of what Azure takes at a time, with the deployment's name in it
	// Serve says which deployment serves an alias of the caller, and how many tokens
	// of input it takes at a time. The refusal is for the caller.
	Serve func(alias string) (deployment string, tokens int64, err *apierror.Error)
}

// Part is a run of lines that Azure takes as one file.
type Part struct {
	Offset int64 `json:"offset"` // in bytes of the file
	Length int64 `json:"length"` // in bytes
	First  int   `json:"first"`  // line, from 1
	Lines  int   `json:"lines"`
	Tokens int64 `json:"tokens"` // estimate of the input
}

// Summary is what a file holds.
type Summary struct {
	Alias      string
	Deployment string
	URL        string
	Bytes      int64
	Lines      int
	Tokens     int64
	Parts      []Part
}

// maxProblems is how many problems of a file are told. More would not be read.
const maxProblems = 20

// bom is the mark that Windows programs put before UTF-8. Azure answers it with an
// error about the deployment's name.
// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch
var bom = []byte("\xef\xbb\xbf")

// Check reads a file to its end and says what it holds, or what is wrong with it.
// The error is an *apierror.Error if the file is to blame. out, if not nil, gets
// the file as Azure is to get it; it is worth nothing if there is an error.
func Check(in io.Reader, out io.Writer, rules Rules) (Summary, error) {
	c := checker{rules: rules, hash: NewHasher(), ids: map[ID]struct{}{}, out: out}
	// One byte more than what is allowed tells a file that is too large.
	limited := &io.LimitedReader{R: in, N: rules.MaxBytes + 1}
	reader := NewReader(limited)
	for {
		raw, err := reader.Next()
		if limited.N == 0 {
			return Summary{}, apierror.New(apierror.FileTooLarge, "file", "the file has more than %d bytes, which is the most; upload it as several files and create a batch for each", rules.MaxBytes)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		c.sum.Lines++
		if errors.Is(err, ErrLong) { // what follows may be anything
			c.bad(apierror.Problem{Code: "invalid_json_line", Message: fmt.Sprintf("is longer than %d bytes; send smaller requests", MaxLine)})
			break
		}
		if err != nil {
			return Summary{}, err
		}
		if err := c.line(raw, reader.Offset, reader.Length); err != nil {
			return Summary{}, err
		}
		if len(c.found) >= maxProblems || c.full {
			break
		}
	}
	return c.end()
}

type checker struct {
	rules Rules
	hash  Hasher
	ids   map[ID]struct{}
	out   io.Writer
	buf   []byte

	sum    Summary
	limit  int64 // tokens that the deployment takes at a time
	length int64 // of the last part, with the deployment's name in it
	found  []apierror.Problem
	full   bool // no line more fits in what a file may be cut into
}

func (c *checker) bad(p apierror.Problem) {
	p.Line = c.sum.Lines
	c.found = append(c.found, p)
}

// line checks one line and adds it to a part.
func (c *checker) line(raw []byte, offset, length int64) error {
	c.sum.Bytes += length
	if c.sum.Lines == 1 && bytes.HasPrefix(raw, bom) {
		c.bad(apierror.Problem{Code: "invalid_json_line", Message: "begins with a byte order mark, which Azure takes for a wrong deployment name; save the file as UTF-8 without BOM"})
		raw = raw[len(bom):]
	}
	if c.sum.Lines == c.rules.MaxLines+1 {
		return apierror.New(apierror.FileTooLarge, "file", "the file has more than %d lines, which is the most; upload it as several files and create a batch for each", c.rules.MaxLines)
	}
	if len(raw) == 0 {
		c.bad(apierror.Problem{Code: "invalid_json_line", Message: "is empty; leave no empty lines"})
		return nil
	}
	l, problems := Parse(raw)
	for _, p := range problems {
		c.bad(p)
	}
	if len(problems) > 0 {
		return nil
	}
	id := c.hash.Of(l.CustomID)
	if _, twice := c.ids[id]; twice {
		c.bad(apierror.Problem{Code: "duplicate_custom_id", Param: "custom_id", Message: fmt.Sprintf("custom_id %q is that of an earlier line, too; give each line its own, or its result could not be told from the other's", cut(l.CustomID))})
		return nil
	}
	c.ids[id] = struct{}{}
	if !c.same(l) {
		return nil
	}
	c.add(l, raw, offset, length)
	if c.out == nil {
		return nil
	}
	c.buf = append(l.Name(c.buf[:0], raw, c.sum.Deployment), '\n')
	_, err := c.out.Write(c.buf)
	return err
}

// same holds a line to the model and the endpoint of the first.
func (c *checker) same(l Line) bool {
	if c.sum.Alias == "" {
		deployment, tokens, refusal := c.rules.Serve(l.Model)
		if refusal != nil {
			c.bad(apierror.Problem{Code: string(refusal.Code), Param: "body.model", Message: refusal.Message})
			return false
		}
		c.sum.Alias, c.sum.URL, c.sum.Deployment, c.limit = l.Model, l.URL, deployment, tokens
	}
	if l.Model != c.sum.Alias {
		c.bad(apierror.Problem{Code: "model_mismatch", Param: "body.model", Message: fmt.Sprintf("body.model is %q and was %q before; one file is for one model", cut(l.Model), c.sum.Alias)})
		return false
	}
	if l.URL != c.sum.URL {
		c.bad(apierror.Problem{Code: "url_mismatch", Param: "url", Message: fmt.Sprintf("url is %q and was %q before; one file is for one endpoint", l.URL, c.sum.URL)})
		return false
	}
	if l.Tokens > c.limit {
		c.bad(apierror.Problem{Code: "token_limit_exceeded", Param: "body", Message: fmt.Sprintf("has about %d tokens of input, and %s takes %d in all; send less", l.Tokens, c.sum.Alias, c.limit)})
		return false
	}
	return true
}

// add puts a line into the last part, or begins the next.
func (c *checker) add(l Line, raw []byte, offset, length int64) {
	named := l.named(raw, c.sum.Deployment) + 1
	full := len(c.sum.Parts) == 0
	if !full {
		last := c.sum.Parts[len(c.sum.Parts)-1]
		full = last.Lines == c.rules.PartLines || c.length+named > c.rules.PartBytes || last.Tokens+l.Tokens > c.limit
	}
	if full && len(c.sum.Parts) == c.rules.MaxParts {
		c.bad(apierror.Problem{Code: "too_many_tasks", Message: fmt.Sprintf("begins a part beyond the %d that one file may be cut into, by lines, bytes and the %d tokens that %s takes at a time; upload it as several files", c.rules.MaxParts, c.limit, c.sum.Alias)})
		c.full = true
		return
	}
	if full {
		c.sum.Parts = append(c.sum.Parts, Part{Offset: offset, First: c.sum.Lines})
		c.length = 0
	}
	last := &c.sum.Parts[len(c.sum.Parts)-1]
	last.Lines, last.Length, last.Tokens = last.Lines+1, last.Length+length, last.Tokens+l.Tokens
	c.length += named
	c.sum.Tokens += l.Tokens
}

// end is the summary, or the refusal.
func (c *checker) end() (Summary, error) {
	if len(c.found) == 0 && c.sum.Lines == 0 {
		c.bad(apierror.Problem{Code: "empty_batch", Message: "the file is empty; write one request on each line"})
	}
	if len(c.found) == 0 {
		return c.sum, nil
	}
	first := c.found[0]
	refusal := apierror.New(apierror.InvalidFile, "file", "the file has %d problems, the first in line %d: %s", len(c.found), first.Line, first.Message)
	switch {
	case len(c.found) >= maxProblems:
		refusal.Message = fmt.Sprintf("the file has %d problems or more, the first in line %d: %s", maxProblems, first.Line, first.Message)
	case len(c.found) == 1:
		refusal.Message = fmt.Sprintf("line %d %s", first.Line, first.Message)
	}
	refusal.Problems = c.found
	return Summary{}, refusal
}

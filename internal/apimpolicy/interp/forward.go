package interp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// response is an answer on its way out.
type response struct {
	status int
	header http.Header
	body   io.ReadCloser
	whole  bool // held back until it is complete
	read   bool // from a back end, so its tokens count
}

func textBody(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// send writes the answer, piece by piece as it comes unless it is to be held
// back, and then counts its tokens.
func (r *response) send(w http.ResponseWriter, count func(tokens int)) {
	defer func() { _ = r.body.Close() }() // nothing is left to be told
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	flusher, _ := w.(http.Flusher)
	var all bytes.Buffer
	piece := make([]byte, 4096)
	for {
		n, err := r.body.Read(piece)
		all.Write(piece[:n])
		if n > 0 && !r.whole {
			_, _ = w.Write(piece[:n]) // a caller that has gone is no matter here
			if flusher != nil {
				flusher.Flush()
			}
		}
		if err != nil {
			break
		}
	}
	if r.whole {
		_, _ = w.Write(all.Bytes())
	}
	if r.read && count != nil {
		count(usage(all.Bytes()))
	}
}

// usage is the total_tokens of an answer, or of the last piece of a stream that
// has them; 0 for an answer without.
func usage(body []byte) int {
	total := 0
	for line := range strings.SplitSeq(string(body), "\n") {
		var answer struct {
			Usage struct {
				Total int `json:"total_tokens"`
			} `json:"usage"`
		}
		line = strings.TrimPrefix(line, "data: ")
		if json.Unmarshal([]byte(line), &answer) == nil && answer.Usage.Total > 0 {
			total = answer.Usage.Total
		}
	}
	return total
}

// errUnreachable is what forwarding to a back end that does not answer ends in.
var errUnreachable = errors.New("the back end cannot be reached")

// send calls the back end. It returns as soon as the answer has begun.
func (b Backend) send(method, path string, header http.Header, body string) (*response, error) {
	if b.Handler == nil {
		return nil, errUnreachable
	}
	target, err := url.Parse(b.URL + path)
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	request := &http.Request{
		Method: method, URL: target, Host: target.Host, Header: header.Clone(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: textBody(body), ContentLength: int64(len(body)), RequestURI: target.RequestURI(),
	}
	for name, value := range b.Headers {
		request.Header.Set(name, value)
	}
	w := &pipe{header: http.Header{}, writer: writer, begun: make(chan *response, 1), body: reader}
	go func() {
		defer func() {
			if recover() != nil { // as net/http does with a handler that gives up
				_ = writer.CloseWithError(io.ErrUnexpectedEOF)
				w.begin(nil)
			}
		}()
		b.Handler.ServeHTTP(w, request)
		w.WriteHeader(http.StatusOK)
		_ = writer.Close()
	}()
	answer := <-w.begun
	if answer == nil {
		return nil, errUnreachable
	}
	return answer, nil
}

// pipe hands an answer over while it is written.
type pipe struct {
	header http.Header
	writer *io.PipeWriter
	body   *io.PipeReader
	begun  chan *response
	done   bool
}

func (p *pipe) Header() http.Header { return p.header }

func (p *pipe) Flush() {}

func (p *pipe) WriteHeader(status int) {
	p.begin(&response{status: status, header: p.header.Clone(), body: p.body, read: true})
}

func (p *pipe) begin(r *response) {
	if !p.done {
		p.done = true
		p.begun <- r
	}
}

func (p *pipe) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.writer.Write(b)
}

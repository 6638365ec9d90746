package blobs

import (
	"context"
	"errors"
	"io"
)

// Pipe writes a blob piece by piece. A Pipe that nothing was written to makes no
// blob.
type Pipe struct {
	ctx             context.Context
	store           Store
	container, name string

	to   *io.PipeWriter // nil before the first byte
	done chan struct{}  // closed when the store has answered
	info Info
	err  error
}

// NewPipe is a pipe to that blob.
func NewPipe(ctx context.Context, store Store, container, name string) *Pipe {
	return &Pipe{ctx: ctx, store: store, container: container, name: name}
}

func (p *Pipe) Write(b []byte) (int, error) {
	if p.to == nil {
		var from *io.PipeReader
		from, p.to = io.Pipe()
		p.done = make(chan struct{})
		go func() {
			defer close(p.done)
			p.info, p.err = p.store.Write(p.ctx, p.container, p.name, from)
			from.CloseWithError(errors.Join(p.err, io.ErrClosedPipe)) // a writer must not wait for a store that has given up
		}()
	}
	return p.to.Write(b)
}

// Close ends the blob, or with a cause makes none, and says what was made: nothing
// was, if the Info has no name.
func (p *Pipe) Close(cause error) (Info, error) {
	if p.to == nil {
		return Info{}, cause
	}
	p.to.CloseWithError(cause) // nil is io.EOF
	<-p.done
	if cause != nil {
		return Info{}, cause
	}
	return p.info, p.err
}

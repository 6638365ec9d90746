package busfake

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/Azure/go-amqp"
)

// Limits that the broker tells its clients.
const (
	maxFrame   = 64 * 1024
	maxMessage = 1024 * 1024
	window     = 5000 // transfers of a session that may be under way
	keepAlive  = 10 * time.Second
)

// Types of frames.
const frameAMQP, frameSASL byte = 0, 1

// pipe writes frames to a client. A broker that holds a lock must not wait for a
// client, so frames queue up and one goroutine writes them.
type pipe struct {
	conn   net.Conn
	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	closed bool
}

func newPipe(conn net.Conn) *pipe {
	p := &pipe{conn: conn}
	p.wake = sync.NewCond(&p.mu)
	return p
}

// send queues a frame.
func (p *pipe) send(kind byte, channel uint16, body encoded, payload ...byte) {
	frame := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)+len(payload)))
	frame = append(frame, 2, kind)
	frame = binary.BigEndian.AppendUint16(frame, channel)
	p.raw(append(append(frame, body...), payload...))
}

// raw queues bytes.
func (p *pipe) raw(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, data)
	p.wake.Signal()
}

// close ends the connection at once.
func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.wake.Signal()
	p.conn.Close()
}

// write writes what is queued until the connection ends.
func (p *pipe) write() {
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && !p.closed {
			p.wake.Wait()
		}
		if p.closed {
			p.mu.Unlock()
			return
		}
		frames := net.Buffers(p.queue)
		p.queue = nil
		p.mu.Unlock()
		if _, err := frames.WriteTo(p.conn); err != nil {
			p.close()
			return
		}
	}
}

// frame is one that was received.
type frame struct {
	channel uint16
	performative
	payload []byte
}

// read reads the next frame that is not empty.
func read(r *bufio.Reader) (frame, error) {
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return frame{}, err
		}
		n, offset := binary.BigEndian.Uint32(head[:]), 4*uint32(head[4])
		if n > maxFrame || offset < 8 || n < offset {
			return frame{}, fmt.Errorf("a frame of %d bytes with its body at %d", n, offset)
		}
		rest := make([]byte, n-8)
		if _, err := io.ReadFull(r, rest); err != nil {
			return frame{}, err
		}
		body := rest[offset-8:]
		if len(body) == 0 {
			continue // says only that the client lives
		}
		p, payload, err := parse(body)
		if err != nil {
			return frame{}, err
		}
		return frame{binary.BigEndian.Uint16(head[6:]), p, payload}, nil
	}
}

// handshake agrees on the protocol, without a password, and opens the connection.
func handshake(r *bufio.Reader, p *pipe) error {
	for _, header := range []string{"AMQP\x03\x01\x00\x00", "AMQP\x00\x01\x00\x00"} {
		got := make([]byte, len(header))
		if _, err := io.ReadFull(r, got); err != nil {
			return err
		}
		if string(got) != header {
			return fmt.Errorf("header %q, want %q", got, header)
		}
		p.raw([]byte(header))
		if header[4] != 3 {
			break
		}
		p.send(frameSASL, 0, composite(codeSASLMechanisms, []amqp.Symbol{"ANONYMOUS"}))
		init, err := read(r)
		if err != nil {
			return err
		}
		if init.code != codeSASLInit || init.text(0) != "ANONYMOUS" {
			return fmt.Errorf("mechanism %q, want ANONYMOUS", init.text(0))
		}
		p.send(frameSASL, 0, composite(codeSASLOutcome, uint8(0)))
	}
	open, err := read(r)
	if err != nil {
		return err
	}
	if open.code != codeOpen {
		return errors.New("no open")
	}
	p.send(frameAMQP, 0, composite(codeOpen, "busfake", nil, uint32(maxFrame), uint16(65535), uint32(2*keepAlive/time.Millisecond)))
	return nil
}

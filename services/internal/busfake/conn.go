package busfake

import (
	"bufio"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/Azure/go-amqp"
)

// Conditions of errors that clients understand.
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-amqp-troubleshoot
const (
	conditionNotFound     = "amqp:not-found"
	conditionUnauthorized = "amqp:unauthorized-access"
	conditionLockLost     = "com.microsoft:message-lock-lost"
	conditionDetachForced = "amqp:link:detach-forced"
)

// Addresses of request and response links.
const (
	addressTokens     = "$cbs"
	addressManagement = "/$management"
)

// grant is how many messages a client may send before it is given more credit.
const grant = 1000

// conn is a client's connection.
type conn struct {
	bus      *Bus
	out      *pipe
	open     bool
	sessions map[uint16]*session
	allowed  map[string]bool // entities that a token was shown for
}

// session is one of a connection.
type session struct {
	conn      *conn
	channel   uint16
	links     map[uint32]*link
	received  uint32 // id of the next transfer from the client
	sent      uint32 // id of the next transfer, and delivery, to it
	unsettled map[uint32]delivery
}

// delivery is a message that a client has to settle.
type delivery struct {
	queue *queue
	lock  token
}

// link is one of a session. Messages go one way on it.
type link struct {
	session *session
	handle  uint32
	address string
	reply   string // of a link that answers: where they are to go
	toBus   bool   // the client sends
	settled bool   // what is delivered needs no settling
	credit  uint32
	count   uint32    // of deliveries
	queue   *queue    // that is delivered from; nil for others
	partial *incoming // a message that is not complete
}

// incoming is a message that comes in several frames.
type incoming struct {
	id      uint32
	format  uint32
	settled bool // needs no answer
	data    []byte
}

// serve talks to a client until one of both ends it.
func (b *Bus) serve(nc net.Conn) {
	c := &conn{bus: b, out: newPipe(nc), sessions: map[uint16]*session{}, allowed: map[string]bool{}}
	defer c.out.close()
	go c.out.write()
	b.mu.Lock()
	b.conns[c] = true
	b.mu.Unlock()
	defer c.forget()
	r := bufio.NewReader(nc)
	if handshake(r, c.out) != nil {
		return
	}
	b.mu.Lock()
	c.open = true
	b.mu.Unlock()
	for {
		f, err := read(r)
		if err != nil {
			return
		}
		b.mu.Lock()
		more := c.handle(f)
		b.mu.Unlock()
		if !more {
			return
		}
	}
}

// forget drops what the connection received from. Its locks stay until they run
// out, as those of the service do.
func (c *conn) forget() {
	c.bus.mu.Lock()
	defer c.bus.mu.Unlock()
	delete(c.bus.conns, c)
	for _, s := range c.sessions {
		s.end()
	}
}

func (c *conn) send(s *session, body encoded, payload ...byte) {
	c.out.send(frameAMQP, s.channel, body, payload...)
}

// handle does what a frame asks for; false ends the connection.
func (c *conn) handle(f frame) bool {
	s := c.sessions[f.channel]
	switch {
	case f.code == codeClose:
		c.out.send(frameAMQP, 0, composite(codeClose)) // and the client ends the connection
	case f.code == codeBegin:
		s = &session{conn: c, channel: f.channel, links: map[uint32]*link{}, unsettled: map[uint32]delivery{}, received: f.number(1)}
		c.sessions[f.channel] = s
		c.send(s, composite(codeBegin, f.channel, uint32(0), uint32(window), uint32(window), uint32(1023)))
	case s == nil:
		return false
	case f.code == codeEnd:
		s.end()
		delete(c.sessions, f.channel)
		c.send(s, composite(codeEnd))
	case f.code == codeAttach:
		s.attach(f)
	case f.code == codeDetach:
		if l := s.links[f.number(0)]; l != nil {
			l.drop()
			c.send(s, composite(codeDetach, l.handle, true))
		}
	case f.code == codeFlow:
		s.flow(f)
	case f.code == codeTransfer:
		s.transfer(f)
	case f.code == codeDisposition:
		s.disposition(f)
	}
	return true
}

// end drops all links.
func (s *session) end() {
	for _, handle := range slices.Sorted(maps.Keys(s.links)) {
		s.links[handle].drop()
	}
}

// drop takes a link out.
func (l *link) drop() {
	delete(l.session.links, l.handle)
	if l.queue != nil {
		l.queue.sinks = slices.DeleteFunc(l.queue.sinks, func(x *link) bool { return x == l })
	}
}

// attach answers with a link of the same modes, or refuses it.
func (s *session) attach(f frame) {
	l := &link{session: s, handle: f.number(1), toBus: !f.yes(2)}
	source, target := f.part(5), f.part(6)
	l.address = source.text(0)
	if l.toBus {
		l.address = target.text(0)
	} else {
		l.reply = target.text(0)
		mode, _ := f.value(3).(uint8)
		l.settled = mode == 1
	}
	condition := s.conn.check(l)
	fields := []any{f.text(0), l.handle, l.toBus, f.value(3), f.value(4), f.raw(5), f.raw(6), nil, nil, uint32(0), uint64(maxMessage)}
	for i, v := range fields {
		if e, ok := v.(encoded); ok && e == nil {
			fields[i] = nil
		}
	}
	if condition != "" {
		fields[5], fields[6] = nil, nil
		s.conn.send(s, composite(codeAttach, fields...))
		s.conn.send(s, composite(codeDetach, l.handle, true, composite(codeError, amqp.Symbol(condition), l.address)))
		return
	}
	s.links[l.handle] = l
	s.conn.send(s, composite(codeAttach, fields...))
	if l.toBus {
		s.grant(l)
	}
	if l.queue != nil {
		l.queue.sinks = append(l.queue.sinks, l)
	}
}

// check says why a link is refused, and finds what it is for.
func (c *conn) check(l *link) (condition string) {
	entity := strings.ToLower(strings.TrimSuffix(l.address, addressManagement))
	if l.address == addressTokens {
		return ""
	}
	if !c.allowed[entity] {
		return conditionUnauthorized
	}
	q, topic := c.bus.find(entity), c.bus.topics[entity]
	switch {
	case q == nil && topic == nil:
		return conditionNotFound
	case !l.toBus && entity == strings.ToLower(l.address):
		l.queue = q
	}
	return ""
}

// grant gives a client that sends credit.
func (s *session) grant(l *link) {
	l.credit = grant
	s.conn.send(s, composite(codeFlow, s.received, uint32(window), s.sent, uint32(window), l.handle, l.count, uint32(grant)))
}

// flow takes the credit of a client that receives. One that asks for it is told
// that nothing more comes.
func (s *session) flow(f frame) {
	l := s.links[f.number(4)]
	if f.raw(4) == nil || l == nil || l.toBus {
		return
	}
	l.credit = f.number(5) + f.number(6) - l.count
	if l.queue != nil {
		s.conn.bus.deliver(l.queue)
	}
	if f.yes(8) { // drain
		l.count += l.credit
		l.credit = 0
		s.conn.send(s, composite(codeFlow, s.received, uint32(window), s.sent, uint32(window), l.handle, l.count, uint32(0), uint32(0), true))
	}
}

// annotate writes into a message what the service knows of it.
func (m *message) annotate() {
	m.Header = &amqp.MessageHeader{DeliveryCount: m.deliveries}
	if m.Annotations == nil {
		m.Annotations = amqp.Annotations{}
	}
	m.Annotations["x-opt-sequence-number"] = m.sequence
	m.Annotations["x-opt-enqueued-time"] = m.enqueued
}

// deliver sends a message of a queue.
func (l *link) deliver(q *queue, m *message) {
	m.annotate()
	m.Annotations["x-opt-locked-until"] = m.until
	if !l.settled {
		l.session.unsettled[l.session.sent] = delivery{q, m.lock}
	} else {
		delete(q.locked, m.lock)
	}
	l.send(m.Message, m.lock[:])
}

// send sends a message, in one frame.
func (l *link) send(m *amqp.Message, tag []byte) {
	data, err := m.MarshalBinary()
	if err != nil {
		panic(err) // it was decoded from a message, or made here
	}
	s := l.session
	s.conn.send(s, composite(codeTransfer, l.handle, s.sent, tag, uint32(0), l.settled), data...)
	s.sent++
	l.count++
	l.credit--
}

// transfer takes a part of a message that a client sends.
func (s *session) transfer(f frame) {
	s.received++
	l := s.links[f.number(0)]
	if l == nil {
		return
	}
	if l.partial == nil {
		l.partial = &incoming{id: f.number(1), format: f.number(3), settled: f.yes(4)}
	}
	l.partial.data = append(l.partial.data, f.payload...)
	if f.yes(5) { // more comes
		return
	}
	whole := l.partial
	l.partial = nil
	l.count++
	if l.credit--; l.credit < grant/2 {
		s.grant(l)
	}
	state := composite(codeAccepted)
	if err := s.take(l, whole); err != nil {
		state = composite(codeRejected, composite(codeError, amqp.Symbol("amqp:internal-error"), err.Error()))
	}
	if !whole.settled {
		s.conn.send(s, composite(codeDisposition, true, whole.id, whole.id, true, state))
	}
}

// formatBatch is that of a message which has messages as its body.
const formatBatch = 0x80013700

// take does what a message of a client is for.
func (s *session) take(l *link, whole *incoming) error {
	var m amqp.Message
	if err := m.UnmarshalBinary(whole.data); err != nil {
		return err
	}
	if l.address == addressTokens || strings.HasSuffix(l.address, addressManagement) {
		s.conn.answer(l, &m)
		return nil
	}
	if whole.format != formatBatch {
		return s.conn.bus.send(l.address, &m)
	}
	for _, data := range m.Data {
		var one amqp.Message
		if err := one.UnmarshalBinary(data); err != nil {
			return err
		}
		if err := s.conn.bus.send(l.address, &one); err != nil {
			return err
		}
	}
	return nil
}

// disposition settles deliveries, and says how it went.
func (s *session) disposition(f frame) {
	if !f.yes(0) {
		return // of what this side received
	}
	last := f.number(1)
	if f.raw(2) != nil {
		last = f.number(2)
	}
	for id := f.number(1); id <= last; id++ {
		d, ok := s.unsettled[id]
		if !ok {
			continue
		}
		delete(s.unsettled, id)
		outcome, changes := outcomeOf(f.part(4))
		state := composite(codeAccepted)
		if err := s.conn.bus.settle(d.queue, d.lock, outcome, changes); err != nil {
			state = composite(codeRejected, composite(codeError, amqp.Symbol(conditionLockLost), err.Error()))
		}
		if !f.yes(3) {
			s.conn.send(s, composite(codeDisposition, false, id, id, true, state))
		}
	}
}

// outcomeOf is what a delivery's state means, and the properties that it changes.
func outcomeOf(state performative) (Outcome, map[string]any) {
	changes := map[string]any{}
	add := func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.Copy(changes, v)
		case map[any]any:
			for name, value := range v {
				if name, ok := name.(string); ok {
					changes[name] = value
				}
			}
		}
	}
	switch state.code {
	case codeAccepted:
		return Completed, nil
	case codeRejected:
		add(state.part(0).value(2))
		return DeadLettered, changes
	case codeModified:
		add(state.value(2))
		return Abandoned, changes
	}
	return Released, nil
}

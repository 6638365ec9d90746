package work

import (
	"bytes"
	"context"
	"errors"
	"io"

	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/store"
)

// many makes the result of a payload of many items, from where it stopped before.
func (it *item) many(result *store.Result) end {
	so := it.meta()
	if result.Continues(so.Key, so.Payload) {
		so.Meta = result.Meta
	} else if err := it.whole(); err != nil {
		return it.failed(err)
	} else {
		result.Restart()
	}
	p, err := it.open(it.lock) // which it is read under, item after item
	if err != nil {
		return it.failed(err)
	}
	defer func() { _ = p.Body.Close() }()
	l := &list{item: it, result: result, so: so, lines: it.Maker.Lines(p.Body)}
	err = l.run()
	// What was answered is kept, whatever ended it: nothing runs twice.
	if err != nil && !errors.Is(err, store.ErrTaken) && !errors.Is(context.Cause(it.lock), ErrLockLost) {
		l.keep()
	}
	if err != nil {
		return it.failed(err)
	}
	return it.completed(result, "", "") // its lines are counted
}

// open opens the payload, which can be read until ctx ends.
func (it *item) open(ctx context.Context) (p store.Payload, err error) {
	err = it.stored(func() (err error) {
		p, err = it.Store.Open(ctx, it.message.Blob, it.message.ETag)
		return err
	})
	return p, err
}

// whole reads a payload of many to its end before anything is done with it: one that
// is wrong as a whole has no result.
func (it *item) whole() error {
	p, err := it.open(it.ctx)
	if err != nil {
		return err
	}
	defer func() { _ = p.Body.Close() }()
	lines, some := it.Maker.Lines(p.Body), false
	for {
		switch made, err := lines.Next(); {
		case errors.Is(err, io.EOF) && !some:
			return &payload.Error{Code: payload.Malformed, Err: errors.New("there is no line")}
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && made.ID == "":
			return err
		}
		some = true
	}
}

// list is the work on many items.
type list struct {
	*item
	result *store.Result
	so     tally
	lines  *payload.Lines
	buffer bytes.Buffer // of lines that are not written
	fresh  int          // how many
}

// maxBuffer is how many bytes of answers wait to be written, at most before the last.
const maxBuffer = 1 << 20

// run works on all items, and writes their results.
func (l *list) run() error {
	for n := 0; ; n++ {
		made, err := l.lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && made.ID == "" {
			return err
		}
		if n < l.so.Items {
			continue // of an earlier delivery
		}
		if err := l.one(made, err); err != nil {
			return err
		}
		if l.fresh >= l.Limits.Check || l.buffer.Len() >= maxBuffer {
			if err := l.write(store.Partial); err != nil {
				return err
			}
		}
	}
	outcome := store.Answered
	if l.so.Refused == l.so.Items {
		outcome = store.Refused
	}
	return l.write(outcome)
}

// one works on an item; err is what is wrong with its line.
func (l *list) one(made payload.Item, err error) error {
	var answer model.Answer
	if err == nil {
		answer, err = l.answer(made)
	}
	var unwritten error
	switch problem := problemOf(err); {
	case err == nil:
		l.so.add(answer)
		l.Metrics.Items.WithLabelValues(string(outcomeOf(answer))).Inc()
		unwritten = writeLine(&l.buffer, l.message, made.ID, &answer, nil)
	case problem != nil && l.lock.Err() == nil:
		l.so.Items++
		l.so.Failed++
		l.Metrics.Items.WithLabelValues(outcomeFailed).Inc()
		unwritten = writeLine(&l.buffer, l.message, made.ID, nil, problem)
	default:
		return err
	}
	if unwritten != nil {
		return unwritten
	}
	l.fresh++
	l.tries = 0 // of the next item
	l.begin()
	return nil
}

// answer calls the model for an item. A call that takes too long is made again here:
// letting the message go would use up one of its deliveries.
func (l *list) answer(made payload.Item) (model.Answer, error) {
	for {
		answer, err := l.call(made)
		if err == nil || l.ctx.Err() == nil || l.lock.Err() != nil {
			return answer, err
		}
		if err := l.tooLong(err); err != nil {
			return model.Answer{}, err
		}
		l.begin()
	}
}

// write writes what is not written.
func (l *list) write(outcome store.Outcome) error {
	l.so.Outcome = outcome
	if err := l.stored(func() error { return l.result.Append(l.ctx, l.buffer.Bytes(), l.so.Meta) }); err != nil {
		return err
	}
	l.buffer, l.fresh = bytes.Buffer{}, 0
	return nil
}

// keep writes what is not written although the work has ended.
func (l *list) keep() {
	if l.fresh == 0 {
		return
	}
	l.so.Outcome = store.Partial
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), margin(l.Limits.GiveUp))
	defer cancel()
	if err := l.result.Append(ctx, l.buffer.Bytes(), l.so.Meta); err != nil {
		l.Log.Warn("answers were lost, they are asked for again", "items", l.fresh, "error", err)
	}
}

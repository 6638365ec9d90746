package work

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"onedoor/services/internal/claim"
	"onedoor/services/worker/model"
	"onedoor/services/worker/payload"
	"onedoor/services/worker/report"
	"onedoor/services/worker/store"
)

// item is the work on one delivery.
type item struct {
	*Worker
	*hold
	message claim.Message
	tries   int // of the item at hand that failed
}

// handle works on a delivery, and settles it.
func (w *Worker) handle(ctx context.Context, d Delivery) {
	began := time.Now()
	w.Metrics.InFlight.Inc()
	defer w.Metrics.InFlight.Dec()
	it := &item{Worker: w, hold: newHold(ctx, d, w.renewal(), w.Limits.GiveUp, w.Log), tries: d.Tries()}
	e := it.work(d.Body())
	kept := context.WithoutCancel(ctx)
	if e.kind == complete {
		it.tell(kept, e) // before: a worker that dies here tells it in the next delivery
	}
	it.release()
	if w.settle(kept, d, e) && e.kind == dead && it.message.Tenant != "" {
		it.tell(kept, end{outcome: e.outcome, at: time.Now().UTC().Truncate(time.Second)})
	}
	w.Metrics.Seconds.Observe(time.Since(began).Seconds())
	m := it.message
	w.Log.LogAttrs(ctx, slog.LevelInfo, "message", append(e.attributes(),
		slog.String("tenant", m.Tenant), slog.String("job", m.Job), slog.String("item", m.Item),
		slog.String("correlation", m.Correlation), slog.Float64("seconds", time.Since(began).Seconds()))...)
}

// work brings a message to its end.
func (it *item) work(body []byte) end {
	err := it.stored(func() (err error) { it.message, err = claim.Verify(body, it.Keys); return err })
	if err != nil {
		return it.failed(err)
	}
	m := it.message
	if m.Modality != it.Maker.Modality {
		return bury(reasonQueue, fmt.Sprintf("its modality is %s, these workers do %s", m.Modality, it.Maker.Modality))
	}
	if m.Alias != it.Maker.Alias {
		return bury(reasonAlias, fmt.Sprintf("its alias is %s, these workers have quota for %s", m.Alias, it.Maker.Alias))
	}
	if err := it.Maker.Check(); err != nil {
		return it.failed(err)
	}
	var result *store.Result
	if err := it.stored(func() (err error) { result, err = it.Store.Find(it.ctx, m.Path()); return err }); err != nil {
		return it.failed(err)
	}
	if result.Answers(m.IdempotencyKey(), m.ETag) {
		return it.completed(result, "", "its result was there")
	}
	return it.answer(result)
}

// answer makes the result of a payload.
func (it *item) answer(result *store.Result) end {
	var made payload.Item
	many := false
	err := it.stored(func() error {
		p, err := it.Store.Open(it.ctx, it.message.Blob, it.message.ETag)
		if err != nil {
			return err
		}
		defer func() { _ = p.Body.Close() }()
		kind := cmp.Or(it.message.Type, p.ContentType)
		if many = payload.Many(kind); many {
			return nil
		}
		if p.Size > it.Maker.MaxBytes {
			return &payload.Error{Code: payload.TooLarge, Err: fmt.Errorf("%d bytes, want at most %d", p.Size, it.Maker.MaxBytes)}
		}
		made, err = it.Maker.Item(kind, p.Body)
		return err
	})
	switch {
	case err != nil:
		return it.failed(err)
	case many:
		return it.many(result)
	}
	a, err := it.call(made)
	if err != nil {
		return it.failed(err)
	}
	outcome := outcomeOf(a)
	var lines bytes.Buffer
	if err := writeLine(&lines, it.message, "", &a, nil); err != nil {
		return it.failed(err)
	}
	meta := it.meta()
	meta.add(a)
	meta.Outcome = outcome
	if err := it.stored(func() error { return result.Put(it.ctx, lines.Bytes(), meta.Meta) }); err != nil {
		return it.failed(err)
	}
	return it.completed(result, string(outcome), "")
}

// completed is the end of a message whose result is written. outcome is counted, if
// it is not yet.
func (it *item) completed(result *store.Result, outcome, detail string) end {
	return end{kind: complete, outcome: outcome, detail: detail, tries: it.tries, at: result.At, used: result.Meta}
}

// tell tells the control plane of an end. Work goes on without it.
func (it *item) tell(ctx context.Context, e end) {
	m := it.message
	err := it.Report(ctx, report.Item{
		Tenant: m.Tenant, Alias: m.Alias, Job: m.Job, Item: m.Item, At: e.at, Outcome: cmp.Or(string(e.used.Outcome), e.outcome),
		Input: e.used.Prompt, Cached: e.used.Cached, Output: e.used.Completion,
	})
	if err != nil {
		it.Log.Warn("the control plane was not told of an item", "tenant", m.Tenant, "job", m.Job, "item", m.Item, "error", err)
	}
}

// outcomeOf is what an answer says.
func outcomeOf(a model.Answer) store.Outcome {
	if a.Refused {
		return store.Refused
	}
	return store.Answered
}

// call calls the model, as often as it takes and the item may be tried.
func (it *item) call(made payload.Item) (model.Answer, error) {
	key := it.message.IdempotencyKey()
	if made.ID != "" {
		key += ":" + made.ID
	}
	request := model.Request{Path: made.Path, Body: made.Body, Tenant: it.message.Tenant, Correlation: it.message.Correlation, Key: key}
	var answer model.Answer
	err := it.retry(func() error {
		if err := it.waiting(func(ctx context.Context) error { return it.Window.Take(ctx, made.Tokens) }); err != nil {
			return waited{err}
		}
		var err error
		answer, err = it.Model.Call(it.ctx, request)
		request.Alone = request.Alone || errors.Is(err, model.ErrSpoiled)
		return err
	})
	if err != nil {
		return model.Answer{}, err
	}
	it.Window.Used(made.Tokens, answer.Usage.Prompt+answer.Usage.Completion)
	it.Metrics.Tokens.WithLabelValues("prompt").Add(float64(answer.Usage.Prompt))
	it.Metrics.Tokens.WithLabelValues("completion").Add(float64(answer.Usage.Completion))
	it.Metrics.Cost.Add(it.Cost(answer.Usage))
	return answer, nil
}

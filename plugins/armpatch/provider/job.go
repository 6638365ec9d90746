package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// job brings one resource to a wanted state: GET, check, merge, PUT with If-Match, poll, verify.
type job struct {
	client *client
	sleep  func(context.Context, time.Duration) error
	say    func(string) // tells a person what is being waited for; never values

	id, version   string
	patch         map[string]any // merge patch of the whole body; nil when only restoring
	restore       []leaf         // edits that undo an earlier patch
	patched       map[string]any // what the earlier patch had set, for restore
	preconditions []leaf         // must hold before the PUT
	drop          []pointer      // stripped before the PUT
	uid           pointer        // nil if the resource has no such value
	poll          time.Duration  // between two looks, unless the service says otherwise
	left          time.Duration  // how long may still be waited in all
	total         time.Duration  // what left was at first, for the message
	secret        bool           // values must not appear in messages

	// skip is asked before the first PUT and may end the job, for instance because the resource
	// is another one than the one that was patched.
	skip func(uid string) bool
	// onSettled sees the resource as it was before the PUT. It is called again if a PUT was
	// refused, because somebody else may have changed the resource meanwhile.
	onSettled func(s *snapshot, uid string)

	waits int // after refusals, for the backoff
}

// outcome is how a job ended. It is meaningful beside an error too.
type outcome struct {
	final   *snapshot // as read last; nil if nothing could be read
	written bool      // a PUT was accepted or may have been, so the resource may have changed
	kept    []leaf    // removals that the service did not follow
}

// run does the job. On an error, outcome.written tells whether something may have changed.
func (j *job) run(ctx context.Context) (outcome, error) {
	var out outcome
	breaks := 0
	for {
		before, err := j.settled(ctx)
		if err != nil {
			return out, err
		}
		out.final = before
		uid, err := j.uidOf(before.body)
		if err != nil {
			return out, err
		}
		if j.skip != nil && j.skip(uid) {
			return out, nil
		}
		if !out.written && j.onSettled != nil {
			j.onSettled(before, uid)
		}
		if err := j.check(before.body); err != nil {
			return out, err
		}
		wanted, edits := leavesOf(j.patch), restorable(j.restore, before.body, j.patched)
		if len(unmet(before.body, wanted, strictly)) == 0 && len(unmet(before.body, edits, strictly)) == 0 {
			return out, nil
		}
		body := strip(apply(mergeBody(before.body, j.patch), edits), j.drop)
		op, err := j.client.put(ctx, j.id, j.version, body, before.etag)
		if err != nil {
			// A refusal changed nothing. A broken connection may have carried the PUT.
			if refused, ok := errors.AsType[*Error](err); !ok || refused.Status >= http.StatusInternalServerError {
				out.written = true
			}
			if err := j.again(ctx, err, &breaks); err != nil {
				return out, err
			}
			continue
		}
		out.written = true
		if err := j.finish(ctx, op); err != nil {
			if err := j.again(ctx, err, &breaks); err != nil {
				return out, err
			}
			continue
		}
		err = j.verify(ctx, wanted, edits, &out)
		return out, err
	}
}

func mergeBody(body, patch map[string]any) map[string]any {
	if patch == nil {
		return body
	}
	return merge(body, patch).(map[string]any)
}

// settled reads the resource until no operation on it is running any more.
func (j *job) settled(ctx context.Context) (*snapshot, error) {
	for {
		s, err := j.look(ctx)
		if err != nil {
			return nil, err
		}
		state, _ := lookup(s.body, pointer{"properties", "provisioningState"})
		text, _ := state.(string)
		switch strings.ToLower(text) {
		case "", "succeeded": // some types have no state
			return s, nil
		case "failed", "canceled", "cancelled":
			return nil, failedState(text, s.body)
		}
		if err := j.wait(ctx, j.poll, fmt.Sprintf("the resource is %s", text)); err != nil {
			return nil, err
		}
	}
}

// failedState says that the resource itself is broken. Types put the reason in different
// places; a PUT over a broken resource may do anything, so it is not tried.
func failedState(state string, body map[string]any) error {
	code, message := "", ""
	for _, at := range []pointer{{"properties", "provisioningError"}, {"properties", "status", "provisioningError"}, {"properties", "error"}} {
		if found, ok := lookup(body, at); ok && code == "" {
			m, _ := found.(map[string]any)
			code, _ = m["code"].(string)
			message, _ = m["message"].(string)
		}
	}
	text := fmt.Sprintf("provisioningState: got %s, want Succeeded", state)
	if code != "" {
		text += fmt.Sprintf(" (%s: %s)", code, message)
	}
	return fmt.Errorf("%s; fix: repair the resource, then run this again", text)
}

// uidOf reads the value that a recreated resource has anew.
func (j *job) uidOf(body map[string]any) (string, error) {
	if j.uid == nil {
		return "", nil
	}
	v, ok := lookup(body, j.uid)
	text, isString := v.(string)
	if !ok || !isString || text == "" {
		return "", fmt.Errorf("uidPointer: got %s at %s, want a text that a recreated resource has anew; fix: name another pointer, or leave uidPointer out", show(v, ok), j.uid)
	}
	return text, nil
}

// check reports all preconditions that do not hold.
func (j *job) check(body map[string]any) error {
	var failed []error
	for _, l := range unmet(body, j.preconditions, strictly) {
		live, present := lookup(body, l.at)
		failed = append(failed, fmt.Errorf("precondition %s: got %s, want %s", l.at, j.show(live, present), j.show(l.want, l.want != nil)))
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was changed, because the resource is not as required:\n%w", errors.Join(failed...))
}

func (j *job) show(v any, present bool) string {
	if j.secret && present {
		return "[secret]"
	}
	return show(v, present)
}

// finish polls an accepted PUT to its end.
func (j *job) finish(ctx context.Context, op *operation) error {
	breaks := 0
	for {
		done, err := op.poll(ctx)
		if err == nil && done {
			return nil
		}
		if err != nil {
			// A poll that failed on its way says nothing about the operation, so it is repeated.
			// A conflict is no such failure: that is how the operation ended.
			e, ok := errors.AsType[*Error](err)
			ended := ok && (e.Status == http.StatusOK || e.Status == http.StatusConflict || e.Status == http.StatusPreconditionFailed)
			if what, _ := classify(err); what == fatal || ended {
				return err
			}
			if err := j.again(ctx, err, &breaks); err != nil {
				return err
			}
			continue
		}
		breaks = 0
		pause := j.poll
		if op.asked > 0 {
			pause = op.asked
		}
		if err := j.wait(ctx, pause, "the PUT is being carried out"); err != nil {
			return err
		}
	}
}

// verifyReads is how often a finished PUT is looked for: reads may lag behind writes.
const verifyReads = 4

// verify reads the resource until it is as wanted.
func (j *job) verify(ctx context.Context, wanted, edits []leaf, out *outcome) error {
	for n := 1; ; n++ {
		after, err := j.settled(ctx)
		if err != nil {
			return err
		}
		out.final, out.kept = after, nil
		missing := unmet(after.body, wanted, loosely)
		for _, e := range unmet(after.body, edits, loosely) {
			if e.want == nil {
				out.kept = append(out.kept, e)
			} else {
				missing = append(missing, e)
			}
		}
		if len(missing) == 0 && len(out.kept) == 0 {
			return nil
		}
		if n < verifyReads {
			if err := j.wait(ctx, j.poll, "the resource does not show the change yet"); err != nil {
				return err
			}
			continue
		}
		var failed []error
		for _, l := range missing {
			live, present := lookup(after.body, l.at)
			failed = append(failed, fmt.Errorf("%s: got %s, want %s", l.at, j.show(live, present), j.show(l.want, l.want != nil)))
		}
		if len(failed) == 0 {
			return nil
		}
		return fmt.Errorf("the service accepted the PUT but does not hold what it said:\n%w", errors.Join(failed...))
	}
}

// again waits before another try, or returns the error if there is no point in one. breaks
// counts the transient errors in a row.
func (j *job) again(ctx context.Context, err error, breaks *int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	what, asked := classify(err)
	switch what {
	case fatal:
		return err
	case transient:
		if *breaks++; *breaks > maxTransient {
			return fmt.Errorf("%w (%d times in a row)", err, *breaks)
		}
	}
	pause := asked
	if pause == 0 {
		pause = backoff(j.waits)
	}
	j.waits++
	return j.wait(ctx, pause, err.Error())
}

// wait sleeps, within what is left. Only waits are counted, since each request has a limit of
// its own; so a run with another clock takes the same decisions.
func (j *job) wait(ctx context.Context, d time.Duration, why string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if j.left <= 0 {
		return fmt.Errorf("gave up after waiting %s (timeoutSeconds): %s", j.total, why)
	}
	d = min(d, j.left)
	j.left -= d
	if j.say != nil {
		j.say(fmt.Sprintf("waiting %s: %s", d, why))
	}
	return j.sleep(ctx, d)
}

// look reads the resource, whatever state it is in.
func (j *job) look(ctx context.Context) (*snapshot, error) {
	breaks := 0
	for {
		s, err := j.client.get(ctx, j.id, j.version)
		if err == nil {
			return s, nil
		}
		if err := j.again(ctx, err, &breaks); err != nil {
			return nil, err
		}
	}
}

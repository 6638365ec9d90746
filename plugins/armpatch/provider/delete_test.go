package provider

import (
	"strings"
	"testing"
	"time"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	const profile = "/properties/workloadAutoScalerProfile"
	for name, c := range map[string]struct {
		before, meanwhile string
		resets            bool
		want              string // the profile afterwards
		requests          string
	}{
		"a value":                      {before: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false},"vpa":{"on":1}}}}`, want: `{"keda":{"enabled":false},"vpa":{"on":1}}`, requests: "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200"},
		"a value, changed since":       {before: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`, meanwhile: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":"odd"}}}}`, want: `{"keda":{"enabled":false}}`, requests: "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200"},
		"nothing, and omitting resets": {resets: true, want: "nothing", requests: "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200"},
		"nothing, and omitting keeps":  {want: `{"keda":{"enabled":true}}`, requests: "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200, GET 200, GET 200, GET 200"},
		"nothing, changed since":       {meanwhile: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":"odd"}}}}`, want: `{"keda":{"enabled":"odd"}}`, requests: "GET 200"},
		"nothing, gone since":          {meanwhile: `{"properties":{"workloadAutoScalerProfile":null}}`, want: "nothing", requests: "GET 200"},
		"it was held already":          {before: enable, want: `{"keda":{"enabled":true}}`, requests: "GET 200"},
		"recreated":                    {before: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`, meanwhile: `{"properties":{"resourceUID":"uid-2"}}`, want: `{"keda":{"enabled":true}}`, requests: "GET 200"},
		"the precondition fell":        {before: `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`, meanwhile: `{"properties":{"oidcIssuerProfile":null}}`, want: `{"keda":{"enabled":false}}`, requests: "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.arm.resets = c.resets
			if c.before != "" {
				r.arm.change(cluster, c.before)
			}
			r.ok(r.create(args(t, map[string]any{inOnDelete: Restore})))
			if c.meanwhile != "" {
				r.arm.change(cluster, c.meanwhile)
			}
			r.read() // a refresh must not make somebody else's value look like ours
			r.arm.said()
			r.ok(r.delete())
			r.want("requests", r.arm.said(), c.requests)
			r.want("profile", r.arm.at(cluster, profile), c.want)
		})
	}
}

func TestRestoreThroughConflictsAndGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`)
	r.ok(r.create(args(t, map[string]any{inOnDelete: Restore})))
	r.arm.said()
	r.naps.taken()
	r.arm.script("PUT", &answer{status: 409, code: "OperationNotAllowed"}, &answer{status: 429, code: "TooManyRequests", header: map[string]string{"Retry-After": "7"}})
	r.ok(r.delete())
	r.want("requests", r.arm.said(), "GET 200, PUT 409, GET 200, PUT 429, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200")
	r.want("waits", r.naps.taken(), "5 7 10")
	r.want("keda", r.arm.at(cluster, keda), "false")
	r.arm.remove(cluster)
	r.ok(r.delete())
	r.want("gone", r.arm.said(), "GET 404")

	r.arm.set(cluster, ready)
	r.arm.script("GET", &answer{status: 403, code: "Forbidden", message: "not you"})
	refused(t, r.delete(), "restoring "+cluster, "HTTP 403 Forbidden: not you")
}

// Leaves that the program no longer names go back, or stay, as onDelete says.
func TestOtherLeaves(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{Keep: `{"a":2,"b":2,"c":2}`, Restore: `{"a":1,"c":2}`} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.arm.change(cluster, `{"properties":{"o":{"a":1}}}`)
			in := func(patch string) map[string]any {
				return args(t, map[string]any{inProperties: object(t, patch), inOnDelete: mode})
			}
			r.ok(r.create(in(`{"properties":{"o":{"a":2,"b":2}}}`)))
			next := in(`{"properties":{"o":{"c":2}}}`)
			r.want("diff", r.diff(next), "properties.properties.o.a:DELETE properties.properties.o.b:DELETE properties.properties.o.c:ADD")
			r.ok(r.update(next))
			r.want("o", r.arm.at(cluster, "/properties/o"), want)
			r.want("previous", r.out(outPrevious)+r.out(outAbsent), `{}["/properties/o/c"]`)
		})
	}
}

// The cluster was deleted and made again under its old name.
func TestRecreated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok(r.create(args(t, nil)))
	r.arm.set(cluster, strings.ReplaceAll(ready, "uid-1", "uid-2"))
	r.arm.change(cluster, enable) // it holds the patch, but nobody knows since when
	r.want("nothing seen yet", r.diff(args(t, nil)), "")
	r.read()
	r.want("uids", r.out(outResourceUID)+r.out(outPatchedUID), `"uid-2""uid-1"`)
	r.want("diff", r.diff(args(t, nil)), "resourceUid:UPDATE")
	r.ok(r.update(args(t, nil)))
	r.want("uids", r.out(outResourceUID)+r.out(outPatchedUID), `"uid-2""uid-2"`)
	r.want("recorded anew", r.out(outPrevious)+r.out(outAlreadyHeld), `{"`+keda+`":true}true`)
	r.want("diff", r.diff(args(t, nil)), "")

	// Without a refresh, the next update notices by itself.
	r.arm.set(cluster, strings.ReplaceAll(ready, "uid-1", "uid-3"))
	r.ok(r.update(args(t, map[string]any{inTriggers: map[string]any{"x": "y"}})))
	r.want("uid", r.out(outPatchedUID), `"uid-3"`)
	r.want("recorded anew", r.out(outPrevious)+r.out(outAlreadyHeld), `{}false`)
	r.want("keda", r.arm.at(cluster, keda), "true")
}

// Another writer's PUT leaves the profile out. Whether the service keeps or resets it, the next
// update ends with KEDA on.
func TestOmittedProfile(t *testing.T) {
	t.Parallel()
	for name, resets := range map[string]bool{"keep": false, "reset": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.arm.resets = resets
			r.ok(r.create(args(t, nil)))
			r.arm.mu.Lock()
			delete(r.arm.bodies[0]["properties"].(map[string]any), "workloadAutoScalerProfile")
			body := r.arm.bodies[0]
			r.arm.polls = 1
			r.arm.mu.Unlock()
			j, err := r.p.job(t.Context(), urn, inputs{resourceID: cluster, apiVersion: "2025-01-01", poll: time.Second, timeout: time.Minute}, 0)
			r.ok(err)
			op, err := j.client.put(t.Context(), cluster, "2025-01-01", body, "")
			r.ok(err)
			r.ok(j.finish(t.Context(), op))
			r.want("keda after the other's PUT", r.arm.at(cluster, keda), map[bool]string{true: "nothing", false: "true"}[resets])
			n := r.arm.puts()
			r.ok(r.update(args(t, map[string]any{inTriggers: map[string]any{"cluster": "2"}})))
			r.want("keda", r.arm.at(cluster, keda), "true")
			if got, want := r.arm.puts()-n, map[bool]int{true: 1, false: 0}[resets]; got != want {
				t.Errorf("%d PUTs, want %d", got, want)
			}
		})
	}
}

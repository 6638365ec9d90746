package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	cluster = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
	urn     = "urn:pulumi:dev::test::armpatch:index:Patch::keda"

	// ready is a cluster that KEDA may be enabled on.
	ready = `{"location":"l","identity":{"type":"UserAssigned","userAssignedIdentities":{"/u":{"clientId":"c","principalId":"p"}}},
		"properties":{"resourceUID":"uid-1","oidcIssuerProfile":{"enabled":true},"securityProfile":{"workloadIdentity":{"enabled":true}},"big":9007199254740993}}`
	enable = `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":true}}}}`
	keda   = "/properties/workloadAutoScalerProfile/keda/enabled"
)

// rig is a provider with a fake ARM behind it.
type rig struct {
	t     *testing.T
	arm   *fakeARM
	naps  *naps
	p     *Provider
	state *structpb.Struct // of the last write or read
	ins   *structpb.Struct // its inputs
}

func newRig(t *testing.T) *rig {
	t.Helper()
	arm, n := newFakeARM(t), &naps{}
	arm.set(cluster, ready)
	return &rig{t: t, arm: arm, naps: n, p: New(Options{Endpoint: arm.URL, Credential: credential{}, HTTPClient: arm.Client(), Sleep: n.sleep})}
}

// args are valid; a test changes only its subject. A nil value removes.
func args(t *testing.T, change map[string]any) map[string]any {
	t.Helper()
	in := map[string]any{
		inResourceID: cluster, inAPIVersion: "2025-01-01", inProperties: object(t, enable), inUIDPointer: "/properties/resourceUID",
		inPreconditions: map[string]any{"/properties/oidcIssuerProfile/enabled": true, "/properties/securityProfile/workloadIdentity/enabled": true},
	}
	for k, v := range change {
		if in[k] = v; v == nil {
			delete(in, k)
		}
	}
	return in
}

func wire(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	properties := resource.PropertyMap{}
	for k, v := range m {
		if p, ok := v.(resource.PropertyValue); ok {
			properties[resource.PropertyKey(k)] = p
			continue
		}
		properties[resource.PropertyKey(k)] = property(v)
	}
	s, err := marshal(properties, "test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check returns the checked inputs, or fails the test on a failure.
func (r *rig) check(in map[string]any) *structpb.Struct {
	r.t.Helper()
	resp, err := r.p.Server().Check(r.t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: wire(r.t, in)})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range resp.GetFailures() {
		r.t.Errorf("check: %s", f.GetReason())
	}
	return resp.GetInputs()
}

// keep remembers a state, also one that came beside an error, as the engine does.
func (r *rig) keep(ins, state *structpb.Struct, err error) error {
	if err != nil {
		failed, ok := rpcerror.FromError(err)
		if !ok {
			return err
		}
		for _, d := range failed.Details() {
			if partial, ok := d.(*pulumirpc.ErrorResourceInitFailed); ok {
				r.ins, r.state = ins, partial.GetProperties()
				if partial.GetId() != cluster {
					r.t.Errorf("partial state has id %q", partial.GetId())
				}
			}
		}
		return err
	}
	r.ins, r.state = ins, state
	return nil
}

func (r *rig) create(in map[string]any) error {
	r.t.Helper()
	ins := r.check(in)
	resp, err := r.p.Server().Create(r.t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: ins})
	if err == nil && resp.GetId() != cluster {
		r.t.Errorf("id: got %q, want the resource's", resp.GetId())
	}
	return r.keep(ins, resp.GetProperties(), err)
}

func (r *rig) update(in map[string]any) error {
	r.t.Helper()
	ins := r.check(in)
	resp, err := r.p.Server().Update(r.t.Context(), &pulumirpc.UpdateRequest{Urn: urn, Id: cluster, Olds: r.state, OldInputs: r.ins, News: ins})
	return r.keep(ins, resp.GetProperties(), err)
}

// diff returns the paths that differ, with their kinds.
func (r *rig) diff(in map[string]any) string {
	r.t.Helper()
	resp, err := r.p.Server().Diff(r.t.Context(), &pulumirpc.DiffRequest{Urn: urn, Id: cluster, Olds: r.state, OldInputs: r.ins, News: r.check(in)})
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.GetDeleteBeforeReplace() || !resp.GetHasDetailedDiff() || (resp.GetChanges() == pulumirpc.DiffResponse_DIFF_SOME) != (len(resp.GetDiffs()) > 0) {
		r.t.Errorf("diff: %v", resp)
	}
	var out []string
	for path, d := range resp.GetDetailedDiff() {
		out = append(out, fmt.Sprintf("%s:%s", path, d.GetKind()))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (r *rig) read() (gone bool) {
	r.t.Helper()
	resp, err := r.p.Server().Read(r.t.Context(), &pulumirpc.ReadRequest{Urn: urn, Id: cluster, Inputs: r.ins, Properties: r.state})
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.GetId() == "" {
		return true
	}
	r.ins, r.state = resp.GetInputs(), resp.GetProperties()
	return false
}

func (r *rig) delete() error {
	_, err := r.p.Server().Delete(r.t.Context(), &pulumirpc.DeleteRequest{Urn: urn, Id: cluster, Properties: r.state, OldInputs: r.ins})
	return err
}

// out renders an output.
func (r *rig) out(name string) string {
	r.t.Helper()
	m, err := unmarshal(r.state, "test")
	if err != nil {
		r.t.Fatal(err)
	}
	v, ok := m[resource.PropertyKey(name)]
	if v.IsSecret() {
		return "secret " + show(plain(v), ok)
	}
	return show(printable(plain(v)), ok)
}

func (r *rig) want(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// refused wants an error with all the parts, and without the token.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q\n does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), token) {
		t.Errorf("the error shows the token: %v", err)
	}
}

// The whole life: nothing on, patched, held, drifted, patched again, other leaves, deleted.
func TestLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok(r.create(args(t, nil)))
	r.want("create", r.arm.said(), "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200")
	r.want("waits", r.naps.taken(), "10")
	r.want("keda", r.arm.at(cluster, keda), "true")
	r.want("If-Match", r.arm.matches[0], `"v1"`)
	r.want("previous", r.out(outPrevious), "{}")
	r.want("absent", r.out(outAbsent), `["`+keda+`"]`)
	r.want("uid", r.out(outResourceUID)+r.out(outPatchedUID), `"uid-1""uid-1"`)
	r.want("already held", r.out(outAlreadyHeld), "false")
	r.want("defaults", r.out(inOnDelete)+r.out(inPoll)+r.out(inTimeout), `"keep"107200`)
	// What nobody spoke of is echoed as it was, to the last digit.
	r.want("the rest", encode(t, r.arm.bodies[0]), `{"identity":{"type":"UserAssigned","userAssignedIdentities":{"/u":{}}},"location":"l","properties":{"big":9007199254740993,"oidcIssuerProfile":{"enabled":true},"resourceUID":"uid-1","securityProfile":{"workloadIdentity":{"enabled":true}},"workloadAutoScalerProfile":{"keda":{"enabled":true}}}}`)
	if !strings.Contains(r.arm.agents[0], "azsdk-go-armpatch/v"+Version) {
		t.Errorf("user agent %q", r.arm.agents[0])
	}

	r.want("no diff", r.diff(args(t, nil)), "")
	if r.read() {
		t.Fatal("gone")
	}
	r.want("no diff after reading", r.diff(args(t, nil)), "")
	r.arm.said()

	trigger := args(t, map[string]any{inTriggers: map[string]any{"cluster": "1"}})
	r.want("trigger", r.diff(trigger), "triggers:ADD")
	r.ok(r.update(trigger))
	r.want("a trigger alone writes nothing", r.arm.said(), "GET 200")

	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`)
	r.want("unread drift", r.diff(trigger), "")
	r.read()
	r.want("drift", r.diff(trigger), "properties.properties.workloadAutoScalerProfile.keda.enabled:UPDATE")
	r.want("the output stays what was applied", r.out(inProperties), enable)
	r.ok(r.update(trigger))
	r.want("keda", r.arm.at(cluster, keda), "true")
	r.want("absent", r.out(outAbsent), `["`+keda+`"]`)

	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":null}}`)
	r.read()
	r.want("drift to nothing", r.diff(trigger), "properties.properties:ADD")
	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`)
	r.read()
	r.want("reading twice forgets no leaf", r.diff(trigger), "properties.properties.workloadAutoScalerProfile.keda.enabled:UPDATE")
	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":null}}`)
	r.ok(r.update(trigger))
	r.want("keda", r.arm.at(cluster, keda), "true")

	r.arm.said()
	r.ok(r.delete())
	r.want("keep asks nothing", r.arm.said(), "")
	r.want("keda", r.arm.at(cluster, keda), "true")
}

func TestPreviewAsksNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	open := resource.MakeComputed(resource.NewProperty(""))
	in := r.check(args(t, map[string]any{
		inResourceID:    open,
		inProperties:    map[string]any{"properties": map[string]any{"x": unknown{}, "y": true}},
		inTriggers:      map[string]any{"a": unknown{}},
		inPreconditions: open,
		inDropReadOnly:  []any{unknown{}},
		inUIDPointer:    open, inOnDelete: open, inPoll: open, inTimeout: open, inAPIVersion: open,
	}))
	resp, err := r.p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: in, Preview: true})
	r.ok(err)
	if resp.GetId() != "" {
		t.Errorf("a preview made up the id %q", resp.GetId())
	}
	r.state = resp.GetProperties()
	for _, name := range []string{outPrevious, outAbsent, outResourceUID, outPatchedUID, outAlreadyHeld, inResourceID} {
		r.want(name, r.out(name), `"[unknown]"`)
	}
	r.want("a known part", r.out(inProperties), `{"properties":{"x":"[unknown]","y":true}}`)
	// Everything unknown as one value passes too.
	r.check(args(t, map[string]any{inProperties: open, inTriggers: open, inDropReadOnly: open}))

	r.ok(r.create(args(t, nil)))
	r.arm.said()
	preview := func(in map[string]any) {
		t.Helper()
		resp, err := r.p.Update(t.Context(), &pulumirpc.UpdateRequest{Urn: urn, Id: cluster, Olds: r.state, OldInputs: r.ins, News: r.check(in), Preview: true})
		r.ok(err)
		if state, was := resp.GetProperties(), r.state; state != nil {
			r.state = state
			t.Cleanup(func() { r.state = was })
		}
	}
	made := r.state
	preview(args(t, map[string]any{inTriggers: map[string]any{"a": "1"}}))
	r.want("the same leaves again", r.out(outAbsent)+r.out(outPatchedUID)+r.out(outAlreadyHeld), `["`+keda+`"]"uid-1"false`)
	r.state = made
	preview(args(t, map[string]any{inProperties: map[string]any{"tags": map[string]any{"a": "b"}}}))
	r.want("other leaves", r.out(outAbsent)+r.out(outPatchedUID)+r.out(outAlreadyHeld), `"[unknown]""uid-1"false`)
	r.state = made
	preview(args(t, map[string]any{inUIDPointer: "/properties/other"}))
	r.want("another uid", r.out(outAbsent)+r.out(outPatchedUID)+r.out(outAlreadyHeld), `"[unknown]""[unknown]""[unknown]"`)
	r.want("requests", r.arm.said(), "")
	r.want("waits", r.naps.taken(), "10") // the create's
}

func TestAlreadyHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.change(cluster, enable)
	r.ok(r.create(args(t, nil)))
	r.want("create", r.arm.said(), "GET 200")
	r.want("already held", r.out(outAlreadyHeld), "true")
	r.want("previous", r.out(outPrevious), `{"`+keda+`":true}`)
	// It stays said, also after a patch that had something to do.
	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":null}}`)
	r.ok(r.update(args(t, nil)))
	r.want("already held", r.out(outAlreadyHeld), "true")
	r.want("keda", r.arm.at(cluster, keda), "true")
}

// Whoever orders an array gets his order; a service that reorders it is not fought.
func TestArrays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.change(cluster, `{"properties":{"ranges":["b","a"]}}`)
	in := args(t, map[string]any{inProperties: object(t, `{"properties":{"ranges":["a","b"]}}`)})
	r.ok(r.create(in))
	r.want("ranges", r.arm.at(cluster, "/properties/ranges"), `["a","b"]`)
	r.want("already held", r.out(outAlreadyHeld), "false")
	r.arm.change(cluster, `{"properties":{"ranges":["b","a"]}}`)
	r.read()
	r.want("reordered by the service", r.diff(in), "")
	r.arm.change(cluster, `{"properties":{"ranges":["b"]}}`)
	r.read()
	r.want("drift", r.diff(in), "properties.properties.ranges[0]:UPDATE properties.properties.ranges[1]:ADD")
}

func TestWaits(t *testing.T) {
	t.Parallel()
	busyNow := &answer{status: 409, code: "OperationNotAllowed", message: "busy"}
	slow := func(h map[string]string) *answer {
		return &answer{status: 429, code: "TooManyRequests", message: "slow down", header: h}
	}
	broken := &answer{status: 503, code: "ServiceUnavailable", message: "later"}
	for name, c := range map[string]struct {
		set         func(*rig)
		said, waits string
	}{
		"still updating at first": {func(r *rig) { r.arm.states = []string{"Creating", "Updating"} }, "GET 200, GET 200, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "10 10 10"},
		"conflict twice":          {func(r *rig) { r.arm.script("PUT", busyNow, busyNow) }, "GET 200, PUT 409, GET 200, PUT 409, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "5 10 10"},
		"conflict without a code": {func(r *rig) { r.arm.script("PUT", &answer{status: 409, raw: "<html>"}) }, "GET 200, PUT 409, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "5 10"},
		"throttled":               {func(r *rig) { r.arm.script("PUT", slow(map[string]string{"Retry-After": "17"})) }, "GET 200, PUT 429, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "17 10"},
		"throttled in ms": {func(r *rig) {
			r.arm.script("GET", slow(map[string]string{"Retry-After": "0", "x-ms-retry-after-ms": "250"}))
		}, "GET 429, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "0.25 10"},
		"throttled until a date": {func(r *rig) {
			r.arm.script("GET", slow(map[string]string{"Date": "Sun, 29 Nov 2026 10:00:00 GMT", "Retry-After": "Sun, 29 Nov 2026 10:00:42 GMT"}))
		}, "GET 429, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "42 10"},
		"throttled without a time":     {func(r *rig) { r.arm.script("GET", slow(nil), slow(nil)) }, "GET 429, GET 429, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "5 10 10"},
		"unavailable":                  {func(r *rig) { r.arm.script("GET", broken); r.arm.script("PUT", broken) }, "GET 503, GET 200, PUT 503, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "5 10 10"},
		"unavailable while polling":    {func(r *rig) { r.arm.script("poll", broken, nil, slow(nil)) }, "GET 200, PUT 201, poll 503, poll 200, poll 429, poll 200, GET 200, GET 200", "5 10 10"},
		"the service sets the pace":    {func(r *rig) { r.arm.retryAfter = "3" }, "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "3"},
		"told by Location":             {func(r *rig) { r.arm.style = "location" }, "GET 200, PUT 202, poll 202, poll 200, GET 200", "10"},
		"told by the resource":         {func(r *rig) { r.arm.style = "body" }, "GET 200, PUT 200, GET 200, GET 200, GET 200, GET 200", "10 10"},
		"at once":                      {func(r *rig) { r.arm.style = "none" }, "GET 200, PUT 200, GET 200", ""},
		"reads lag behind":             {func(r *rig) { r.arm.lag = 3 }, "GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200, GET 200, GET 200", "10 10 10"},
		"the operation met a conflict": {func(r *rig) { r.arm.fail = []*answer{{code: "AnotherOperationInProgress", message: "busy"}} }, "GET 200, PUT 201, poll 200, poll 200, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200", "10 5 10"},
		"so it did behind a Location":  {func(r *rig) { r.arm.style = "location"; r.arm.fail = []*answer{busyNow} }, "GET 200, PUT 202, poll 202, poll 409, GET 200, PUT 202, poll 202, poll 200, GET 200", "10 5 10"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.set(r)
			r.ok(r.create(args(t, nil)))
			r.want("requests", r.arm.said(), c.said)
			r.want("waits", r.naps.taken(), c.waits)
			r.want("keda", r.arm.at(cluster, keda), "true")
			r.want("absent", r.out(outAbsent), `["`+keda+`"]`)
			r.want("already held", r.out(outAlreadyHeld), "false")
		})
	}
}

// Somebody writes between our GET and our PUT: his change survives, and ours is made on it.
func TestLostRace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.onPut = func() {
		r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false},"vpa":true}}}`)
	}
	r.ok(r.create(args(t, nil)))
	r.want("requests", r.arm.said(), "GET 200, PUT 412, GET 200, PUT 201, poll 200, poll 200, GET 200, GET 200")
	r.want("both", r.arm.at(cluster, "/properties/workloadAutoScalerProfile"), `{"keda":{"enabled":true},"vpa":true}`)
	r.want("previous is what was there at last", r.out(outPrevious), `{"`+keda+`":false}`)
}

func TestNoTagNoMatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.noTag = true
	r.ok(r.create(args(t, nil)))
	r.want("If-Match", strings.Join(r.arm.matches, ","), "")
}

// A connection may break after the service did what was asked.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	for name, applied := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.arm.style, r.arm.polls = "none", 1
			r.arm.script("PUT", &answer{drop: true, applied: applied})
			r.ok(r.create(args(t, nil)))
			r.want("keda", r.arm.at(cluster, keda), "true")
			r.want("absent", r.out(outAbsent), `["`+keda+`"]`)
			r.want("already held", r.out(outAlreadyHeld), "false")
			if n := r.arm.puts(); n != 1 {
				t.Errorf("%d PUTs were carried out, want 1", n)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set     func(*rig)
		change  map[string]any
		parts   []string
		written bool // a state must be left behind
	}{
		"no such resource": {set: func(r *rig) { r.arm.remove(cluster) }, parts: []string{cluster, "HTTP 404 ResourceNotFound", "no such resource", "something else has made"}},
		"preconditions": {
			set: func(r *rig) {
				r.arm.change(cluster, `{"properties":{"oidcIssuerProfile":{"enabled":false},"securityProfile":null}}`)
			},
			parts: []string{"nothing was changed", "precondition /properties/oidcIssuerProfile/enabled: got false, want true", "precondition /properties/securityProfile/workloadIdentity/enabled: got nothing, want true"},
		},
		"must be absent": {
			set:    func(r *rig) { r.arm.change(cluster, `{"properties":{"x":1}}`) },
			change: map[string]any{inPreconditions: map[string]any{"/properties/x": nil}},
			parts:  []string{"precondition /properties/x: got 1, want nothing"},
		},
		"failed resource": {set: func(r *rig) { r.arm.states = []string{"Failed"} }, parts: []string{"provisioningState: got Failed, want Succeeded", "repair"}},
		"failed with a code": {set: func(r *rig) {
			r.arm.change(cluster, `{"properties":{"provisioningState":"Canceled","provisioningError":{"code":"QuotaExceeded","message":"no cores"}}}`)
		}, parts: []string{"got Canceled", "QuotaExceeded: no cores"}},
		"refused": {set: func(r *rig) { r.arm.script("PUT", &answer{status: 400, code: "BadRequest", message: "no keda here"}) }, parts: []string{"PUT: HTTP 400 BadRequest: no keda here"}},
		"lasting conflict": {set: func(r *rig) {
			r.arm.script("PUT", &answer{status: 409, code: "PropertyChangeNotAllowed", message: "immutable"})
		}, parts: []string{"PUT: HTTP 409 PropertyChangeNotAllowed: immutable"}},
		"code in a header": {set: func(r *rig) {
			r.arm.script("PUT", &answer{status: 403, raw: "<html>", header: map[string]string{"x-ms-error-code": "ScopeLocked"}})
		}, parts: []string{"HTTP 403 ScopeLocked: no message"}},
		"two codes": {set: func(r *rig) {
			r.arm.script("PUT", &answer{status: 400, code: "InvalidParameter", message: "which", header: map[string]string{"x-ms-error-code": "BadRequest"}})
		}, parts: []string{"HTTP 400 InvalidParameter: which"}},
		"flat error": {set: func(r *rig) {
			r.arm.script("GET", &answer{status: 403, raw: `{"code":"Forbidden","message":"not you"}`})
		}, parts: []string{"GET: HTTP 403 Forbidden: not you"}},
		"not ARM": {set: func(r *rig) { r.arm.script("GET", &answer{status: 200, raw: "<html>"}) }, parts: []string{"GET: got 6 bytes", "want a JSON object"}},
		"unavailable": {set: func(r *rig) {
			r.arm.script("GET", slices.Repeat([]*answer{{status: 500, code: "Internal", message: "sorry"}}, 4)...)
		}, parts: []string{"HTTP 500 Internal: sorry", "4 times in a row"}},
		"busy for ever": {
			set: func(r *rig) {
				r.arm.script("PUT", slices.Repeat([]*answer{{status: 409, code: "Conflict", message: "busy"}}, 99)...)
			},
			change: map[string]any{inTimeout: 120.0},
			parts:  []string{"gave up after waiting 2m0s (timeoutSeconds)", "HTTP 409 Conflict: busy"},
		},
		"operation failed": {set: func(r *rig) { r.arm.fail = []*answer{{code: "InternalFailure", message: "half done"}} }, parts: []string{"operation started by PUT: InternalFailure: half done"}, written: true},
		"failed behind Location": {set: func(r *rig) {
			r.arm.style = "location"
			r.arm.fail = []*answer{{status: 400, code: "Bad", message: "half done"}}
		}, parts: []string{"operation started by PUT: HTTP 400 Bad: half done"}, written: true},
		"operation never ends":   {set: func(r *rig) { r.arm.polls = 1e6 }, change: map[string]any{inTimeout: 60.0}, parts: []string{"gave up after waiting 1m0s (timeoutSeconds): the PUT is being carried out"}, written: true},
		"accepted and not done":  {set: func(r *rig) { r.arm.ignores = "workloadAutoScalerProfile" }, parts: []string{"does not hold", keda + ": got nothing, want true"}, written: true},
		"no uid":                 {change: map[string]any{inUIDPointer: "/properties/uid"}, parts: []string{"uidPointer: got nothing at /properties/uid"}},
		"a uid that is no text":  {change: map[string]any{inUIDPointer: "/properties/big"}, parts: []string{"uidPointer: got 9007199254740993 at /properties/big"}},
		"the operation was lost": {set: func(r *rig) { r.arm.script("poll", &answer{status: 404, code: "OperationNotFound", message: "which?"}) }, parts: []string{"HTTP 404 OperationNotFound"}, written: true},
		"unavailable for a write": {set: func(r *rig) {
			r.arm.script("PUT", slices.Repeat([]*answer{{status: 502, code: "BadGateway", message: "sorry"}}, 9)...)
		}, parts: []string{"HTTP 502 BadGateway"}, written: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.set != nil {
				c.set(r)
			}
			refused(t, r.create(args(t, c.change)), c.parts...)
			if (r.state != nil) != c.written {
				t.Fatalf("a state is left behind: %v, want %v", r.state != nil, c.written)
			}
			if c.written {
				r.want("absent", r.out(outAbsent), `["`+keda+`"]`)
				r.want("uid", r.out(outPatchedUID), `"uid-1"`)
			}
		})
	}
}

// What a failed create left behind is taken up by an update, and can be restored.
func TestFailedCreateIsTakenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.change(cluster, `{"properties":{"workloadAutoScalerProfile":{"keda":{"enabled":false}}}}`)
	r.arm.polls = 1e6
	in := args(t, map[string]any{inTimeout: 30.0, inOnDelete: Restore})
	refused(t, r.create(in), "gave up")
	// The old write is still running when the next run begins, and ends while that waits.
	r.arm.polls = 1
	r.naps.on = func() {
		for _, p := range r.arm.pending {
			p.polls = 1
			r.arm.step(p)
		}
	}
	r.ok(r.update(in))
	r.want("previous", r.out(outPrevious), `{"`+keda+`":false}`)
	r.want("keda", r.arm.at(cluster, keda), "true")
	r.ok(r.delete())
	r.want("keda", r.arm.at(cluster, keda), "false")
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.change(cluster, `{"properties":{"password":"old-value"}}`)
	in := func(v string) map[string]any {
		return args(t, map[string]any{inProperties: resource.NewProperty(resource.PropertyMap{
			"properties": resource.NewProperty(resource.PropertyMap{"password": resource.MakeSecret(resource.NewProperty(v))}),
		})})
	}
	r.ok(r.create(in("new-value")))
	r.want("password", r.arm.at(cluster, "/properties/password"), `"new-value"`)
	r.want("previous", r.out(outPrevious), `secret {"/properties/password":"old-value"}`)
	r.read()
	m, err := unmarshal(r.ins, "test")
	r.ok(err)
	if !m[inProperties].IsSecret() {
		t.Error("reading made the patch plain")
	}
	r.want("a mark is no difference", r.diff(in("new-value")), "")
	r.arm.ignores = "password"
	err = r.update(in("other-value"))
	refused(t, err, "/properties/password: got [secret], want [secret]")
	if strings.Contains(err.Error(), "-value") {
		t.Error("the error shows a secret")
	}
	resp, err := r.p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: wire(t, args(t, map[string]any{inProperties: resource.MakeSecret(resource.NewProperty("hidden"))}))})
	r.ok(err)
	if s := fmt.Sprint(resp.GetFailures()); !strings.Contains(s, "got [secret]") || strings.Contains(s, "hidden") {
		t.Errorf("failures: %s", s)
	}
}

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

func TestDiff(t *testing.T) {
	t.Parallel()
	other := strings.Replace(cluster, "/aks", "/other", 1)
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"nothing":           {nil, ""},
		"resource":          {map[string]any{inResourceID: other}, "resourceId:UPDATE_REPLACE"},
		"unknown resource":  {map[string]any{inResourceID: unknown{}}, "resourceId:UPDATE_REPLACE"},
		"case of the id":    {map[string]any{inResourceID: strings.Replace(cluster, "resourceGroups", "resourcegroups", 1)}, "resourceId:UPDATE"},
		"version":           {map[string]any{inAPIVersion: "2025-02-01"}, "apiVersion:UPDATE"},
		"precondition":      {map[string]any{inPreconditions: map[string]any{"/properties/oidcIssuerProfile/enabled": true}}, `preconditions["/properties/securityProfile/workloadIdentity/enabled"]:DELETE`},
		"unknown trigger":   {map[string]any{inTriggers: map[string]any{"a": unknown{}}}, "triggers:ADD"},
		"onDelete":          {map[string]any{inOnDelete: Restore}, "onDelete:UPDATE"},
		"times":             {map[string]any{inPoll: 5.0, inTimeout: 60.0}, "pollSeconds:UPDATE timeoutSeconds:UPDATE"},
		"stripped pointers": {map[string]any{inDropReadOnly: []any{"/properties/x"}}, "dropReadOnly:ADD"},
		"default spelt out": {map[string]any{inOnDelete: Keep, inPoll: 10.0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.ok(r.create(args(t, nil)))
			r.want("diff", r.diff(args(t, c.change)), c.want)
		})
	}
}

func TestReadGoneAndImport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.p.Read(t.Context(), &pulumirpc.ReadRequest{Urn: urn, Id: cluster})
	refused(t, err, "cannot be imported", cluster, "fix: declare it")
	r.want("requests", r.arm.said(), "")
	r.ok(r.create(args(t, nil)))
	r.naps.taken()
	r.arm.said()
	r.arm.states = []string{"Updating"}
	if r.read() {
		t.Error("a resource that is being changed is gone")
	}
	r.want("reading waits for nothing", r.arm.said()+r.naps.taken(), "GET 200")
	r.arm.remove(cluster)
	if !r.read() {
		t.Error("a deleted resource is not gone")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change map[string]any
		want   []string
	}{
		"nothing at all": {
			map[string]any{inResourceID: nil, inAPIVersion: nil, inProperties: nil, inPreconditions: nil, inUIDPointer: nil},
			[]string{"resourceId: got nothing, want a value, because a Patch needs one", "apiVersion: got nothing, want a value, because a Patch needs one", "properties: got nothing, want a value, because a Patch needs one"},
		},
		"all at once": {
			map[string]any{"resourceID": "x", inAPIVersion: "latest", inOnDelete: "undo", inPoll: 0.0, inTimeout: 1e6},
			[]string{
				"resourceID: got a property that a Patch does not have, want one of apiVersion, dropReadOnly, onDelete, pollSeconds, preconditions, properties, resourceId, timeoutSeconds, triggers, uidPointer; fix: nearest is resourceId",
				`apiVersion: got "latest", want an API version, as 2025-01-01 or 2025-01-01-preview`,
				`onDelete: got "undo", want "keep" or "restore"`,
				"pollSeconds: got 0, want a whole number of seconds, 1..300",
				"timeoutSeconds: got 1000000, want a whole number of seconds, 1..86400",
			},
		},
		"a resource group":       {map[string]any{inResourceID: "/subscriptions/1/resourceGroups/rg"}, []string{`resourceId: got "/subscriptions/1/resourceGroups/rg", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"half an id":             {map[string]any{inResourceID: "/subscriptions/1/resourceGroups/rg/providers/Microsoft.X/y"}, []string{`resourceId: got "/subscriptions/1/resourceGroups/rg/providers/Microsoft.X/y", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"a type without a name":  {map[string]any{inResourceID: "/providers/Microsoft.X/y/z/w"}, []string{`resourceId: got "/providers/Microsoft.X/y/z/w", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"half a scope":           {map[string]any{inResourceID: "/subscriptions/providers/Microsoft.X/y/z"}, []string{`resourceId: got "/subscriptions/providers/Microsoft.X/y/z", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"a slash too many":       {map[string]any{inResourceID: "/providers/Microsoft.X/y/z/"}, []string{`resourceId: got "/providers/Microsoft.X/y/z/", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>; fix: take away the blanks around it and the slash at its end`}},
		"an id with a query":     {map[string]any{inResourceID: "/providers/Microsoft.X/y/z?a=b"}, []string{`resourceId: got "/providers/Microsoft.X/y/z?a=b", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"an id that climbs":      {map[string]any{inResourceID: "/providers/Microsoft.X/y/.."}, []string{`resourceId: got "/providers/Microsoft.X/y/..", want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"an id that is a number": {map[string]any{inResourceID: 7.0}, []string{`resourceId: got 7, want the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>`}},
		"an empty patch":         {map[string]any{inProperties: map[string]any{}}, []string{`properties: got {}, want a JSON merge patch of the whole body, as {"properties":{...}}`}},
		"a patch that is a list": {map[string]any{inProperties: []any{1.0}}, []string{`properties: got [1], want a JSON merge patch of the whole body, as {"properties":{...}}`}},
		"a computed part": {
			map[string]any{inProperties: map[string]any{"name": "x", "systemData": map[string]any{"by": "me"}, "properties": map[string]any{"name": "fine"}}},
			[]string{
				`properties/name: got "x", want a part that may be written, which /name is not: the service computes it; fix: remove it from the patch`,
				`properties/systemData/by: got "me", want a part that may be written, which /systemData is not: the service computes it; fix: remove it from the patch`,
			},
		},
		"preconditions": {
			map[string]any{inPreconditions: map[string]any{"properties.x": 1.0, "/ok": 1.0, "/~": 2.0}},
			[]string{`preconditions: got "/~", want a JSON pointer, in which ~ is written ~0 and / within a name ~1`, `preconditions: got "properties.x", want a JSON pointer such as /properties/keda`},
		},
		"preconditions as list": {map[string]any{inPreconditions: []any{"/a"}}, []string{`preconditions: got ["/a"], want a map from JSON pointer to required value`}},
		"dropReadOnly": {
			map[string]any{inDropReadOnly: []any{"x", "/properties/*/keda", 7.0, "/fine"}},
			[]string{
				`dropReadOnly[0]: got "x", want a JSON pointer such as /properties/keda`,
				`dropReadOnly[1]: got "/properties/*/keda", want a part that the patch does not set, which ` + keda + ` is; fix: remove it from one of the two`,
				`dropReadOnly[2]: got 7, want a JSON pointer such as /properties/keda`,
			},
		},
		"dropReadOnly as text": {map[string]any{inDropReadOnly: "/a"}, []string{`dropReadOnly: got "/a", want a list of JSON pointers`}},
		"triggers":             {map[string]any{inTriggers: map[string]any{"n": 1.0, "s": "fine", "a": true}}, []string{"triggers.a: got true, want a text", "triggers.n: got 1, want a text"}},
		"triggers as text":     {map[string]any{inTriggers: "x"}, []string{`triggers: got "x", want a map from name to text`}},
		"uidPointer":           {map[string]any{inUIDPointer: "resourceUID"}, []string{`uidPointer: got "resourceUID", want a JSON pointer such as /properties/keda`}},
		"half a second":        {map[string]any{inPoll: 1.5}, []string{"pollSeconds: got 1.5, want a whole number of seconds, 1..300"}},
		"seconds as text":      {map[string]any{inTimeout: "60"}, []string{`timeoutSeconds: got "60", want a whole number of seconds, 1..86400`}},
		"fine": {map[string]any{
			inResourceID: "/subscriptions/1/resourceGroups/my group (1)/providers/Microsoft.Storage/storageAccounts/a/providers/Microsoft.Insights/diagnosticSettings/d",
			inAPIVersion: "2021-05-01-preview", inProperties: object(t, `{"properties":{"a":null,"b":{},"c":[1,{"d":null}]}}`), inTriggers: map[string]any{"a": ""},
			inPoll: 300.0, inTimeout: 86400.0, inOnDelete: Restore, inDropReadOnly: []any{"/properties/list/*/state"}, "__defaults": []any{},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			resp, err := r.p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: wire(t, args(t, c.change))})
			r.ok(err)
			var got []string
			for _, f := range resp.GetFailures() {
				got = append(got, f.GetReason())
				if !strings.HasPrefix(f.GetReason(), f.GetProperty()) {
					t.Errorf("%q is filed under %q", f.GetReason(), f.GetProperty())
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
	t.Run("assets", func(t *testing.T) {
		t.Parallel()
		_, problems := parse(resource.PropertyMap{inProperties: resource.NewProperty(resource.PropertyMap{"a": resource.NewProperty([]resource.PropertyValue{resource.NewProperty(&resource.Asset{Text: "x"})})})})
		if s := joined(problems); !strings.Contains(s, "properties/a/0: got a asset, want a JSON value") {
			t.Error(s)
		}
	})
	t.Run("another type", func(t *testing.T) {
		t.Parallel()
		_, err := New(Options{}).Check(t.Context(), &pulumirpc.CheckRequest{Urn: strings.Replace(urn, "Patch", "Patched", 1)})
		refused(t, err, `got "armpatch:index:Patched", want armpatch:index:Patch`)
	})
}

func TestConfig(t *testing.T) {
	t.Setenv("AZURE_ENVIRONMENT", "") // not parallel: the environment is the subject
	p := New(Options{})
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"nothing": {nil, nil},
		"fine":    {map[string]any{"environment": "china", "version": "0.1.0", "__internal": map[string]any{}}, nil},
		"unknown": {map[string]any{"environment": unknown{}}, nil},
		"wrong":   {map[string]any{"environment": "AzureChinaCloud", "endpoint": "x"}, []string{"endpoint: got a key that the provider does not have, want environment; fix: pulumi config rm armpatch:endpoint", `environment: got "AzureChinaCloud", want public, usgovernment or china`}},
	} {
		resp, err := p.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: wire(t, c.config)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range resp.GetFailures() {
			got = append(got, f.GetReason())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	endpoint := func(args map[string]any) string {
		t.Helper()
		p := New(Options{Credential: credential{}})
		if _, err := p.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: wire(t, args)}); err != nil {
			return err.Error()
		}
		c, err := p.connect()
		if err != nil {
			return err.Error()
		}
		return c.endpoint
	}
	for environment, want := range map[string]string{
		"": "https://management.azure.com", "public": "https://management.azure.com",
		"usgovernment": "https://management.usgovcloudapi.net", "china": "https://management.chinacloudapi.cn",
	} {
		config := map[string]any{"environment": environment}
		if environment == "" {
			config = nil
		}
		if got := endpoint(config); got != want {
			t.Errorf("%q: got %s, want %s", environment, got, want)
		}
	}
	if got := endpoint(map[string]any{"environment": "moon"}); !strings.Contains(got, `armpatch:environment: got "moon", want public, usgovernment or china`) {
		t.Error(got)
	}
	t.Setenv("AZURE_ENVIRONMENT", "AzureUSGovernment")
	if got := endpoint(nil); !strings.Contains(got, `AZURE_ENVIRONMENT: got "AzureUSGovernment", want public`) {
		t.Error(got)
	}
	if got := endpoint(map[string]any{"environment": "usgovernment"}); got != "https://management.usgovcloudapi.net" {
		t.Error(got)
	}

	diff, err := p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: wire(t, nil), News: wire(t, map[string]any{"environment": "public"})})
	if err != nil || diff.GetChanges() != pulumirpc.DiffResponse_DIFF_NONE {
		t.Errorf("the default spelt out: %v, %v", diff, err)
	}
	diff, err = p.DiffConfig(t.Context(), &pulumirpc.DiffRequest{OldInputs: wire(t, nil), News: wire(t, map[string]any{"environment": "china"})})
	if err != nil || !slices.Equal(diff.GetReplaces(), []string{"environment"}) {
		t.Errorf("another cloud: %v, %v", diff, err)
	}
}

// A token must not go over the network in clear text.
func TestPlainHTTPIsForLoopback(t *testing.T) {
	t.Parallel()
	p := New(Options{Endpoint: "http://management.example.org", Credential: credential{}, Sleep: (&naps{}).sleep, HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("sent")
	})}})
	in, err := p.Check(t.Context(), &pulumirpc.CheckRequest{Urn: urn, News: wire(t, args(t, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: in.GetInputs()})
	refused(t, err, "not permitted for non-TLS")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Engines cancel when they are done, too; the provider must still serve the next one.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.polls = 1e6
	r.naps.on = func() {
		if len(r.naps.list) == 3 {
			if _, err := r.p.Cancel(context.Background(), &emptypb.Empty{}); err != nil {
				t.Error(err)
			}
		}
	}
	refused(t, r.create(args(t, nil)), "cancelled; an operation that Azure had accepted goes on there")
	r.want("waits", r.naps.taken(), "10 10 10")
	r.want("what was before is not forgotten", r.out(outAbsent), `["`+keda+`"]`)
	r.naps.on = nil
	for _, p := range r.arm.pending {
		p.polls = 1
		r.arm.step(p)
	}
	r.ok(r.update(args(t, nil)))
	r.want("keda", r.arm.at(cluster, keda), "true")
}

// engineLog is the engine's end of the connection that Handshake makes.
type engineLog struct {
	pulumirpc.UnimplementedEngineServer
	lines chan string
}

func (e *engineLog) Log(_ context.Context, req *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	e.lines <- fmt.Sprintf("%s %v %s: %s", req.GetSeverity(), req.GetEphemeral(), req.GetUrn(), req.GetMessage())
	return &emptypb.Empty{}, nil
}

// A person sees what is being waited for, and what could not be restored.
func TestTells(t *testing.T) {
	t.Parallel()
	log := &engineLog{lines: make(chan string, 99)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pulumirpc.RegisterEngineServer(server, log)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	r := newRig(t)
	if _, err := r.p.Attach(t.Context(), &pulumirpc.PluginAttach{Address: "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	hello, err := r.p.Handshake(t.Context(), &pulumirpc.ProviderHandshakeRequest{EngineAddress: listener.Addr().String()})
	r.ok(err)
	if !hello.GetAcceptSecrets() || hello.GetAcceptOutputs() || hello.GetAcceptResources() {
		t.Errorf("handshake: %v", hello)
	}
	r.arm.script("PUT", &answer{status: 409, code: "OperationNotAllowed", message: "busy"})
	r.ok(r.create(args(t, map[string]any{inOnDelete: Restore})))
	r.arm.style = "none"
	r.ok(r.delete())
	close(log.lines)
	var got []string
	for line := range log.lines {
		got = append(got, line)
	}
	want := []string{
		"INFO true " + urn + ": waiting 5s: PUT: HTTP 409 OperationNotAllowed: busy",
		"INFO true " + urn + ": waiting 10s: the PUT is being carried out",
		"INFO true " + urn + ": waiting 10s: the resource does not show the change yet",
		"INFO true " + urn + ": waiting 10s: the resource does not show the change yet",
		"INFO true " + urn + ": waiting 10s: the resource does not show the change yet",
		"WARNING false " + urn + ": " + keda + " was not set before the patch, and the service keeps its value when a PUT leaves it out; it stays as it is",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// customTimeouts goes before timeoutSeconds.
func TestCustomTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.arm.polls = 1e6
	_, err := r.p.Create(t.Context(), &pulumirpc.CreateRequest{Urn: urn, Properties: r.check(args(t, nil)), Timeout: 25})
	refused(t, err, "gave up after waiting 25s")
	r.want("waits", r.naps.taken(), "10 10 5")
}

// Two Patches of one resource take turns, so neither meets the other's operation.
func TestTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 4
	failed := make(chan error, n)
	for i := range n {
		in := r.check(args(t, map[string]any{
			inResourceID: map[bool]string{true: cluster, false: strings.ToLower(cluster)}[i%2 == 0],
			inProperties: map[string]any{"tags": map[string]any{strconv.Itoa(i): "x"}},
		}))
		go func() {
			_, err := r.p.Create(context.Background(), &pulumirpc.CreateRequest{Urn: urn, Properties: in})
			failed <- err
		}()
	}
	for range n {
		r.ok(<-failed)
	}
	r.want("tags", r.arm.at(cluster, "/tags"), `{"0":"x","1":"x","2":"x","3":"x"}`)
	if said := r.arm.said(); strings.Contains(said, "409") || strings.Contains(said, "412") {
		t.Errorf("they met: %s", said)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var got []string
	for n := range 7 {
		got = append(got, backoff(n).String())
	}
	if s := strings.Join(got, " "); s != "5s 10s 20s 40s 1m0s 1m0s 1m0s" {
		t.Error(s)
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want kind
	}{
		"409 busy":          {&Error{Status: 409, Code: "OperationNotAllowed"}, busy},
		"409 in progress":   {&Error{Status: 409, Code: "StorageAccountOperationInProgress"}, busy},
		"409 other":         {&Error{Status: 409, Code: "ResourceGroupBeingDeleted"}, fatal},
		"409 no code":       {&Error{Status: 409}, busy},
		"failed, no code":   {&Error{Status: 200}, fatal},
		"failed, busy":      {&Error{Status: 200, Code: "Conflict"}, busy},
		"412":               {&Error{Status: 412, Code: "AnyThing"}, busy},
		"429":               {fmt.Errorf("wrapped: %w", &Error{Status: 429}), busy},
		"400":               {&Error{Status: 400, Code: "OperationNotAllowed"}, fatal},
		"404":               {&Error{Status: 404}, fatal},
		"408":               {&Error{Status: 408}, transient},
		"500":               {&Error{Status: 500}, transient},
		"501":               {&Error{Status: 501}, fatal},
		"connection broken": {errors.New("EOF"), transient},
		"timeout":           {context.DeadlineExceeded, transient},
		"cancelled":         {context.Canceled, fatal},
		"no JSON":           {&invalidAnswer{}, fatal},
	} {
		if got, _ := classify(c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

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

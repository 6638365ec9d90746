package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// token is what the fake wants to be shown, and what must appear nowhere else.
const token = "a-secret-token"

type credential struct{}

func (credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: token, ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// fakeARM follows the rules of Azure Resource Manager that a Patch has to live with. A write
// is an operation that takes some polls; until then the resource is Updating and refuses
// other writes.
type fakeARM struct {
	t *testing.T
	*httptest.Server

	mu        sync.Mutex
	resources map[string]map[string]any // by lower-case id
	versions  map[string]int            // for etags
	pending   map[string]*write         // by lower-case id
	ended     map[string]*write         // by operation
	log       []string                  // METHOD status, or "poll status"
	bodies    []map[string]any          // of accepted PUTs
	matches   []string                  // If-Match of PUTs
	agents    []string                  // user agents
	operation int

	// style is how the end of a write is told: async, location, body or none.
	style string
	// polls is how many polls a write takes.
	polls int
	// resets says that a PUT without workloadAutoScalerProfile turns it off; otherwise it stays.
	resets bool
	// ignores is a member of properties that PUTs do not change.
	ignores string
	// lag is how many reads after a write still show the old resource.
	lag int
	// noTag leaves out etags, in headers and bodies.
	noTag bool
	// answers are given to the next requests of a method in place of the real ones; nil lets one pass.
	answers map[string][]*answer
	// states are what the next GETs show as provisioningState.
	states []string
	// fail is how the next operations end.
	fail []*answer
	// onPut runs before a PUT is looked at.
	onPut func()
	// retryAfter is told in polls.
	retryAfter string
}

type write struct {
	id    string
	body  map[string]any
	polls int
	name  string
	fail  *answer
	lag   int
	old   map[string]any
}

type answer struct {
	status        int
	code, message string
	header        map[string]string
	raw           string // in place of the error
	drop          bool   // break the connection, after doing what was asked if applied
	applied       bool
}

func newFakeARM(t *testing.T) *fakeARM {
	t.Helper()
	f := &fakeARM{
		t: t, style: "async", polls: 2, resources: map[string]map[string]any{}, versions: map[string]int{},
		pending: map[string]*write{}, ended: map[string]*write{}, answers: map[string][]*answer{},
	}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// set makes or replaces a resource, behind everybody's back.
func (f *fakeARM) set(id, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := strings.ToLower(id)
	f.resources[key] = object(f.t, body)
	f.versions[key]++
}

// change edits a resource behind everybody's back.
func (f *fakeARM) change(id, patch string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := strings.ToLower(id)
	f.resources[key] = merge(f.resources[key], object(f.t, patch)).(map[string]any)
	f.versions[key]++
}

func (f *fakeARM) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.resources, strings.ToLower(id))
}

// at shows a part of a resource.
func (f *fakeARM) at(id, at string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := parsePointer(at)
	if err != nil {
		f.t.Fatal(err)
	}
	v, ok := lookup(f.resources[strings.ToLower(id)], p)
	return show(v, ok)
}

// said returns the requests since the last call.
func (f *fakeARM) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := strings.Join(f.log, ", ")
	f.log = nil
	return s
}

func (f *fakeARM) puts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.bodies)
}

func (f *fakeARM) script(method string, answers ...*answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[method] = append(f.answers[method], answers...)
}

func (f *fakeARM) tag(key string) string { return fmt.Sprintf(`"v%d"`, f.versions[key]) }

func (f *fakeARM) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.agents = append(f.agents, req.UserAgent())
	status := func(w http.ResponseWriter, method string, code int) {
		f.log = append(f.log, fmt.Sprintf("%s %d", method, code))
		w.WriteHeader(code)
	}
	refuse := func(method string, a *answer) {
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		status(w, method, a.status)
		if a.raw != "" {
			_, _ = w.Write([]byte(a.raw))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": a.code, "message": a.message}})
	}
	if req.Header.Get("Authorization") != "Bearer "+token {
		refuse(req.Method, &answer{status: 401, code: "AuthenticationFailed", message: "no token"})
		return
	}
	if name, ok := strings.CutPrefix(req.URL.Path, "/operations/"); ok {
		f.poll(w, name, refuse, status)
		return
	}
	if req.URL.Query().Get("api-version") != "2025-01-01" {
		refuse(req.Method, &answer{status: 400, code: "MissingApiVersionParameter"})
		return
	}
	if list := f.answers[req.Method]; len(list) > 0 {
		a := list[0]
		f.answers[req.Method] = list[1:]
		switch {
		case a == nil:
		case a.drop:
			f.log = append(f.log, req.Method+" broken")
			if a.applied {
				f.put(httptest.NewRecorder(), req, refuse, func(http.ResponseWriter, string, int) {})
			}
			panic(http.ErrAbortHandler)
		default:
			refuse(req.Method, a)
			return
		}
	}
	switch req.Method {
	case http.MethodGet:
		f.get(w, strings.ToLower(req.URL.Path), refuse, status)
	case http.MethodPut:
		if f.onPut != nil {
			run := f.onPut
			f.onPut = nil
			f.mu.Unlock()
			run()
			f.mu.Lock()
		}
		f.put(w, req, refuse, status)
	default:
		refuse(req.Method, &answer{status: 405, code: "MethodNotAllowed"})
	}
}

func (f *fakeARM) get(w http.ResponseWriter, key string, refuse func(string, *answer), status func(http.ResponseWriter, string, int)) {
	body, ok := f.resources[key]
	if !ok {
		refuse("GET", &answer{status: 404, code: "ResourceNotFound", message: "no such resource"})
		return
	}
	shown := clone(body).(map[string]any)
	properties, _ := shown["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		shown["properties"] = properties
	}
	if _, ok := properties["provisioningState"]; !ok {
		properties["provisioningState"] = "Succeeded"
	}
	if p := f.pending[key]; p != nil {
		properties["provisioningState"] = "Updating"
		if f.style == "body" {
			f.step(p)
		}
	} else if last := f.last(key); last != nil && last.lag > 0 {
		last.lag--
		shown = clone(last.old).(map[string]any)
	}
	if len(f.states) > 0 {
		properties["provisioningState"], f.states = f.states[0], f.states[1:]
	}
	shown["id"], shown["name"], shown["type"] = key, "n", "t"
	if !f.noTag {
		w.Header().Set("ETag", f.tag(key))
		shown["eTag"] = f.tag(key)
	}
	status(w, "GET", 200)
	_ = json.NewEncoder(w).Encode(shown)
}

func (f *fakeARM) last(key string) *write {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(f.ended))) {
		if f.ended[name].id == key {
			return f.ended[name]
		}
	}
	return nil
}

func (f *fakeARM) put(w http.ResponseWriter, req *http.Request, refuse func(string, *answer), status func(http.ResponseWriter, string, int)) {
	key := strings.ToLower(req.URL.Path)
	f.matches = append(f.matches, req.Header.Get("If-Match"))
	decoder := json.NewDecoder(req.Body)
	decoder.UseNumber()
	var body map[string]any
	if err := decoder.Decode(&body); err != nil {
		refuse("PUT", &answer{status: 400, code: "InvalidRequestContent", message: err.Error()})
		return
	}
	for _, p := range alwaysStripped {
		if _, ok := lookup(body, p); ok {
			refuse("PUT", &answer{status: 400, code: "ReadOnlyProperty", message: p.String()})
			return
		}
	}
	if users, ok := lookup(body, pointer{"identity", "userAssignedIdentities"}); ok {
		for id, v := range users.(map[string]any) {
			if len(v.(map[string]any)) > 0 {
				refuse("PUT", &answer{status: 400, code: "InvalidIdentityValues", message: id})
				return
			}
		}
	}
	if f.pending[key] != nil {
		refuse("PUT", &answer{status: 409, code: "OperationNotAllowed", message: "another operation is running"})
		return
	}
	if match := req.Header.Get("If-Match"); match != "" && match != f.tag(key) {
		refuse("PUT", &answer{status: 412, code: "PreconditionFailed", message: "etag"})
		return
	}
	old := f.resources[key]
	stored := clone(body).(map[string]any)
	properties, _ := stored["properties"].(map[string]any)
	oldProperties, _ := old["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		stored["properties"] = properties
	}
	for _, name := range []string{"resourceUID", "workloadAutoScalerProfile"} {
		if _, has := properties[name]; !has && oldProperties[name] != nil && (name == "resourceUID" || !f.resets) {
			properties[name] = clone(oldProperties[name])
		}
	}
	if f.ignores != "" {
		properties[f.ignores] = clone(oldProperties[f.ignores])
	}
	if identity, ok := stored["identity"].(map[string]any); ok {
		if users, ok := identity["userAssignedIdentities"].(map[string]any); ok {
			for id := range users {
				users[id] = map[string]any{"clientId": "c", "principalId": "p"}
			}
		}
	}
	f.operation++
	p := &write{id: key, body: stored, polls: f.polls, name: fmt.Sprintf("op%03d", f.operation), old: old, lag: f.lag}
	if len(f.fail) > 0 {
		p.fail, f.fail = f.fail[0], f.fail[1:]
	}
	f.bodies = append(f.bodies, body)
	f.pending[key] = p
	base := "http://" + req.Host + "/operations/" + p.name
	switch f.style {
	case "async":
		w.Header().Set("Azure-AsyncOperation", base)
		status(w, "PUT", 201)
	case "location":
		w.Header().Set("Location", base)
		status(w, "PUT", 202)
		return
	case "body":
		status(w, "PUT", 200)
		properties["provisioningState"] = "Updating"
	case "none":
		p.polls = 1
		f.step(p)
		status(w, "PUT", 200)
	}
	_ = json.NewEncoder(w).Encode(stored)
	delete(properties, "provisioningState")
}

// step lets a write go on.
func (f *fakeARM) step(p *write) {
	if p.polls--; p.polls > 0 {
		return
	}
	delete(f.pending, p.id)
	f.ended[p.name] = p
	if p.fail == nil {
		f.resources[p.id] = p.body
		f.versions[p.id]++
	}
}

func (f *fakeARM) poll(w http.ResponseWriter, name string, refuse func(string, *answer), status func(http.ResponseWriter, string, int)) {
	if list := f.answers["poll"]; len(list) > 0 {
		f.answers["poll"] = list[1:]
		if list[0] != nil {
			refuse("poll", list[0])
			return
		}
	}
	for _, p := range f.pending {
		if p.name == name {
			f.step(p)
		}
	}
	p := f.ended[name]
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	w.Header().Set("Content-Type", "application/json")
	if f.style == "location" {
		switch {
		case p == nil:
			w.Header().Set("Location", "http://"+f.Listener.Addr().String()+"/operations/"+name)
			status(w, "poll", 202)
		case p.fail != nil:
			refuse("poll", p.fail)
		default:
			status(w, "poll", 200)
			_ = json.NewEncoder(w).Encode(p.body)
		}
		return
	}
	status(w, "poll", 200)
	answer := map[string]any{"status": "InProgress"}
	switch {
	case p != nil && p.fail != nil:
		answer = map[string]any{"status": "Failed", "error": map[string]any{"code": p.fail.code, "message": p.fail.message}}
	case p != nil:
		answer["status"] = "Succeeded"
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// naps records the waits of a provider, which are none in real time.
type naps struct {
	mu    sync.Mutex
	list  []string
	total time.Duration
	// on runs at each nap.
	on func()
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	n.list = append(n.list, strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
	n.total += d
	on := n.on
	n.mu.Unlock()
	if on != nil {
		on()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// taken returns the waits since the last call, in seconds.
func (n *naps) taken() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := strings.Join(n.list, " ")
	n.list, n.total = nil, 0
	return s
}

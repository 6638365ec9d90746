package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// This file is pure: JSON documents in, JSON documents out. A document is what encoding/json
// makes of JSON with UseNumber: map[string]any, []any, string, bool, json.Number, nil; float64
// stands for numbers that came from Pulumi. No function changes its arguments.
//
// A member that is null counts as absent everywhere, because ARM answers both for "not set".

// pointer is a JSON pointer (RFC 6901), split at the slashes and unescaped.
type pointer []string

// parsePointer reads a pointer that names a part of a document; the whole document ("") is
// refused, since nothing here may be done to the whole.
func parsePointer(s string) (pointer, error) {
	if !strings.HasPrefix(s, "/") || len(s) < 2 {
		return nil, fmt.Errorf("a JSON pointer such as /properties/keda")
	}
	parts := strings.Split(s[1:], "/")
	for i, part := range parts {
		for j := range len(part) {
			if part[j] == '~' && (j+1 == len(part) || part[j+1] != '0' && part[j+1] != '1') {
				return nil, fmt.Errorf("a JSON pointer, in which ~ is written ~0 and / within a name ~1")
			}
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts, nil
}

// String is the inverse of parsePointer.
func (p pointer) String() string {
	var b strings.Builder
	for _, part := range p {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(part))
	}
	return b.String()
}

// within says whether p is q or lies below it.
func (p pointer) within(q pointer) bool {
	return len(p) >= len(q) && slices.Equal(p[:len(q)], q)
}

// overlaps says whether one of two pointers lies within the other.
func (p pointer) overlaps(q pointer) bool { return p.within(q) || q.within(p) }

// lookup returns the value at p.
func lookup(doc any, p pointer) (value any, present bool) {
	for _, part := range p {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(d) || strconv.Itoa(i) != part {
				return nil, false
			}
			doc = d[i]
		default:
			return nil, false
		}
	}
	return doc, doc != nil
}

// clone copies a document so that the copy may be changed.
func clone(doc any) any {
	switch d := doc.(type) {
	case map[string]any:
		out := make(map[string]any, len(d))
		for k, v := range d {
			out[k] = clone(v)
		}
		return out
	case []any:
		out := make([]any, len(d))
		for i, v := range d {
			out[i] = clone(v)
		}
		return out
	}
	return doc
}

// merge applies a JSON merge patch.
// https://www.rfc-editor.org/rfc/rfc7386#section-2
func merge(doc, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return clone(patch)
	}
	out, ok := clone(doc).(map[string]any)
	if !ok {
		out = map[string]any{}
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = merge(out[k], v)
	}
	return out
}

// leaf is one value that a merge patch sets. A nil want asks for its absence. Arrays are
// leaves, because a merge patch replaces them whole; so is an empty object, which asks for any
// object to be there.
type leaf struct {
	at   pointer
	want any
}

// leavesOf lists what a merge patch sets, sorted by pointer.
func leavesOf(patch map[string]any) []leaf {
	var out []leaf
	var walk func(at pointer, v any)
	walk = func(at pointer, v any) {
		m, ok := v.(map[string]any)
		if !ok || len(m) == 0 && len(at) > 0 {
			out = append(out, leaf{at: slices.Clone(at), want: v})
			return
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			walk(append(at, k), m[k])
		}
	}
	walk(nil, patch)
	return out
}

// order says how strictly arrays are compared.
type order bool

const (
	// strictly is used to decide whether a PUT is needed: whoever asks for another order gets it.
	strictly order = true
	// loosely is used on what a service answers, because services reorder arrays.
	loosely order = false
)

// covers says whether live is as wanted. Objects may have more members than wanted, since
// services add defaults; arrays may not have more elements.
func covers(live, want any, o order) bool {
	switch w := want.(type) {
	case nil:
		return live == nil
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range w {
			if !covers(l[k], v, o) {
				return false
			}
		}
		return true
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return false
		}
		return match(l, w, o)
	}
	return equalScalar(live, want)
}

// match pairs each wanted element with an element of its own.
func match(live, want []any, o order) bool {
	if o == strictly {
		for i := range want {
			if !covers(live[i], want[i], o) {
				return false
			}
		}
		return true
	}
	// An element may cover several wanted ones, so taking the first that fits is not enough.
	// This is Kuhn's bipartite matching; owner[i] is the wanted element that live[i] serves.
	owner := make([]int, len(live))
	for i := range owner {
		owner[i] = -1
	}
	var place func(w int, seen []bool) bool
	place = func(w int, seen []bool) bool {
		for i := range live {
			if seen[i] || !covers(live[i], want[w], o) {
				continue
			}
			seen[i] = true
			if owner[i] < 0 || place(owner[i], seen) {
				owner[i] = w
				return true
			}
		}
		return false
	}
	for w := range want {
		if !place(w, make([]bool, len(live))) {
			return false
		}
	}
	return true
}

func equalScalar(a, b any) bool {
	x, xok := number(a)
	y, yok := number(b)
	if xok && yok {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

// unmet lists the leaves that body does not hold.
func unmet(body map[string]any, leaves []leaf, o order) []leaf {
	var out []leaf
	for _, l := range leaves {
		if live, _ := lookup(body, l.at); !covers(live, l.want, o) {
			out = append(out, l)
		}
	}
	return out
}

// alwaysStripped are the members that ARM computes and that no PUT may carry, whatever the type.
// https://github.com/Azure/azure-resource-manager-rpc/blob/master/v1.0/resource-api-reference.md
var alwaysStripped = []pointer{
	{"id"}, {"name"}, {"type"}, {"systemData"}, {"etag"}, {"eTag"},
	{"properties", "provisioningState"},
	{"identity", "principalId"}, {"identity", "tenantId"},
}

// everyElement, as a part of a pointer in dropReadOnly, stands for all elements of an array or
// all members of an object.
const everyElement = "*"

// strip makes a body that was read into one that may be PUT: without what the service computes
// and without the pointers in extra. User-assigned identities are sent as empty objects, since
// ARM refuses an echoed clientId or principalId.
// https://github.com/Azure/azure-rest-api-specs/issues/13631
func strip(body map[string]any, extra []pointer) map[string]any {
	out := clone(body).(map[string]any)
	for _, p := range alwaysStripped {
		removeAll(out, p)
	}
	for _, p := range extra {
		removeAll(out, p)
	}
	if users, ok := lookup(out, pointer{"identity", "userAssignedIdentities"}); ok {
		if m, ok := users.(map[string]any); ok {
			for id := range m {
				m[id] = map[string]any{}
			}
		}
	}
	return out
}

// removeAll takes out what p names, in place.
func removeAll(doc any, p pointer) {
	if len(p) == 0 {
		return
	}
	switch d := doc.(type) {
	case map[string]any:
		switch {
		case len(p) == 1 && p[0] == everyElement:
			clear(d)
		case len(p) == 1:
			delete(d, p[0])
		case p[0] == everyElement:
			for _, v := range d {
				removeAll(v, p[1:])
			}
		default:
			removeAll(d[p[0]], p[1:])
		}
	case []any:
		// Elements themselves stay: taking one out would change what the others mean.
		if len(p) == 1 {
			return
		}
		for i, v := range d {
			if p[0] == everyElement || p[0] == strconv.Itoa(i) {
				removeAll(v, p[1:])
			}
		}
	}
}

// recording is how the patched leaves were before the first patch.
type recording struct {
	values map[string]any // by pointer
	absent []string       // pointers, sorted
}

// record notes how body holds the leaves.
func record(body map[string]any, leaves []leaf) recording {
	r := recording{values: map[string]any{}, absent: []string{}}
	for _, l := range leaves {
		if v, ok := lookup(body, l.at); ok {
			r.values[l.at.String()] = clone(v)
		} else {
			r.absent = append(r.absent, l.at.String())
		}
	}
	slices.Sort(r.absent)
	return r
}

// undo lists the edits that bring back what was recorded, sorted by pointer.
func (r recording) undo() []leaf {
	var out []leaf
	add := func(s string, want any) {
		if p, err := parsePointer(s); err == nil {
			out = append(out, leaf{at: p, want: want})
		}
	}
	for s, v := range r.values {
		add(s, v)
	}
	for _, s := range r.absent {
		add(s, nil)
	}
	slices.SortFunc(out, func(a, b leaf) int { return slices.Compare(a.at, b.at) })
	return out
}

// apply makes the edits. Objects on the way are made where they are missing; objects that a
// removal leaves empty go too, since `keda: {}` is often refused where no keda at all is fine.
func apply(body map[string]any, edits []leaf) map[string]any {
	out := clone(body).(map[string]any)
	for _, e := range edits {
		if e.want == nil {
			removeEmpty(out, e.at)
			continue
		}
		at := out
		for _, part := range e.at[:len(e.at)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[e.at[len(e.at)-1]] = clone(e.want)
	}
	return out
}

func removeEmpty(doc map[string]any, p pointer) {
	if len(p) == 1 {
		delete(doc, p[0])
		return
	}
	next, ok := doc[p[0]].(map[string]any)
	if !ok {
		return
	}
	removeEmpty(next, p[1:])
	if len(next) == 0 {
		delete(doc, p[0])
	}
}

// carry is what a later patch of the same resource records: how the leaves were before the
// first patch, also those that only the later patch names.
func (r recording) carry(body map[string]any, leaves []leaf) recording {
	return record(apply(body, r.undo()), leaves)
}

// dropped lists the recorded values that the new leaves no longer speak of. A leaf that
// overlaps a new one is not restored, because the new one decides that part.
func (r recording) dropped(leaves []leaf) []leaf {
	return slices.DeleteFunc(r.undo(), func(old leaf) bool {
		return slices.ContainsFunc(leaves, func(l leaf) bool { return l.at.overlaps(old.at) })
	})
}

// restorable thins out undo edits for a body: what was absent is removed only while the body
// still holds what the patch set there, because another value is somebody else's.
func restorable(edits []leaf, body, patch map[string]any) []leaf {
	return slices.DeleteFunc(slices.Clone(edits), func(e leaf) bool {
		if e.want != nil {
			return false
		}
		set, patched := lookup(patch, e.at)
		live, present := lookup(body, e.at)
		return !patched || !present || !covers(live, set, loosely)
	})
}

// observed is the patch as the service holds it: each leaf that is as wanted stays as the
// program wrote it, the others have the live value, and leaves without one are left out.
func observed(body, patch map[string]any) map[string]any {
	out := map[string]any{}
	for _, l := range leavesOf(patch) {
		live, present := lookup(body, l.at)
		switch {
		case covers(live, l.want, loosely):
			put(out, l.at, l.want)
		case present:
			put(out, l.at, live)
		}
	}
	return out
}

// put sets a value, also null, making the objects on the way.
func put(doc map[string]any, at pointer, v any) {
	for _, part := range at[:len(at)-1] {
		next, ok := doc[part].(map[string]any)
		if !ok {
			next = map[string]any{}
			doc[part] = next
		}
		doc = next
	}
	doc[at[len(at)-1]] = clone(v)
}

// show renders a value for a message, shortened.
func show(v any, present bool) string {
	if !present {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const most = 120 // bytes; enough to recognise a value by
	if s := string(b); len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(string(b[:most]), "") + "..."
}

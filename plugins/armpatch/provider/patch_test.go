package provider

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// doc reads JSON as the client does.
func doc(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	return doc(t, text).(map[string]any)
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPointers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]pointer{
		"/a":          {"a"},
		"/a/b":        {"a", "b"},
		"/a~1b/m~0n":  {"a/b", "m~n"},
		"/~01":        {"~1"}, // not a slash: ~0 first
		"/a/":         {"a", ""},
		"/a/0/*":      {"a", "0", "*"},
		"/a b/ÄÖ/c.d": {"a b", "ÄÖ", "c.d"},
	} {
		got, err := parsePointer(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", text, []string(got), err, []string(want))
		}
		if got.String() != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	for _, text := range []string{"", "/", "a", "a/b", "/a~", "/a~2", "/~x/b", "#/a"} {
		if p, err := parsePointer(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, []string(p))
		}
	}
}

func TestPointersOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b             string
		within, overlaps bool
	}{
		{"/a/b", "/a", true, true},
		{"/a", "/a", true, true},
		{"/a", "/a/b", false, true},
		{"/ab", "/a", false, false},
		{"/a/b", "/a/c", false, false},
	} {
		a, _ := parsePointer(c.a)
		b, _ := parsePointer(c.b)
		if a.within(b) != c.within || a.overlaps(b) != c.overlaps {
			t.Errorf("%s and %s: within %v, overlaps %v, want %v, %v", c.a, c.b, a.within(b), a.overlaps(b), c.within, c.overlaps)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	body := doc(t, `{"a":{"b":[{"c":1},{"c":2}],"n":null,"f":false,"":7}}`)
	for at, want := range map[string]string{
		"/a/b/1/c": "2", "/a/f": "false", "/a/": "7", "/a/b/0": `{"c":1}`,
		"/a/n": "", "/a/x": "", "/a/b/2": "", "/a/b/-1": "", "/a/b/01": "", "/a/b/x": "", "/a/f/g": "", "/a/b/1/c/d": "", "/a/n/o": "",
	} {
		p, err := parsePointer(at)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := lookup(body, p)
		if ok != (want != "") || ok && encode(t, got) != want {
			t.Errorf("%s: got %v, %v, want %q", at, got, ok, want)
		}
	}
}

// The examples of RFC 7386, appendix A, and what it does not say about copies.
func TestMergeFollowsTheRFC(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		before, patch := doc(t, c[0]), doc(t, c[1])
		if got := encode(t, merge(before, patch)); got != c[2] {
			t.Errorf("%s with %s: got %s, want %s", c[0], c[1], got, c[2])
		}
		if encode(t, before) != encode(t, doc(t, c[0])) || encode(t, patch) != encode(t, doc(t, c[1])) {
			t.Errorf("%s with %s: the arguments were changed", c[0], c[1])
		}
	}
	patch := object(t, `{"a":{"list":[{"x":1}]}}`)
	merged := merge(map[string]any{}, patch).(map[string]any)
	merged["a"].(map[string]any)["list"].([]any)[0].(map[string]any)["x"] = 2
	if got := encode(t, patch); got != `{"a":{"list":[{"x":1}]}}` {
		t.Errorf("the merged document shares memory with the patch: %s", got)
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string]string{
		`{"a":{"b":{"c":true}}}`:             `/a/b/c=true`,
		`{"b":1,"a":[{"x":1}]}`:              `/a=[{"x":1}] /b=1`,
		`{"a":{"x":null},"b":{}}`:            `/a/x=null /b={}`,
		`{"a":{"b":{"c":{"y":1,"x":2}}}}`:    `/a/b/c/x=2 /a/b/c/y=1`,
		`{"a":{"p/q":{"~":"v"}}}`:            `/a/p~1q/~0="v"`,
		`{"a":{"y":{"b":1,"a":2}}}`:          `/a/y/a=2 /a/y/b=1`,
		`{"identity":{"users":{"/s/x":{}}}}`: `/identity/users/~1s~1x={}`,
	} {
		var got []string
		for _, l := range leavesOf(object(t, patch)) {
			got = append(got, l.at.String()+"="+encode(t, l.want))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %s, want %s", patch, s, want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		live, want    string
		strict, loose bool
		reason        string
	}{
		{`true`, `true`, true, true, "equal"},
		{`true`, `"true"`, false, false, "another type"},
		{`"Disabled"`, `"disabled"`, false, false, "case counts"},
		{`1`, `1.0`, true, true, "numbers by value"},
		{`12345678901234567890`, `1`, false, false, "large numbers"},
		{`null`, `null`, true, true, "absent as wanted"},
		{`1`, `null`, false, false, "should be absent"},
		{`null`, `{}`, false, false, "an object should be there"},
		{`{"a":1}`, `{}`, true, true, "any object"},
		{`[]`, `{}`, false, false, "an array is no object"},
		{`{"a":1,"b":2}`, `{"a":1}`, true, true, "defaults are added"},
		{`{"a":1}`, `{"a":1,"b":null}`, true, true, "absent member as wanted"},
		{`{"a":1}`, `{"a":1,"b":2}`, false, false, "a member is missing"},
		{`[1,2]`, `[1,2]`, true, true, "equal arrays"},
		{`[2,1]`, `[1,2]`, false, true, "another order"},
		{`[1,2,3]`, `[1,2]`, false, false, "one too many"},
		{`[1,1]`, `[1,2]`, false, false, "not the same twice"},
		{`[{"n":"b","d":0},{"n":"a"}]`, `[{"n":"a"},{"n":"b"}]`, false, true, "reordered with defaults"},
		{`[{"n":"a"},{"n":"a","x":1}]`, `[{"n":"a","x":1},{"n":"a"}]`, false, true, "the general one must not take the special one's place"},
		{`[{"n":"a","x":1},{"n":"a"}]`, `[{"n":"a"},{"n":"a","x":1}]`, false, true, "and must give way to it"},
		{`"x"`, `["x"]`, false, false, "no array"},
	} {
		live, want := doc(t, c.live), doc(t, c.want)
		if got := covers(live, want, strictly); got != c.strict {
			t.Errorf("%s, wanted %s, strictly: got %v (%s)", c.live, c.want, got, c.reason)
		}
		if got := covers(live, want, loosely); got != c.loose {
			t.Errorf("%s, wanted %s, loosely: got %v (%s)", c.live, c.want, got, c.reason)
		}
	}
	if !covers(json.Number("30"), 30.0, strictly) {
		t.Error("a number of ARM does not equal the same number of Pulumi")
	}
}

func TestStrip(t *testing.T) {
	t.Parallel()
	body := object(t, `{
		"id":"/x","name":"n","type":"t","systemData":{},"etag":"1","eTag":"2","location":"l","tags":{"name":"stays"},
		"identity":{"type":"SystemAssigned, UserAssigned","principalId":"p","tenantId":"t","userAssignedIdentities":{"/u":{"clientId":"c","principalId":"p"},"/v":{}}},
		"properties":{"provisioningState":"Succeeded","id":"stays","pools":[{"name":"a","state":"ok"},{"name":"b","state":"ok"}],"profile":{"ro":1,"rw":2},"gone":true,"map":{"x":{"ro":1},"y":{"ro":2,"rw":3}}}
	}`)
	before := encode(t, body)
	var extra []pointer
	for _, s := range []string{"/properties/pools/*/state", "/properties/profile/ro", "/properties/gone", "/properties/map/*/ro", "/properties/absent/x", "/properties/pools/0"} {
		p, err := parsePointer(s)
		if err != nil {
			t.Fatal(err)
		}
		extra = append(extra, p)
	}
	want := `{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{"/u":{},"/v":{}}},"location":"l","properties":{"id":"stays","map":{"x":{},"y":{"rw":3}},"pools":[{"name":"a"},{"name":"b"}],"profile":{"rw":2}},"tags":{"name":"stays"}}`
	if got := encode(t, strip(body, extra)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if encode(t, body) != before {
		t.Error("the body was changed")
	}
	if got := encode(t, strip(object(t, `{"a":[{"s":1},{"s":2}],"m":{"x":1}}`), []pointer{{"a", "1", "s"}, {"m", "*"}})); got != `{"a":[{"s":1},{}],"m":{}}` {
		t.Errorf("one element, and all members: %s", got)
	}
}

func TestRecordAndUndo(t *testing.T) {
	t.Parallel()
	before := object(t, `{"p":{"a":1,"list":[1,2],"empty":{},"null":null}}`)
	patch := object(t, `{"p":{"a":2,"list":[3],"null":true,"deep":{"er":{"x":1}},"empty":{"y":1}}}`)
	r := record(before, leavesOf(patch))
	if got := encode(t, r.values); got != `{"/p/a":1,"/p/list":[1,2]}` {
		t.Errorf("values: %s", got)
	}
	if got := strings.Join(r.absent, " "); got != "/p/deep/er/x /p/empty/y /p/null" {
		t.Errorf("absent: %s", got)
	}
	after := merge(before, patch).(map[string]any)
	// What was null or an empty object is absent: ARM answers all three for "not set".
	if got := encode(t, apply(after, r.undo())); got != `{"p":{"a":1,"list":[1,2]}}` {
		t.Errorf("undone: %s", got)
	}
	r.values["/p/list"].([]any)[0] = "changed"
	if encode(t, before) != `{"p":{"a":1,"empty":{},"list":[1,2],"null":null}}` {
		t.Error("the recording shares memory with the body")
	}
}

// A later patch that names other leaves must still know how the resource was at first.
func TestCarry(t *testing.T) {
	t.Parallel()
	original := object(t, `{"p":{"a":1,"o":{"x":1,"y":2}}}`)
	for name, c := range map[string]struct{ first, second, values, absent string }{
		"the same leaves":  {`{"p":{"a":2}}`, `{"p":{"a":3}}`, `{"/p/a":1}`, ""},
		"one more":         {`{"p":{"a":2}}`, `{"p":{"a":2,"b":1}}`, `{"/p/a":1}`, "/p/b"},
		"another":          {`{"p":{"a":2}}`, `{"p":{"o":{"x":5}}}`, `{"/p/o/x":1}`, ""},
		"finer":            {`{"p":{"o":null}}`, `{"p":{"o":{"x":5}}}`, `{"/p/o/x":1}`, ""},
		"coarser":          {`{"p":{"o":{"x":5,"z":1}}}`, `{"p":{"o":null}}`, `{"/p/o":{"x":1,"y":2}}`, ""},
		"absent, coarser":  {`{"p":{"n":{"x":5}}}`, `{"p":{"n":[]}}`, `{}`, "/p/n"},
		"a value in place": {`{"p":{"o":7}}`, `{"p":{"o":{"y":0}}}`, `{"/p/o/y":2}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := object(t, c.first), object(t, c.second)
			r := record(original, leavesOf(first)).carry(merge(original, first).(map[string]any), leavesOf(second))
			if got := encode(t, r.values); got != c.values {
				t.Errorf("values: got %s, want %s", got, c.values)
			}
			if got := strings.Join(r.absent, " "); got != c.absent {
				t.Errorf("absent: got %q, want %q", got, c.absent)
			}
		})
	}
}

func TestDropped(t *testing.T) {
	t.Parallel()
	r := recording{values: map[string]any{"/p/a": 1.0, "/p/o": map[string]any{"x": 1.0}}, absent: []string{"/p/b", "/q"}}
	for next, want := range map[string]string{
		`{"p":{"a":2,"b":1,"o":1},"q":1}`: "",
		`{"p":{"a":2}}`:                   "/p/b /p/o /q",
		`{"p":{"o":{"x":2}}}`:             "/p/a /p/b /q", // o is decided below it
		`{"p":1}`:                         "/q",           // and above it
	} {
		var got []string
		for _, l := range r.dropped(leavesOf(object(t, next))) {
			got = append(got, l.at.String())
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", next, s, want)
		}
	}
}

func TestRestorable(t *testing.T) {
	t.Parallel()
	patch := object(t, `{"p":{"a":1,"b":{"on":true},"c":1,"d":1}}`)
	edits := []leaf{{pointer{"p", "a"}, 0.0}, {pointer{"p", "b", "on"}, nil}, {pointer{"p", "c"}, nil}, {pointer{"p", "d"}, nil}, {pointer{"p", "e"}, nil}}
	body := object(t, `{"p":{"a":9,"b":{"on":true},"c":2,"e":1}}`)
	var got []string
	for _, l := range restorable(edits, body, patch) {
		got = append(got, l.at.String())
	}
	// a goes back whatever it is; b is still ours; c is somebody else's; d has gone; e never was ours.
	if s := strings.Join(got, " "); s != "/p/a /p/b/on" {
		t.Errorf("got %s", s)
	}
	if len(edits) != 5 || edits[2].at.String() != "/p/c" {
		t.Error("the edits were changed")
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	body := object(t, `{"p":{"w":{"keda":{"enabled":true}},"x":1,"s":"text"}}`)
	before := encode(t, body)
	for _, c := range []struct {
		edits []leaf
		want  string
	}{
		{[]leaf{{pointer{"p", "w", "keda", "enabled"}, nil}}, `{"p":{"s":"text","x":1}}`},
		{[]leaf{{pointer{"p", "w", "keda", "other"}, nil}}, before},
		{[]leaf{{pointer{"p", "no", "such"}, nil}}, before},
		{[]leaf{{pointer{"p", "new", "deep"}, "v"}}, `{"p":{"new":{"deep":"v"},"s":"text","w":{"keda":{"enabled":true}},"x":1}}`},
		{[]leaf{{pointer{"p", "s", "deep"}, "v"}}, `{"p":{"s":{"deep":"v"},"w":{"keda":{"enabled":true}},"x":1}}`},
	} {
		got := encode(t, apply(body, c.edits))
		if !reflect.DeepEqual(doc(t, got), doc(t, c.want)) {
			t.Errorf("%v: got %s, want %s", c.edits, got, c.want)
		}
	}
	if encode(t, body) != before {
		t.Error("the body was changed")
	}
}

func TestObserved(t *testing.T) {
	t.Parallel()
	patch := object(t, `{"p":{"on":true,"list":[1,2],"gone":null,"o":{"n":1}},"tags":{"a":"b"}}`)
	for body, want := range map[string]string{
		`{"p":{"on":true,"list":[2,1],"o":{"n":1,"more":1}},"tags":{"a":"b"}}`: `{"p":{"gone":null,"list":[1,2],"o":{"n":1},"on":true},"tags":{"a":"b"}}`,
		`{"p":{"on":false,"list":[1],"gone":5,"o":{"n":1}}}`:                   `{"p":{"gone":5,"list":[1],"o":{"n":1},"on":false}}`,
		`{}`: `{"p":{"gone":null}}`,
	} {
		if got := encode(t, observed(object(t, body), patch)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", body, got, want)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	if got := show(nil, false); got != "nothing" {
		t.Error(got)
	}
	if got := show(map[string]any{"b": 1, "a": "x"}, true); got != `{"a":"x","b":1}` {
		t.Error(got)
	}
	if got := show(strings.Repeat("ä", 200), true); len(got) > 125 || !strings.HasSuffix(got, "...") || !json.Valid([]byte(`"`+strings.Trim(got, `".`)+`"`)) {
		t.Errorf("a long value: %q", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"resourceID": inResourceID, "property": inProperties, "trigger": inTriggers, "timeout": inTimeout, "condition": inPreconditions, "ondelete": inOnDelete} {
		if got := nearest(name, inputNames); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if !slices.IsSorted(inputNames) {
		t.Error("inputNames is not sorted")
	}
}

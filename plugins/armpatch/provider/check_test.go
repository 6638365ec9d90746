package provider

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

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

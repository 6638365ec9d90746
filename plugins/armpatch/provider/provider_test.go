package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

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

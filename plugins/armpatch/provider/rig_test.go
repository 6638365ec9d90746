package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
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

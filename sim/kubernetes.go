package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"onedoor/internal/manifest"
	"onedoor/sim/kube"
)

// kubernetes speaks for the package kubernetes. Where the real provider has a
// manner, this one has it too; the file is github.com/pulumi/pulumi-kubernetes
// provider/pkg/provider/provider.go, 4.32.0.
type kubernetes struct {
	base
	cloud *Cloud

	mu      sync.Mutex
	configs map[string]kubeConfig // by who calls, see caller
	last    kubeConfig
}

func newKubernetes(c *Cloud) *kubernetes {
	return &kubernetes{base: base{name: Kubernetes, version: KubernetesVersion}, cloud: c, configs: map[string]kubeConfig{}}
}

// objectKey returns version and kind that a token names:
// "kubernetes:core/v1:Namespace", "kubernetes:keda.sh/v1alpha1:ScaledObject".
func objectKey(token string) (manifest.ObjectKey, error) {
	parts := strings.Split(token, ":")
	if len(parts) != 3 || parts[0] != Kubernetes || !strings.Contains(parts[1], "/") {
		return manifest.ObjectKey{}, status.Errorf(codes.InvalidArgument, `resource type: got %q, want "kubernetes:group/version:Kind", such as kubernetes:apps/v1:Deployment; fix: use a resource of the SDK, or a CustomResource`, token)
	}
	return manifest.ObjectKey{APIVersion: strings.TrimPrefix(parts[1], "core/"), Kind: parts[2]}, nil
}

// patchSuffix ends the kind of resources that own some fields of an object that
// others made (A660).
const patchSuffix = "Patch"

// kubeRequest is one call about one object.
type kubeRequest struct {
	config kubeConfig
	patch  bool // only some fields are ours
	urn    string
	key    manifest.ObjectKey // version and kind alone
	inputs resource.PropertyMap
	object map[string]any // the inputs as Kubernetes has them
}

func (p *kubernetes) request(ctx context.Context, urn string, properties *structpb.Struct) (*kubeRequest, error) {
	token := string(resource.URN(urn).Type())
	key, err := objectKey(token)
	if err != nil {
		return nil, err
	}
	inputs, err := unmarshal(properties, "kubernetes.request")
	if err != nil {
		return nil, err
	}
	q := &kubeRequest{config: p.config(ctx), urn: urn, key: key, inputs: inputs, object: toObject(inputs)}
	if kind, cut := strings.CutSuffix(key.Kind, patchSuffix); cut {
		if _, known := manifest.Lookup(key.APIVersion, kind); known {
			q.key.Kind, q.patch = kind, true
		}
	}
	if q.release() {
		q.object = releaseObject(q.object)
	}
	return q, nil
}

func (q *kubeRequest) release() bool {
	return q.key.APIVersion == kube.ReleaseVersion && q.key.Kind == kube.ReleaseKind
}

// decided says that a preview can be played through: the cluster is known, and
// so is the whole object.
func (q *kubeRequest) decided() bool {
	return q.config.state == configured && !q.inputs.ContainsUnknowns()
}

func (q *kubeRequest) op(verb kube.Verb) kube.Op {
	if q.patch && verb != kube.Withdraw {
		verb = kube.Merge
	}
	return kube.Op{Verb: verb, Host: q.config.host, Object: q.object}
}

// Check judges the object by itself (A601), and puts it into the namespace of the
// provider where it names none.
func (p *kubernetes) Check(ctx context.Context, req *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(ctx, req.GetUrn(), req.GetNews())
	if err != nil {
		return nil, err
	}
	var problems []manifest.Problem
	if q.release() {
		problems = checkRelease(plain(q.inputs))
		if _, has := q.inputs["namespace"]; !has {
			q.inputs["namespace"] = resource.NewProperty(q.config.defaultNamespace())
		}
	} else {
		q.identify()
		q.adoptNamespace(p.cloud)
		problems = q.problems(p.cloud)
	}
	var failures []*pulumirpc.CheckFailure
	for _, problem := range problems {
		if path, err := resource.ParsePropertyPath(problem.Path); err == nil && secretAt(resource.NewProperty(q.inputs), stepsOf(path)) {
			problem.Got = "[secret]"
		}
		failures = append(failures, &pulumirpc.CheckFailure{Property: problem.Path, Reason: problem.String()})
	}
	checked, err := marshal(q.inputs, "kubernetes.check")
	if err != nil {
		return nil, err
	}
	return &pulumirpc.CheckResponse{Inputs: checked, Failures: failures}, nil
}

// identify fills in version and kind, which follow from the token.
func (q *kubeRequest) identify() {
	for name, value := range map[string]string{"apiVersion": q.key.APIVersion, "kind": q.key.Kind} {
		if q.object[name] == nil {
			q.inputs[resource.PropertyKey(name)] = resource.NewProperty(value)
			q.object[name] = value
		}
	}
}

// adoptNamespace writes the provider's namespace into an object that names none.
func (q *kubeRequest) adoptNamespace(c *Cloud) {
	metadata, ok := q.object["metadata"].(map[string]any)
	if !ok || metadata["namespace"] != nil || !c.namespaced(q) {
		return
	}
	namespace := q.config.defaultNamespace()
	metadata["namespace"] = namespace
	m := q.inputs["metadata"]
	secret := m.IsSecret()
	if secret {
		m = m.SecretValue().Element
	}
	if !m.IsObject() {
		return
	}
	m.ObjectValue()["namespace"] = resource.NewProperty(namespace)
}

// problems judges the object. A kind that is not known here is judged by its
// metadata if the cluster has a definition of it.
func (q *kubeRequest) problems(c *Cloud) []manifest.Problem {
	if q.object["apiVersion"] != q.key.APIVersion || q.object["kind"] != q.key.Kind {
		return []manifest.Problem{{
			Path: "kind", Got: fmt.Sprintf("%v of %v", q.object["kind"], q.object["apiVersion"]),
			Want: fmt.Sprintf("%s of %s, as the resource's type says", q.key.Kind, q.key.APIVersion), Fix: "use the resource of that kind",
		}}
	}
	if _, known := manifest.Lookup(q.key.APIVersion, q.key.Kind); q.patch || !known && c.defines(q) {
		return manifest.CheckCustom(q.object)
	}
	return manifest.Check(q.object)
}

// Diff compares inputs with inputs: what the server fills in is no difference
// (A607).
func (p *kubernetes) Diff(ctx context.Context, req *pulumirpc.DiffRequest) (*pulumirpc.DiffResponse, error) {
	defer p.cloud.enter()()
	old, err := p.request(ctx, req.GetUrn(), req.GetOldInputs())
	if err != nil {
		return nil, err
	}
	now, err := p.request(ctx, req.GetUrn(), req.GetNews())
	if err != nil {
		return nil, err
	}
	return kubeDiff(old, now, req.GetIgnoreChanges()), nil
}

// Create makes an object that is not there yet. In a preview whose cluster or
// object is not fully known it answers the inputs and asks nobody (A603).
func (p *kubernetes) Create(ctx context.Context, req *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(ctx, req.GetUrn(), req.GetProperties())
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		if !q.decided() {
			return &pulumirpc.CreateResponse{Properties: req.GetProperties()}, nil
		}
		body, err := p.cloud.tryObject(q, kube.Create)
		if err != nil {
			return nil, q.creationError(err)
		}
		outputs, err := q.outputs(body, true)
		return &pulumirpc.CreateResponse{Properties: outputs}, err
	}
	if err := q.config.reachable(); err != nil {
		return nil, err
	}
	verb := kube.Create
	if q.config.upsert {
		verb = kube.Apply
	}
	answer, failure, err := p.cloud.writeObject(q, q.op(verb))
	if err != nil {
		return nil, q.creationError(err)
	}
	outputs, err := q.outputs(answer.Object, false)
	if err != nil {
		return nil, err
	}
	id := q.id(answer.Object)
	if failure != nil {
		return nil, q.initFailed(id, outputs, req.GetProperties(), failure)
	}
	return &pulumirpc.CreateResponse{Id: id, Properties: outputs}, nil
}

// creationError says what the real provider says; of a release, Helm's words alone (A653).
func (q *kubeRequest) creationError(err error) error {
	if q.release() {
		return err
	}
	return fmt.Errorf("resource %q was not successfully created by the Kubernetes API server: %w", q.urn, err)
}

// initFailed is an object that exists and does not become ready: the engine keeps
// it with this as its state.
func (q *kubeRequest) initFailed(id string, outputs, inputs *structpb.Struct, failure error) error {
	text := fmt.Sprintf("resource %q was successfully created, but the Kubernetes API server reported that it failed to fully initialize or become live: %s", q.urn, failure)
	return rpcerror.WithDetails(rpcerror.New(codes.Unknown, text), &pulumirpc.ErrorResourceInitFailed{
		Id: id, Properties: outputs, Inputs: inputs, Reasons: []string{failure.Error()},
	})
}

// Update changes an object in place.
func (p *kubernetes) Update(ctx context.Context, req *pulumirpc.UpdateRequest) (*pulumirpc.UpdateResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(ctx, req.GetUrn(), req.GetNews())
	if err != nil {
		return nil, err
	}
	if req.GetPreview() {
		if !q.decided() {
			return &pulumirpc.UpdateResponse{Properties: req.GetNews()}, nil
		}
		body, err := p.cloud.tryObject(q, kube.Update)
		if err != nil {
			return nil, q.updateError(err)
		}
		outputs, err := q.outputs(body, true)
		return &pulumirpc.UpdateResponse{Properties: outputs}, err
	}
	if err := q.config.reachable(); err != nil {
		return nil, err
	}
	answer, failure, err := p.cloud.writeObject(q, q.op(kube.Update))
	if err != nil {
		return nil, q.updateError(err)
	}
	outputs, err := q.outputs(answer.Object, false)
	if err != nil {
		return nil, err
	}
	if failure != nil {
		return nil, q.initFailed(req.GetId(), outputs, req.GetNews(), failure)
	}
	return &pulumirpc.UpdateResponse{Properties: outputs}, nil
}

func (q *kubeRequest) updateError(err error) error {
	return fmt.Errorf("update of resource %q failed because the Kubernetes API server reported: %w", q.urn, err)
}

// Read returns the object as it is now. Of its inputs those change that changed
// in the cluster; without inputs it is an import.
func (p *kubernetes) Read(ctx context.Context, req *pulumirpc.ReadRequest) (*pulumirpc.ReadResponse, error) {
	defer p.cloud.enter()()
	q, err := p.request(ctx, req.GetUrn(), req.GetInputs())
	if err != nil {
		return nil, err
	}
	if err := q.config.reachable(); err != nil {
		if q.config.deleteUnreachable {
			return &pulumirpc.ReadResponse{}, nil
		}
		return nil, err
	}
	answer := p.cloud.object(q.config.host, q.named(req.GetId()))
	switch {
	case answer.Error == nil:
	case answer.Error.Reason == kube.NotFound:
		return &pulumirpc.ReadResponse{}, nil
	case answer.Error.Reason == kube.Unreachable && q.config.deleteUnreachable:
		return &pulumirpc.ReadResponse{}, nil
	default:
		return nil, unreadable(answer.Error)
	}
	outputs, err := q.outputs(answer.Object, false)
	if err != nil {
		return nil, err
	}
	inputs, err := q.refreshed(answer.Object)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ReadResponse{Id: q.id(answer.Object), Inputs: inputs, Properties: outputs}, nil
}

func unreadable(err error) error {
	return fmt.Errorf("failed to read resource state due to unreachable cluster (%w). If the cluster was deleted, you can remove this resource from Pulumi state by rerunning the operation with the PULUMI_K8S_DELETE_UNREACHABLE environment variable set to \"true\"", err)
}

// Delete removes an object; one that is gone already is fine, but for a release (A653).
func (p *kubernetes) Delete(ctx context.Context, req *pulumirpc.DeleteRequest) (*emptypb.Empty, error) {
	defer p.cloud.enter()()
	q, err := p.request(ctx, req.GetUrn(), req.GetOldInputs())
	if err != nil {
		return nil, err
	}
	if err := q.config.reachable(); err != nil {
		if q.config.deleteUnreachable {
			return &emptypb.Empty{}, nil
		}
		return nil, err
	}
	gone := kube.Op{Verb: kube.Delete, Host: q.config.host, Key: q.named(req.GetId())}
	if q.patch {
		gone = q.op(kube.Withdraw)
	}
	_, failure, err := p.cloud.writeObject(q, gone)
	var refusal *kube.Status
	switch errors.As(err, &refusal); {
	case refusal == nil:
	case refusal.Reason == kube.NotFound && q.release():
		err = fmt.Errorf("uninstall: Release not loaded: %s: release: not found", gone.Key.Name)
	case refusal.Reason == kube.NotFound, refusal.Reason == kube.Unreachable && q.config.deleteUnreachable:
		err = nil
	}
	if err = errors.Join(err, failure); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// named returns the name of the object with this id, "namespace/name" or "name".
func (q *kubeRequest) named(id string) manifest.ObjectKey {
	key := q.key
	namespace, name, ok := strings.Cut(id, "/")
	if !ok {
		namespace, name = "", id
	}
	key.Namespace, key.Name = namespace, name
	return key
}

// id returns the id of an object, as the real provider forms it.
func (q *kubeRequest) id(body map[string]any) string {
	metadata, _ := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if namespace, _ := metadata["namespace"].(string); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// stepsOf returns the keys and indices of a property path.
func stepsOf(path resource.PropertyPath) []string {
	out := make([]string, len(path))
	for i, step := range path {
		out[i] = fmt.Sprint(step)
	}
	return out
}

// Invoke knows no functions: those of the real provider render charts and files,
// which need a live cluster in a preview.
func (p *kubernetes) Invoke(_ context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	return nil, status.Errorf(codes.InvalidArgument, "function: got %q, want none: Chart v4, yaml and kustomize need a live cluster in a preview; fix: declare the objects, or a helm.sh/v3 Release", req.GetTok())
}

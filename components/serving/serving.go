// Package serving owns the models that are served in the cluster: the operator of
// Ray clusters, one RayService for each model with the policy that shuts its cluster
// off from others, and the volume that weights are read from. What fits on which
// GPU is planned before, by internal/capacity/gpu; the door that callers use, the
// namespaces and the nodes belong to other components.
package serving

import (
	"errors"
	"fmt"
	"slices"

	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/capacity"
	"onedoor/internal/capacity/gpu"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:serving:Serving"

// component is the value of the component tag.
const component = "serving"

// app is the name of everything that models have in common.
const app = "model-servers"

// Label is on every pod of a model's Ray cluster, with the model's name. The
// operator's own labels have names that it makes up.
const Label = "onedoor/model"

// Args are the inputs of New.
type Args struct {
	Scope     az.Scope
	TenantID  string             // GUID of the Entra tenant
	Cluster   pulumi.Resource    // everything in the cluster goes with it
	Namespace pulumi.StringInput // of the models
	Operators pulumi.StringInput // namespace of the operator
	Registry  pulumi.StringOutput
	Image     pulumi.StringOutput // of Ray and vLLM
	ClientID  pulumi.StringInput  // of the models' identity, once their pods may act as it
	Identity  ref.Identity        // the same: reads the token
	Heads     map[string]string   // selector of the nodes that the operator, heads and ingresses run on
	Ingresses int                 // of each model: what takes calls and hands them to its replicas
	Weights   Weights
	Token     Token
	Models    []Model
}

// Weights is where weights are kept.
type Weights struct {
	Group     string             // resource group of the account
	Account   pulumi.StringInput // name of the account, once the models' identity may read it
	Container string
}

// Token is what a model with conditions is fetched from Hugging Face with.
type Token struct {
	Vault  ref.Resource
	Secret string // name in the vault; "" where no model is fetched from there
}

// Source is where the pods of a model get its weights.
type Source string

// The sources.
const (
	Volume      Source = "volume"      // the platform's storage, under the model's name
	HuggingFace Source = "huggingFace" // the internet, each time that a pod starts
)

// Sources are all of them.
var Sources = []Source{Volume, HuggingFace}

// Model is one model.
type Model struct {
	Name    string    // that the gateway calls it by; it names the RayService, too
	Model   gpu.Model // what it is
	Plan    gpu.Plan  // that it fits by
	Pool    aks.Pool
	Fleet   capacity.Fleet
	Source  Source
	Min     int // replicas; 0 frees the GPUs while nobody calls
	Max     int
	Target  int      // requests at once that a replica is meant to have
	Prefill Replicas // with Max above 0, prompts are read on replicas of their own, and Min and Max are those that answer
}

// Replicas is a range of them.
type Replicas struct{ Min, Max int }

// disaggregated tells whether prompts are read on replicas of their own.
func (m Model) disaggregated() bool { return m.Prefill.Max > 0 }

// pods are how many pods with GPUs the model has.
func (m Model) pods() Replicas {
	return Replicas{(m.Min + m.Prefill.Min) * m.Fleet.Pods, (m.Max + m.Prefill.Max) * m.Fleet.Pods}
}

// check refuses what would never start: the planner's word is final.
func (m Model) check() error {
	var found []error
	if m.Plan.Verdict != gpu.Fit && m.Plan.Verdict != gpu.Marginal {
		found = append(found, fmt.Errorf("model %q does not fit: %v", m.Name, m.Plan.Arithmetic))
	}
	if nodes, why := m.Fleet.Nodes(m.Pool); nodes == 0 || nodes > m.Pool.MaxNodes() {
		found = append(found, fmt.Errorf("model %q: pool %s has at most %d nodes: %s", m.Name, m.Pool.Name, m.Pool.MaxNodes(), why))
	}
	return errors.Join(found...)
}

func (a Args) check() error {
	var found []error
	if len(a.Heads) == 0 {
		found = append(found, errors.New("no node selector of heads: one that a spot node takes along stops the model"))
	}
	for _, m := range a.Models {
		found = append(found, m.check())
		if m.Source == HuggingFace && a.Token.Secret == "" {
			found = append(found, fmt.Errorf("model %q: no secret with the token of Hugging Face", m.Name))
		}
	}
	return errors.Join(found...)
}

// Serving holds the models. Fields below ResourceState are its outputs.
type Serving struct {
	pulumi.ResourceState
	Ready []pulumi.Resource // the RayServices: whoever calls a model waits for them
}

// New declares the models. Children carry name, so two can coexist. opts name a
// provider of Azure and one of the cluster.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Serving, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("serving %q: %w", name, err)
	}
	out := &Serving{}
	if err := ctx.RegisterComponentResource(Type, name, out, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, azure: pulumi.Parent(out), in: []pulumi.ResourceOption{pulumi.Parent(out), pulumi.DeletedWith(args.Cluster)}}
	operator, err := b.operator()
	if err != nil {
		return nil, fmt.Errorf("serving %q: operator: %w", name, err)
	}
	var shared shared
	if err := b.shared(&shared); err != nil {
		return nil, fmt.Errorf("serving %q: %w", name, err)
	}
	for _, model := range args.Models {
		made, err := b.model(model, shared, operator)
		if err != nil {
			return nil, fmt.Errorf("serving %q: model %q: %w", name, model.Name, err)
		}
		out.Ready = append(out.Ready, made)
	}
	if err := b.monitor(); err != nil {
		return nil, fmt.Errorf("serving %q: monitor: %w", name, err)
	}
	return out, ctx.RegisterResourceOutputs(out, pulumi.Map{})
}

// builder carries what every step needs.
type builder struct {
	ctx   *pulumi.Context
	name  string
	args  Args
	azure pulumi.ResourceOption   // of Azure's resources
	in    []pulumi.ResourceOption // of the cluster's
}

// metadata is that of an object of the models.
func (b *builder) metadata(name string) metav1.ObjectMetaArgs {
	return metav1.ObjectMetaArgs{Name: pulumi.String(name), Namespace: b.args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app))}
}

// shared is what models have in common; a part that no model uses is not declared.
type shared struct {
	claim pulumi.StringInput // name of the claim on the weights
	token pulumi.StringInput // name of the mount of the token
}

// shared declares what models have in common.
func (b *builder) shared(s *shared) error {
	uses := func(source Source) bool {
		return slices.ContainsFunc(b.args.Models, func(m Model) bool { return m.Source == source })
	}
	var err error
	if uses(Volume) {
		if s.claim, err = b.volume(); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
	}
	if uses(HuggingFace) {
		if s.token, err = b.token(); err != nil {
			return fmt.Errorf("token: %w", err)
		}
	}
	return nil
}

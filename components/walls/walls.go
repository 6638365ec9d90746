// Package walls owns what holds the pods of the platform to their business: the
// network policies of the cluster, which follow the table of flows row by row, and
// the admission policies. Security groups see nodes and never pods, so these are
// the only walls between pods. The namespaces belong to another component, and the
// pods of kube-system to AKS, which changes them as it likes.
package walls

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/flows"
	"onedoor/internal/kube"
)

// Type is the component's token; changing it needs an alias in New.
const Type = "onedoor:walls:Walls"

const (
	// partOf is the recommended label for what an object belongs to.
	// https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
	partOf = "app.kubernetes.io/part-of"
	// whyAnnotation says which row of the table of flows a policy is, and what for.
	whyAnnotation = "onedoor/flow"
)

// Args are the inputs of New.
type Args struct {
	Cluster    pulumi.Resource                // everything here goes with it
	Site       flows.Site                     // decides which flows hold, and between which addresses
	Namespaces map[string]pulumi.StringOutput // the platform's, names by themselves; those that no flow names are shut
	BatchTaint string                         // of the nodes of the batch control plane, as "key=value:Effect"
}

func (a Args) check() error {
	var found []error
	for _, namespace := range []string{kube.Batch, kube.Edge, kube.KubeRay, kube.Serving, kube.Workers} {
		if _, made := a.Namespaces[namespace]; !made {
			found = append(found, fmt.Errorf("no namespace %q, so nothing would hold its pods", namespace))
		}
	}
	if _, _, err := taint(a.BatchTaint); err != nil {
		found = append(found, err)
	}
	return errors.Join(found...)
}

// Walls holds the policies. Whoever starts pods waits for it.
type Walls struct {
	pulumi.ResourceState
	Namespaces map[string]pulumi.StringOutput // names by themselves, each once its policies stand
}

// New declares the walls. Children carry name, so two can coexist.
func New(ctx *pulumi.Context, name string, args Args, opts ...pulumi.ResourceOption) (*Walls, error) {
	if err := args.check(); err != nil {
		return nil, fmt.Errorf("walls %q: %w", name, err)
	}
	w := &Walls{Namespaces: map[string]pulumi.StringOutput{}}
	if err := ctx.RegisterComponentResource(Type, name, w, opts...); err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, name: name, args: args, in: []pulumi.ResourceOption{pulumi.Parent(w), pulumi.DeletedWith(args.Cluster)}}
	admission, err := b.admission()
	if err != nil {
		return nil, fmt.Errorf("walls %q: %w", name, err)
	}
	for _, namespace := range slices.Sorted(maps.Keys(args.Namespaces)) {
		if w.Namespaces[namespace], err = b.namespace(namespace, admission); err != nil {
			return nil, fmt.Errorf("walls %q: namespace %s: %w", name, namespace, err)
		}
	}
	return w, ctx.RegisterResourceOutputs(w, pulumi.Map{})
}

// builder carries what every step needs.
type builder struct {
	ctx  *pulumi.Context
	name string
	args Args
	in   []pulumi.ResourceOption
}

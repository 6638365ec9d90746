// Package armpatch is the Go SDK of the Pulumi package armpatch. A Patch changes a part of an
// Azure resource that something else made; package provider beside this one says how.
//
// It is written by hand, since one resource needs no generator. provider/schema.json says the
// same, and a test there compares the two.
package armpatch

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const (
	// Version is the version of the plugin that every resource asks for.
	Version = "0.1.0"
	// Token is the type of a Patch.
	Token = "armpatch:index:Patch"
	// ProviderToken is the type of an explicit provider.
	ProviderToken = "pulumi:providers:armpatch"
)

// The values of PatchArgs.OnDelete.
const (
	// Keep leaves the resource as it is when the Patch is deleted.
	Keep = "keep"
	// Restore puts back what the patched leaves were before the first patch.
	Restore = "restore"
)

// PatchArgs are the inputs of NewPatch.
type PatchArgs struct {
	// ResourceID is the ARM id of the resource; another one replaces the Patch. Required.
	ResourceID pulumi.StringInput
	// APIVersion is the API version of every request, as 2025-01-01. Required.
	APIVersion pulumi.StringInput
	// Properties is a JSON merge patch (RFC 7386) of the whole body, as
	// {"properties": {"publicNetworkAccess": "Disabled"}}. Arrays are replaced whole. The null that
	// removes a member cannot be sent: Pulumi's Go SDK drops it from every map, so NewPatch refuses
	// a nil instead of patching less than was said. Required.
	Properties pulumi.MapInput
	// Preconditions are what the resource must hold before it is changed: JSON pointer to value.
	// A nil is refused for the same reason.
	Preconditions pulumi.MapInput
	// DropReadOnly are JSON pointers of what a PUT of this type may not carry, beside what is
	// always stripped (id, name, type, systemData, etag, provisioningState, the insides of
	// identities). "*" stands for every element or member.
	DropReadOnly pulumi.StringArrayInput
	// Triggers are texts; when one changes, the resource is looked at again, and patched if it
	// no longer holds the patch. Hash plain configuration here, never outputs, or previews show
	// an update whenever an output is not known.
	Triggers pulumi.StringMapInput
	// OnDelete is Keep or Restore; the default is Keep.
	OnDelete pulumi.StringPtrInput
	// UIDPointer is a JSON pointer to a text that a recreated resource has anew, as
	// /properties/resourceUID. With it, a refresh notices the recreation.
	UIDPointer pulumi.StringPtrInput
	// PollSeconds is the time between two looks at a running operation, 1..300 s; the default is
	// 10, and what the service asks for goes before it.
	PollSeconds pulumi.IntPtrInput
	// TimeoutSeconds is how long one operation may wait in all, 1..86400 s; the default is 7200.
	// The option CustomTimeouts goes before it.
	TimeoutSeconds pulumi.IntPtrInput
}

type patchArgs struct {
	ResourceID     string            `pulumi:"resourceId"`
	APIVersion     string            `pulumi:"apiVersion"`
	Properties     map[string]any    `pulumi:"properties"`
	Preconditions  map[string]any    `pulumi:"preconditions"`
	DropReadOnly   []string          `pulumi:"dropReadOnly"`
	Triggers       map[string]string `pulumi:"triggers"`
	OnDelete       *string           `pulumi:"onDelete"`
	UIDPointer     *string           `pulumi:"uidPointer"`
	PollSeconds    *int              `pulumi:"pollSeconds"`
	TimeoutSeconds *int              `pulumi:"timeoutSeconds"`
}

// ElementType implements pulumi.Input.
func (PatchArgs) ElementType() reflect.Type { return reflect.TypeFor[patchArgs]() }

// Patch is a change of a part of an existing ARM resource. Its outputs resolve when the resource
// was seen to hold the patch.
type Patch struct {
	pulumi.CustomResourceState

	// AlreadyHeld says whether the resource was as wanted before the first patch of it.
	AlreadyHeld pulumi.BoolOutput `pulumi:"alreadyHeld"`
	// APIVersion is the API version of every request.
	APIVersion pulumi.StringOutput `pulumi:"apiVersion"`
	// DropReadOnly are JSON pointers of what was stripped before the PUT.
	DropReadOnly pulumi.StringArrayOutput `pulumi:"dropReadOnly"`
	// OnDelete is Keep or Restore.
	OnDelete pulumi.StringOutput `pulumi:"onDelete"`
	// PatchedUID is the value at UIDPointer of the resource that carries the patch; "" without one.
	PatchedUID pulumi.StringOutput `pulumi:"patchedUid"`
	// PollSeconds is the time between two looks at a running operation.
	PollSeconds pulumi.IntOutput `pulumi:"pollSeconds"`
	// Preconditions are what the resource had to hold.
	Preconditions pulumi.MapOutput `pulumi:"preconditions"`
	// Previous is what the patched leaves were before the first patch: JSON pointer to value. It
	// is secret if the patch or its preconditions are.
	Previous pulumi.MapOutput `pulumi:"previous"`
	// PreviouslyAbsent are JSON pointers of the patched leaves that were not set before.
	PreviouslyAbsent pulumi.StringArrayOutput `pulumi:"previouslyAbsent"`
	// Properties is the patch as it was applied.
	Properties pulumi.MapOutput `pulumi:"properties"`
	// ResourceID is the ARM id of the resource.
	ResourceID pulumi.StringOutput `pulumi:"resourceId"`
	// ResourceUID is the value at UIDPointer as it was read last; "" without one.
	ResourceUID pulumi.StringOutput `pulumi:"resourceUid"`
	// TimeoutSeconds is how long one operation may wait in all.
	TimeoutSeconds pulumi.IntOutput `pulumi:"timeoutSeconds"`
	// Triggers are texts whose change runs the patch again.
	Triggers pulumi.StringMapOutput `pulumi:"triggers"`
	// UIDPointer is a JSON pointer to a text that a recreated resource has anew.
	UIDPointer pulumi.StringPtrOutput `pulumi:"uidPointer"`
}

// NewPatch declares a Patch. Values of args that are known are checked by the provider, in
// previews too.
func NewPatch(ctx *pulumi.Context, name string, args *PatchArgs, opts ...pulumi.ResourceOption) (*Patch, error) {
	if args == nil {
		return nil, errors.New("armpatch.NewPatch: missing PatchArgs")
	}
	var missing []error
	if args.ResourceID == nil {
		missing = append(missing, errors.New("armpatch.NewPatch: ResourceID is required"))
	}
	if args.APIVersion == nil {
		missing = append(missing, errors.New("armpatch.NewPatch: APIVersion is required"))
	}
	if args.Properties == nil {
		missing = append(missing, errors.New("armpatch.NewPatch: Properties is required"))
	}
	missing = append(missing, nils("Properties", args.Properties)...)
	missing = append(missing, nils("Preconditions", args.Preconditions)...)
	if len(missing) > 0 {
		return nil, errors.Join(missing...)
	}
	patch := &Patch{}
	if err := ctx.RegisterResource(Token, name, args, patch, withVersion(opts)...); err != nil {
		return nil, err
	}
	return patch, nil
}

// nils finds the nil members that would be dropped on the way to the provider.
func nils(at string, v pulumi.Input) []error {
	m, ok := v.(pulumi.Map)
	if !ok {
		return nil
	}
	var found []error
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if m[key] == nil {
			found = append(found, fmt.Errorf("armpatch.NewPatch: %s[%q] is nil, which the Go SDK of Pulumi drops", at, key))
			continue
		}
		found = append(found, nils(fmt.Sprintf("%s[%q]", at, key), m[key])...)
	}
	return found
}

// withVersion puts the version first, so that a caller's goes before it.
func withVersion(opts []pulumi.ResourceOption) []pulumi.ResourceOption {
	return append([]pulumi.ResourceOption{pulumi.Version(Version)}, opts...)
}

// ProviderArgs are the inputs of NewProvider.
type ProviderArgs struct {
	// Environment is the Azure cloud: public (the default), usgovernment or china.
	Environment pulumi.StringPtrInput
}

type providerArgs struct {
	Environment *string `pulumi:"environment"`
}

// ElementType implements pulumi.Input.
func (ProviderArgs) ElementType() reflect.Type { return reflect.TypeFor[providerArgs]() }

// Provider is an explicit provider, for a stack that disables default ones.
type Provider struct {
	pulumi.ProviderResourceState
}

// NewProvider declares an explicit provider. Credentials are never inputs: the provider finds
// them as other Azure tools do.
func NewProvider(ctx *pulumi.Context, name string, args *ProviderArgs, opts ...pulumi.ResourceOption) (*Provider, error) {
	if args == nil {
		args = &ProviderArgs{}
	}
	p := &Provider{}
	if err := ctx.RegisterResource(ProviderToken, name, args, p, withVersion(opts)...); err != nil {
		return nil, err
	}
	return p, nil
}

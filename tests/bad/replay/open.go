package replay

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/armtypes"
)

// open is a provider of azure-native that also takes types and versions of types
// which the simulator does not know, as the real one does: a bad stack need not keep
// to those of this project.
type open struct {
	pulumirpc.ResourceProviderServer // the simulator's
	types                            *armtypes.Catalog
}

func (o open) knows(urn string) bool {
	_, known := o.types.ByToken(string(resource.URN(urn).Type()))
	return known
}

// Check takes the inputs of an unknown type as they are.
func (o open) Check(ctx context.Context, r *pulumirpc.CheckRequest) (*pulumirpc.CheckResponse, error) {
	if o.knows(r.GetUrn()) {
		return o.ResourceProviderServer.Check(ctx, r)
	}
	return &pulumirpc.CheckResponse{Inputs: r.GetNews()}, nil
}

// Create plans an unknown type; replays are previews, and nothing is made.
func (o open) Create(ctx context.Context, r *pulumirpc.CreateRequest) (*pulumirpc.CreateResponse, error) {
	if o.knows(r.GetUrn()) {
		return o.ResourceProviderServer.Create(ctx, r)
	}
	return &pulumirpc.CreateResponse{Properties: r.GetProperties()}, nil
}

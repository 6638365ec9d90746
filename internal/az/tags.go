package az

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// The keys of the tags that every taggable resource carries.
const (
	TagComponent   = "component"
	TagCostCentre  = "cost-centre"
	TagEnvironment = "environment"
	TagManagedBy   = "managed-by"
	TagOwner       = "owner"
	TagStack       = "stack"
)

// TagTenantOwner is on what belongs to one tenant: who answers for the tenant, as
// opposed to TagOwner, who answers for the platform.
const TagTenantOwner = "tenant-owner"

// Tags is the one maker of tags. component names the component that owns the
// resource, as in "network".
func (s Scope) Tags(component string) pulumi.StringMap {
	return pulumi.StringMap{
		TagComponent:   pulumi.String(component),
		TagCostCentre:  pulumi.String(s.CostCentre),
		TagEnvironment: pulumi.String(string(s.Environment)),
		TagManagedBy:   pulumi.String("pulumi"),
		TagOwner:       pulumi.String(s.Owner),
		TagStack:       pulumi.String(s.Project + "/" + s.Stack),
	}
}

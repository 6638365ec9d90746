package gateway

import (
	"fmt"
	"strconv"

	apimanagement "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240501"
	keyvault "github.com/pulumi/pulumi-azure-native-sdk/keyvault/v2/v20230701"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/live"
	"onedoor/internal/ref"
)

// products declares a product for each plan, with its policy before its APIs: a
// key of a product without limits would be one without limits. What it returns,
// by plan, exists once the plan can be used.
//
// With a product Azure makes a subscription for the administrators, and deletes no
// product that has one unless it is told to delete both, which the provider never
// does. So the product of a plan that goes stays behind, without APIs: its keys
// open nothing. It must be deleted by hand before a plan of its name can come back.
// https://github.com/pulumi/pulumi-azure-native/issues/846
// https://github.com/Azure/azure-service-operator/issues/3408
func (b *builder) products(apis []api, fragments []pulumi.Resource) (map[string]pulumi.Resource, error) {
	out := map[string]pulumi.Resource{}
	after := map[string]pulumi.Resource{} // the last link of each API
	for _, plan := range byName(b.args.Rules.Plans, func(p apimpolicy.Plan) string { return p.Name }) {
		name := b.name + "-plan-" + plan.Name
		fail := func(what string, err error) (map[string]pulumi.Resource, error) {
			return nil, fmt.Errorf("plan %q: %s: %w", plan.Name, what, err)
		}
		product, err := apimanagement.NewProduct(b.ctx, name, &apimanagement.ProductArgs{
			ProductId:            pulumi.String(apimpolicy.ProductID(plan.Name)),
			DisplayName:          pulumi.String(plan.Name),
			ServiceName:          b.service,
			ResourceGroupName:    b.args.Group.Name,
			State:                apimanagement.ProductStateEnumPublished,
			SubscriptionRequired: pulumi.Bool(true),
			ApprovalRequired:     pulumi.Bool(true), // nobody subscribes by himself
		}, append(b.child(), pulumi.RetainOnDelete(true))...) // Azure's own subscription of it, see below
		if err != nil {
			return fail("product", err)
		}
		id := named(apimpolicy.ProductID(plan.Name), product)
		policy, err := apimanagement.NewProductPolicy(b.ctx, name+"-policy", &apimanagement.ProductPolicyArgs{
			PolicyId:          pulumi.String("policy"),
			ProductId:         id,
			ServiceName:       b.service,
			ResourceGroupName: b.args.Group.Name,
			Format:            pulumi.String(format),
			Value:             pulumi.String(apimpolicy.Product(plan).Text),
		}, b.child(fragments...)...)
		if err != nil {
			return fail("policy", err)
		}
		var last pulumi.Resource = policy
		for _, a := range apis {
			before := []pulumi.Resource{last}
			if previous := after[a.id]; previous != nil {
				before = append(before, previous)
			}
			link, err := apimanagement.NewProductApiLink(b.ctx, name+"-"+a.id, &apimanagement.ProductApiLinkArgs{
				ApiLinkId:         pulumi.String(a.id),
				ApiId:             b.link(a),
				ProductId:         id,
				ServiceName:       b.service,
				ResourceGroupName: b.args.Group.Name,
			}, b.child(before...)...)
			if err != nil {
				return fail("API "+a.id, err)
			}
			last, after[a.id] = link, link
		}
		out[plan.Name] = last
	}
	return out, nil
}

// secretsFunction answers the keys of a subscription. A read of the subscription
// itself does not, so that a refresh would lose them.
const secretsFunction = "azure-native:apimanagement/v20240501:listSubscriptionSecrets"

// KeySecret is the name of the secret with a tenant's key in the gateway's vault.
// A deleted secret keeps its name for as long as it can be recovered, so a tenant
// that comes back needs a key of another generation.
// https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
func KeySecret(tenant string, generation int) string {
	name := "gateway-key-" + tenant
	if generation > 0 {
		// Two hyphens in a row are in no tenant's name.
		name += "--" + strconv.Itoa(generation)
	}
	return name
}

// tenants declares a subscription for each tenant, and puts its key into the
// vault, where the tenant gets it. That is all a tenant adds.
func (b *builder) tenants(plans map[string]pulumi.Resource) error {
	vault, err := az.ParseID(b.args.Vault.Plain)
	if err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	for _, tenant := range byName(b.args.Rules.Tenants, func(t apimpolicy.Tenant) string { return t.Name }) {
		name, key := b.name+"-tenant-"+tenant.Name, b.args.Keys[tenant.Name]
		tags := b.args.Scope.Tags(component)
		tags[az.TagTenantOwner] = pulumi.String(key.Owner)
		subscription, err := apimanagement.NewSubscription(b.ctx, name, &apimanagement.SubscriptionArgs{
			Sid:               pulumi.String(tenant.Name), // what policies call it by
			DisplayName:       pulumi.String(tenant.Name),
			ServiceName:       b.service,
			ResourceGroupName: b.args.Group.Name,
			Scope:             ref.After(pulumi.String(b.id+"/products/"+apimpolicy.ProductID(tenant.Plan)), plans[tenant.Plan]),
			State:             apimanagement.SubscriptionStateEnumActive,
			AllowTracing:      pulumi.Bool(false), // traces show the policies
		}, b.child()...)
		if err != nil {
			return fmt.Errorf("tenant %q: subscription: %w", tenant.Name, err)
		}
		if _, err := keyvault.NewSecret(b.ctx, name+"-key", &keyvault.SecretArgs{
			SecretName:        pulumi.String(KeySecret(tenant.Name, key.Generation)),
			VaultName:         b.args.Vault.ID.ApplyT(func(string) string { return vault.Name() }).(pulumi.StringOutput),
			ResourceGroupName: pulumi.String(vault.ResourceGroup),
			Properties: keyvault.SecretPropertiesArgs{
				ContentType: pulumi.String("API key of the gateway"),
				Value:       b.primaryKey(tenant.Name, subscription),
			},
			Tags: tags,
		}, b.in); err != nil {
			return fmt.Errorf("tenant %q: key: %w", tenant.Name, err)
		}
	}
	return nil
}

// primaryKey asks for a tenant's key. The arguments are plain names, so that the
// key is unknown only while the subscription does not exist.
func (b *builder) primaryKey(tenant string, subscription pulumi.Resource) pulumi.StringOutput {
	return live.Ask(b.ctx, secretsFunction, map[string]any{
		"resourceGroupName": b.args.Group.PlainName,
		"serviceName":       b.args.name(),
		"sid":               tenant,
	}, subscription, b.parent).Text("primaryKey").ApplyT(func(key string) pulumi.StringOutput {
		return pulumi.ToSecret(pulumi.String(key)).(pulumi.StringOutput)
	}).(pulumi.StringOutput)
}

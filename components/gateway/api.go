package gateway

import (
	"fmt"
	"maps"
	"slices"

	apimanagement "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/ref"
)

// format is that of every document: XML with C# escaped.
const format = "xml"

// plainFragments are the fragments that are known before anything exists.
func (a Args) plainFragments() []apimpolicy.Document {
	return []apimpolicy.Document{
		apimpolicy.Limits(a.Rules.Plans),
		apimpolicy.Routes(a.Rules.Plans, a.Rules.Aliases, a.Rules.Region),
		apimpolicy.Tenants(a.Rules.Tenants),
	}
}

// documents are all documents whose text is known before anything exists.
func (a Args) documents() []apimpolicy.Document {
	out := append(a.plainFragments(), a.Rules.API(false), a.Rules.API(true))
	for _, p := range a.Rules.Plans {
		out = append(out, apimpolicy.Product(p))
	}
	declared := &apimpolicy.Declared{Fragments: []string{apimpolicy.FragmentServingToken,
		apimpolicy.FragmentLimits, apimpolicy.FragmentModelsToken, apimpolicy.FragmentRoutes, apimpolicy.FragmentTenants, apimpolicy.FragmentWorkers,
	}}
	for i := range out {
		out[i].Declared = declared
	}
	return out
}

// fragments declares the fragments. Some of them hold what only Azure knows, so
// their texts are not known in a first preview; all others are.
func (b *builder) fragments() ([]pulumi.Resource, error) {
	texts := map[string]pulumi.StringInput{}
	for _, doc := range b.args.plainFragments() {
		texts[doc.Name] = pulumi.String(doc.Text)
	}
	texts[apimpolicy.FragmentModelsToken] = b.args.Identity.ClientID.ApplyT(func(id string) string {
		return apimpolicy.ModelsToken(id).Text
	}).(pulumi.StringOutput)
	if audience := b.args.Rules.Serving; b.args.Rules.ServesOwn() {
		texts[apimpolicy.FragmentServingToken] = b.args.Identity.ClientID.ApplyT(func(id string) string {
			return apimpolicy.ServingToken(id, audience).Text
		}).(pulumi.StringOutput)
	}
	var clients pulumi.StringArray
	for _, modality := range slices.Sorted(maps.Keys(b.args.Workers)) {
		clients = append(clients, b.args.Workers[modality].ClientID)
	}
	texts[apimpolicy.FragmentWorkers] = clients.ToStringArrayOutput().ApplyT(func(ids []string) string {
		return apimpolicy.Workers(ids).Text
	}).(pulumi.StringOutput)

	var out []pulumi.Resource
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		made, err := apimanagement.NewPolicyFragment(b.ctx, b.name+"-fragment-"+name, &apimanagement.PolicyFragmentArgs{
			Id:                pulumi.String(name),
			ServiceName:       b.service,
			ResourceGroupName: b.args.Group.Name,
			Format:            pulumi.String(format),
			Value:             texts[name],
		}, b.child()...)
		if err != nil {
			return nil, fmt.Errorf("fragment %q: %w", name, err)
		}
		out = append(out, made)
	}
	return out, nil
}

// api is one API of the gateway.
type api struct {
	id, path string
	logged   bool            // with what was said
	last     pulumi.Resource // of its children: what follows waits for it
}

// apis are the one API, and where tenants have agreed to be logged, its like for
// them: what is logged is a property of an API. Logging is then a matter of the
// address that a tenant calls, and nobody else is let in there.
func (b *builder) apis() []api {
	out := []api{{id: "openai", path: apimpolicy.APIPath}}
	if slices.ContainsFunc(b.args.Rules.Tenants, func(t apimpolicy.Tenant) bool { return t.LogPrompts }) {
		out = append(out, api{id: "openai-logged", path: apimpolicy.LoggedPath, logged: true})
	}
	return out
}

// api declares an API with its policy, diagnostics and operations, one after
// another: Azure takes one write to an API at a time. The policy comes first, so
// that no operation is ever without it. It returns the last of them.
// https://github.com/Azure/apiops/issues/497
func (b *builder) api(a api, loggers loggers, before []pulumi.Resource) (pulumi.Resource, error) {
	name := b.name + "-" + a.id
	fail := func(what string, err error) (pulumi.Resource, error) {
		return nil, fmt.Errorf("API %q: %s: %w", a.id, what, err)
	}
	made, err := apimanagement.NewApi(b.ctx, name, &apimanagement.ApiArgs{
		ApiId:             pulumi.String(a.id),
		ServiceName:       b.service,
		ResourceGroupName: b.args.Group.Name,
		DisplayName:       pulumi.String(a.id),
		Path:              pulumi.String(a.path),
		Protocols:         pulumi.StringArray{pulumi.String(apimanagement.ProtocolHttps)},
		// A caller may have an Entra token instead of a key. The policy refuses those
		// who have neither.
		SubscriptionRequired: pulumi.Bool(false),
		SubscriptionKeyParameterNames: apimanagement.SubscriptionKeyParameterNamesContractArgs{
			Header: pulumi.String(apimpolicy.KeyName), Query: pulumi.String(apimpolicy.KeyName),
		},
	}, b.child()...)
	if err != nil {
		return fail("itself", err)
	}
	id := named(a.id, made)
	policy, err := apimanagement.NewApiPolicy(b.ctx, name+"-policy", &apimanagement.ApiPolicyArgs{
		PolicyId:          pulumi.String("policy"), // Azure takes no other
		ApiId:             id,
		ServiceName:       b.service,
		ResourceGroupName: b.args.Group.Name,
		Format:            pulumi.String(format),
		Value:             pulumi.String(b.args.Rules.API(a.logged).Text),
	}, b.child(before...)...) // it names them, and Azure looks
	if err != nil {
		return fail("policy", err)
	}
	last, err := b.diagnose(a, id, loggers, policy)
	if err != nil {
		return fail("diagnostics", err)
	}
	operations := byName(append(apimpolicy.Synchronous(), apimpolicy.Refused()...), func(o apimpolicy.Operation) string { return o.ID })
	for _, o := range operations {
		parameters := apimanagement.ParameterContractArray{}
		for _, p := range o.Parameters() {
			parameters = append(parameters, apimanagement.ParameterContractArgs{Name: pulumi.String(p), Type: pulumi.String("string"), Required: pulumi.Bool(true)})
		}
		operation, err := apimanagement.NewApiOperation(b.ctx, name+"-"+o.ID, &apimanagement.ApiOperationArgs{
			OperationId:        pulumi.String(o.ID),
			ApiId:              id,
			ServiceName:        b.service,
			ResourceGroupName:  b.args.Group.Name,
			DisplayName:        pulumi.String(o.ID),
			Method:             pulumi.String(o.Method),
			UrlTemplate:        pulumi.String(o.Template),
			TemplateParameters: parameters,
		}, b.child(last)...)
		if err != nil {
			return fail("operation "+o.ID, err)
		}
		last = operation
	}
	return last, nil
}

// link is the id of an API, once all of it exists.
func (b *builder) link(a api) pulumi.StringOutput {
	return ref.After(pulumi.String(b.id+"/apis/"+a.id), a.last)
}

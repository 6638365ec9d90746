package gateway

import (
	"fmt"
	"maps"
	"slices"
	"time"

	apimanagement "github.com/pulumi/pulumi-azure-native-sdk/apimanagement/v2/v20240501"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/az"
	"onedoor/internal/az/openai"
	"onedoor/internal/live"
	"onedoor/internal/placeholder"
	"onedoor/internal/ref"
	"onedoor/internal/routing"
)

// backends declares one back end for each deployment. Two that share one would
// share its breaker, and one model's trouble would stop the other.
func (b *builder) backends() ([]pulumi.Resource, error) {
	reads, err := b.args.Scope.Grant(b.ctx, b.name+"-reads-vault", az.SecretsUser, ref.Identity{
		Resource: ref.Ready(b.id, b.made),
		PrincipalID: live.Ask(b.ctx, "azure-native:apimanagement/v20240501:getApiManagementService", map[string]any{
			"resourceGroupName": b.args.Group.PlainName, "serviceName": b.args.name(),
		}, b.made, b.parent).Text("identity", "principalId"),
	}, b.args.Vault.Resource, b.in)
	if err != nil {
		return nil, err
	}
	targets, err := apimpolicy.Backends(b.args.Rules.Aliases)
	if err != nil {
		return nil, err
	}
	accounts := map[string]ref.ModelAccount{}
	for _, account := range b.args.Accounts {
		accounts[account.Name] = account
	}
	secrets, err := b.secrets()
	if err != nil {
		return nil, err
	}
	var out []pulumi.Resource
	for _, target := range targets {
		args := &apimanagement.BackendArgs{
			BackendId:         pulumi.String(target.Backend),
			ServiceName:       b.service,
			ResourceGroupName: b.args.Group.Name,
			Url:               pulumi.String(target.URL),
			Protocol:          pulumi.String("http"), // as opposed to soap; the URL says https
			Tls:               apimanagement.BackendTlsPropertiesArgs{ValidateCertificateChain: pulumi.Bool(true), ValidateCertificateName: pulumi.Bool(true)},
			CircuitBreaker:    breaker(target),
		}
		if target.Kind == routing.Azure {
			url := target.URL
			args.Url = accounts[target.Account].Endpoint.ApplyT(func(string) string { return url }).(pulumi.StringOutput) // not before it is ready to be called
		}
		if secret := b.args.Secrets[target.Backend]; secret != "" {
			key, err := b.key(target.Backend, secret, reads, secrets[secret])
			if err != nil {
				return nil, err
			}
			args.Credentials = apimanagement.BackendCredentialsContractArgs{Header: pulumi.StringArrayMap{
				"Authorization": pulumi.StringArray{pulumi.Sprintf("Bearer {{%s}}", key)},
			}}
		}
		made, err := apimanagement.NewBackend(b.ctx, b.name+"-backend-"+target.Backend, args, b.child()...)
		if err != nil {
			return nil, fmt.Errorf("back end %q: %w", target.Backend, err)
		}
		out = append(out, made)
	}
	return out, nil
}

// secrets declares the secrets with the keys of back ends, by name: the gateway
// can only name one that exists. The key itself is written by hand, as a new
// version; until then the back end refuses calls.
func (b *builder) secrets() (map[string]pulumi.Resource, error) {
	out := map[string]pulumi.Resource{}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(b.args.Secrets))) {
		made, err := placeholder.Secret(b.ctx, b.name+"-secret-"+name, placeholder.Args{
			Scope: b.args.Scope, Component: component, Vault: b.args.Vault.Resource, Secret: name, ContentType: "API key of a back end",
		}, b.in)
		if err != nil {
			return nil, err
		}
		out[name] = made
	}
	return out, nil
}

// key declares the named value with a back end's key, and returns its name. The
// identity is left out: that means the system's, and Azure looks for a user's
// when one is named.
// https://learn.microsoft.com/azure/api-management/api-management-howto-properties
func (b *builder) key(backend, secret string, after ...pulumi.Resource) (pulumi.StringOutput, error) {
	name := "key-" + backend
	made, err := apimanagement.NewNamedValue(b.ctx, b.name+"-"+name, &apimanagement.NamedValueArgs{
		NamedValueId:      pulumi.String(name),
		DisplayName:       pulumi.String(name),
		ServiceName:       b.service,
		ResourceGroupName: b.args.Group.Name,
		Secret:            pulumi.Bool(true),
		KeyVault: apimanagement.KeyVaultContractCreatePropertiesArgs{
			SecretIdentifier: pulumi.Sprintf("%ssecrets/%s", b.args.Vault.URL, secret), // without a version, so that a new one is taken within 4 h
		},
	}, b.child(after...)...)
	if err != nil {
		return pulumi.StringOutput{}, fmt.Errorf("key of back end %q: %w", backend, err)
	}
	return named(name, made), nil
}

// rule is what opens a breaker: so many answers of those codes within a minute
// keep the back end out of use for a while.
type rule struct {
	count      float64
	from, to   int // codes
	and        int // one more code; 0 for none
	open       time.Duration
	retryAfter bool // or for as long as the back end asks
}

// breaker is the one rule of a back end; Azure takes no second. While it is open
// the gateway answers for the back end with a 503, and the call goes to the next.
// Bought throughput is different: it refuses calls for fractions of a second
// while it is full, and would go unused if that opened the breaker. What is
// served by others gives no time to wait.
// https://learn.microsoft.com/azure/api-management/backends
func breaker(t routing.Target) apimanagement.BackendCircuitBreakerArgs {
	r := rule{count: 1, from: 500, to: 599, and: 429, open: 30 * time.Second, retryAfter: true}
	sku, _ := openai.Lookup(t.SKU)
	switch {
	case t.Kind != routing.Azure:
		r = rule{count: 5, from: 500, to: 599, open: 30 * time.Second}
	case sku.Provisioned:
		r = rule{count: 3, from: 500, to: 599, open: 10 * time.Second}
	}
	ranges := apimanagement.FailureStatusCodeRangeArray{}
	if r.and > 0 {
		ranges = append(ranges, apimanagement.FailureStatusCodeRangeArgs{Min: pulumi.Int(r.and), Max: pulumi.Int(r.and)})
	}
	return apimanagement.BackendCircuitBreakerArgs{Rules: apimanagement.CircuitBreakerRuleArray{apimanagement.CircuitBreakerRuleArgs{
		Name:             pulumi.String("trouble"),
		AcceptRetryAfter: pulumi.Bool(r.retryAfter),
		TripDuration:     pulumi.String(az.Duration(r.open)),
		FailureCondition: apimanagement.CircuitBreakerFailureConditionArgs{
			Count:            pulumi.Float64(r.count),
			Interval:         pulumi.String(az.Duration(time.Minute)),
			StatusCodeRanges: append(ranges, apimanagement.FailureStatusCodeRangeArgs{Min: pulumi.Int(r.from), Max: pulumi.Int(r.to)}),
		},
	}}}
}

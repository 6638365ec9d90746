// Package azread asks Azure what the checks before and after a deployment need to
// know, with Microsoft's clients. Every call reads. An answer that lacks what was
// asked for is an error: silence would look like "nothing there". It judges nothing.
package azread

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v5"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerregistry/armcontainerregistry"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/keyvault/armkeyvault"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

// modelsVersion is the version of the API that accounts and deployments are made
// with: a newer one answers what the program did not set.
const modelsVersion = "2024-10-01"

// Options are how Azure is reached.
type Options struct {
	Subscription string
	Credential   azcore.TokenCredential
	Cloud        cloud.Configuration
	Transport    policy.Transporter // nil means the network
	MaxRetries   int32              // of one request, on 408, 429 and 5xx; 0 means the clients' own number, below 0 none
}

// tryTimeout is how long one try of a request may take: Azure answers what is read
// here within seconds, and a firewall that drops packets never.
const tryTimeout = time.Minute

// Azure is a subscription, read by one caller.
type Azure struct {
	Subscription string

	credential azcore.TokenCredential
	plain      *arm.Client // for what no client offers

	subscriptions *armsubscriptions.Client
	resources     *armresources.ClientFactory
	models        *armcognitiveservices.ClientFactory
	gateways      *armapimanagement.ClientFactory
	compute       *armcompute.ClientFactory
	vaults        *armkeyvault.VaultsClient
	storage       *armstorage.AccountsClient
	buses         *armservicebus.NamespacesClient
	registries    *armcontainerregistry.RegistriesClient
	roles         *armauthorization.ClientFactory
}

// New makes the clients; it asks nothing yet.
func New(o Options) (*Azure, error) {
	options := func(version string) *arm.ClientOptions {
		return &arm.ClientOptions{
			DisableRPRegistration: true, // registering is a write
			ClientOptions: policy.ClientOptions{
				APIVersion: version, Cloud: o.Cloud, Transport: o.Transport,
				Retry: policy.RetryOptions{MaxRetries: o.MaxRetries, TryTimeout: tryTimeout},
			},
		}
	}
	a := &Azure{Subscription: o.Subscription, credential: o.Credential}
	var problems [10]error
	a.plain, problems[0] = arm.NewClient("onedoor", "v1.0.0", o.Credential, options(""))
	a.subscriptions, problems[1] = armsubscriptions.NewClient(o.Credential, options(""))
	a.resources, problems[2] = armresources.NewClientFactory(o.Subscription, o.Credential, options(""))
	a.models, problems[3] = armcognitiveservices.NewClientFactory(o.Subscription, o.Credential, options(modelsVersion))
	a.gateways, problems[4] = armapimanagement.NewClientFactory(o.Subscription, o.Credential, options(""))
	a.compute, problems[5] = armcompute.NewClientFactory(o.Subscription, o.Credential, options(""))
	a.vaults, problems[6] = armkeyvault.NewVaultsClient(o.Subscription, o.Credential, options(""))
	a.storage, problems[7] = armstorage.NewAccountsClient(o.Subscription, o.Credential, options(""))
	a.buses, problems[8] = armservicebus.NewNamespacesClient(o.Subscription, o.Credential, options(""))
	a.registries, problems[9] = armcontainerregistry.NewRegistriesClient(o.Subscription, o.Credential, options(""))
	roles, err := armauthorization.NewClientFactory(o.Subscription, o.Credential, options(""))
	a.roles = roles
	if err := errors.Join(append(problems[:], err)...); err != nil {
		return nil, fmt.Errorf("clients of Azure: %w", err)
	}
	return a, nil
}

// Reason is why a read failed, in a line, as a person needs it.
func Reason(err error) string {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		return oneLine(err.Error())
	}
	what := fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if answer.ErrorCode != "" {
		what += " " + answer.ErrorCode
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		what += ": log in again, as with az login"
	case http.StatusForbidden:
		what += ": the caller may not read this; give it the role Reader at the subscription"
	case http.StatusTooManyRequests:
		what += ": Azure is asked too much; run again in some minutes"
	}
	if answer.RawResponse != nil && answer.RawResponse.Request != nil {
		what += " (" + answer.RawResponse.Request.Method + " " + answer.RawResponse.Request.URL.Path + ")"
	}
	return what
}

// maxReason is the length of a reason, in bytes.
const maxReason = 300

// oneLine is the first line of a text, not too long.
func oneLine(text string) string {
	for i, r := range text {
		if r == '\n' || i >= maxReason {
			return text[:i]
		}
	}
	return text
}

// missing says that an answer lacks what was asked for.
func missing(what string) error { return fmt.Errorf("Azure's answer has no %s", what) } //nolint:staticcheck // a name

// text is what p points to, an error for nothing.
func text[T ~string](p *T, what string) (string, error) {
	if p == nil || *p == "" {
		return "", missing(what)
	}
	return string(*p), nil
}

// or is what p points to, the zero value for nothing.
func or[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// texts are those that the pointers point to.
func texts(in []*string) []string {
	out := make([]string, 0, len(in))
	for _, p := range in {
		if p != nil {
			out = append(out, *p)
		}
	}
	return out
}

// all reads every page of a list. A page without a list is an error.
func all[P, T any](ctx context.Context, pager *runtime.Pager[P], items func(P) []*T) ([]T, error) {
	out := []T{}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found := items(page)
		if found == nil {
			return nil, missing("list")
		}
		for _, item := range found {
			if item == nil {
				return nil, missing("item in a list")
			}
			out = append(out, *item)
		}
	}
	return out, nil
}

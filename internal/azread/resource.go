package azread

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Resource is a resource as Azure shows it.
type Resource struct {
	ID         string
	Location   string
	Properties map[string]any // plain JSON
}

// Get reads a resource by its id; found is false if there is none.
func (a *Azure) Get(ctx context.Context, id, apiVersion string) (r Resource, found bool, err error) {
	answer, err := a.resources.NewClient().GetByID(ctx, id, apiVersion, nil)
	var refused *azcore.ResponseError
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return Resource{}, false, nil
	}
	if err != nil {
		return Resource{}, false, err
	}
	r = Resource{ID: or(answer.ID), Location: or(answer.Location)}
	properties, is := answer.Properties.(map[string]any)
	if r.ID == "" || !is {
		return Resource{}, false, missing("id and properties")
	}
	r.Properties = properties
	return r, true, nil
}

// Into decodes the properties into v.
func (r Resource) Into(v any) error {
	raw, err := json.Marshal(r.Properties)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// Subscription is the subscription itself.
type Subscription struct {
	State  string // as in "Enabled"
	Tenant string
}

// ReadSubscription reads the subscription itself.
func (a *Azure) ReadSubscription(ctx context.Context) (Subscription, error) {
	answer, err := a.subscriptions.Get(ctx, a.Subscription, nil)
	if err != nil {
		return Subscription{}, err
	}
	state, err := text(answer.State, "state")
	return Subscription{State: state, Tenant: or(answer.TenantID)}, err
}

// Registration is how far the subscription may use a resource provider, as in
// "Registered".
func (a *Azure) Registration(ctx context.Context, namespace string) (string, error) {
	answer, err := a.resources.NewProvidersClient().Get(ctx, namespace, nil)
	if err != nil {
		return "", err
	}
	return text(answer.RegistrationState, "registrationState")
}

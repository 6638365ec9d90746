package preflight

import (
	"context"
	"strings"

	"onedoor/internal/azread"
)

// subscription judges the subscription itself.
func (a *asking) subscription(ctx context.Context) {
	got, err := a.Azure.ReadSubscription(ctx)
	if err != nil {
		a.NotChecked(a.Subscription, azread.Reason(err), SubscriptionUsable)
		return
	}
	a.Judged(SubscriptionUsable)
	if got.State != "Enabled" {
		a.Found(SubscriptionUsable, a.Subscription, "state is %q, want \"Enabled\": it takes no writes", got.State)
	}
	switch {
	case a.Tenant == "":
	case got.Tenant == "":
		a.NotChecked(a.Subscription, "Azure does not say which tenant it belongs to", SubscriptionUsable)
	case !strings.EqualFold(got.Tenant, a.Tenant):
		a.Found(SubscriptionUsable, a.Subscription, "tenant is %s, the plan's vaults want %s", got.Tenant, a.Tenant)
	}
}

// providers judges the registration of resource providers.
func (a *asking) providers(ctx context.Context) {
	for _, namespace := range a.Providers {
		state, err := a.Azure.Registration(ctx, namespace)
		if err != nil {
			a.NotChecked(namespace, azread.Reason(err), ProviderRegistered)
			continue
		}
		a.Judged(ProviderRegistered)
		if state != "Registered" {
			a.Found(ProviderRegistered, namespace, "registration is %q, want \"Registered\"", state)
		}
	}
}

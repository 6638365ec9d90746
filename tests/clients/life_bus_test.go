package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"

	"onedoor/sim/core"
)

const (
	busLife    = "Microsoft.ServiceBus/namespaces/onedoor-lives"
	topicLife  = busLife + "/topics/events"
	readerLife = topicLife + "/subscriptions/reader"
)

var busLives = []life{
	{
		of: busLife, busy: core.AnotherOperationInProgress, made: false, changed: true,
		write: func(ctx context.Context, a *azure, again bool) error {
			poller, err := a.bus.NewNamespacesClient().BeginCreateOrUpdate(ctx, "rg", "onedoor-lives", armservicebus.SBNamespace{
				Location: new("swedencentral"), SKU: &armservicebus.SBSKU{Name: new(armservicebus.SKUNameStandard)},
				Properties: &armservicebus.SBNamespaceProperties{DisableLocalAuth: pick(again, false, true)},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armservicebus.SBNamespace) *bool { return m.Properties.DisableLocalAuth }),
		remove: func(ctx context.Context, a *azure) error {
			poller, err := a.bus.NewNamespacesClient().BeginDelete(ctx, "rg", "onedoor-lives", nil)
			return ended(ctx, poller, err)
		},
	},
	{
		of: busLife + "/queues/jobs", needs: []string{busLife}, busy: core.AnotherOperationInProgress, made: int32(10), changed: int32(5),
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.bus.NewQueuesClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "jobs", armservicebus.SBQueue{
				Properties: &armservicebus.SBQueueProperties{MaxDeliveryCount: pick[int32](again, 10, 5)},
			}, nil)
			return err
		},
		shows: shown(func(m armservicebus.SBQueue) *int32 { return m.Properties.MaxDeliveryCount }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewQueuesClient().Delete(ctx, "rg", "onedoor-lives", "jobs", nil)
			return err
		},
	},
	{
		of: topicLife, needs: []string{busLife}, busy: core.AnotherOperationInProgress, made: "PT1H", changed: "PT2H",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.bus.NewTopicsClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "events", armservicebus.SBTopic{
				Properties: &armservicebus.SBTopicProperties{DefaultMessageTimeToLive: pick(again, "PT1H", "PT2H")},
			}, nil)
			return err
		},
		shows: shown(func(m armservicebus.SBTopic) *string { return m.Properties.DefaultMessageTimeToLive }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewTopicsClient().Delete(ctx, "rg", "onedoor-lives", "events", nil)
			return err
		},
	},
	{
		of: readerLife, needs: []string{busLife, topicLife}, busy: core.AnotherOperationInProgress, made: "PT1M", changed: "PT5M",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.bus.NewSubscriptionsClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "events", "reader", armservicebus.SBSubscription{
				Properties: &armservicebus.SBSubscriptionProperties{LockDuration: pick(again, "PT1M", "PT5M")},
			}, nil)
			return err
		},
		shows: shown(func(m armservicebus.SBSubscription) *string { return m.Properties.LockDuration }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewSubscriptionsClient().Delete(ctx, "rg", "onedoor-lives", "events", "reader", nil)
			return err
		},
	},
	{
		of: readerLife + "/rules/urgent", needs: []string{busLife, topicLife, readerLife}, busy: core.AnotherOperationInProgress, made: "a = 1", changed: "a = 2",
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.bus.NewRulesClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", "events", "reader", "urgent", armservicebus.Rule{
				Properties: &armservicebus.Ruleproperties{FilterType: new(armservicebus.FilterTypeSQLFilter), SQLFilter: &armservicebus.SQLFilter{SQLExpression: pick(again, "a = 1", "a = 2")}},
			}, nil)
			return err
		},
		shows: shown(func(m armservicebus.Rule) *string { return m.Properties.SQLFilter.SQLExpression }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewRulesClient().Delete(ctx, "rg", "onedoor-lives", "events", "reader", "urgent", nil)
			return err
		},
	},
}

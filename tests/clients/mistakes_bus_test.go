package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"
)

// namespace tries to make a namespace.
func namespace(name string, sku armservicebus.SKUName, capacity *int32) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		poller, err := a.bus.NewNamespacesClient().BeginCreateOrUpdate(ctx, "rg", name, armservicebus.SBNamespace{
			Location: new("swedencentral"), SKU: &armservicebus.SBSKU{Name: &sku, Capacity: capacity},
		}, nil)
		return ended(ctx, poller, err)
	}
}

// queue tries to make a queue.
func queue(name string, properties armservicebus.SBQueueProperties) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.bus.NewQueuesClient().CreateOrUpdate(ctx, "rg", "onedoor-lives", name, armservicebus.SBQueue{Properties: &properties}, nil)
		return err
	}
}

var busMistakes = map[string]mistake{
	"bus: name ends in -sb": {
		send:   namespace("onedoor-sb", armservicebus.SKUNameStandard, nil),
		status: 400, code: "BadRequest", target: "name", says: []string{`got "onedoor-sb"`, "want one that does not end in -sb or -mgmt, which Service Bus keeps for itself"},
	},
	"bus: three units": {
		send:   namespace("onedoor-three", armservicebus.SKUNamePremium, new(int32(3))),
		status: 400, code: "BadRequest", target: "sku.capacity", says: []string{"got 3", "want 1, 2, 4, 8 or 16 for each of its 1 partitions"},
	},
	"bus: Standard turned Premium": {
		after: []string{busLife}, send: namespace("onedoor-lives", armservicebus.SKUNamePremium, new(int32(1))),
		status: 400, code: "BadRequest", target: "sku", says: []string{`got "Premium"`, `want "Standard", because a namespace does not change to or from Premium in place`},
	},
	"bus: lock of six minutes": {
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{LockDuration: new("PT6M")}),
		status: 400, code: "MessagingGatewayBadRequest", target: "lockDuration", says: []string{`got "PT6M"`, "want more than nothing and at most '5' minutes"},
	},
	"bus: memory of ten seconds": {
		status: 400, code: "MessagingGatewayBadRequest", target: "duplicateDetectionHistoryTimeWindow", says: []string{`got "PT10S"`, "want PT20S..P7D"},
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{
			RequiresDuplicateDetection: new(true), DuplicateDetectionHistoryTimeWindow: new("PT10S"),
		})},
	"bus: size off the list": {
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{MaxSizeInMegabytes: new(int32(3000))}),
		status: 400, code: "MessagingGatewayBadRequest", target: "maxSizeInMegabytes", says: []string{"got 3000", "want one of the following values"},
	},
	"bus: large messages in Standard": {
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{MaxMessageSizeInKilobytes: new(int64(2048))}),
		status: 400, code: "MessagingGatewayBadRequest", target: "maxMessageSizeInKilobytes", says: []string{"got 2048", "want nothing, because only Premium takes messages above 256 KB"},
	},
	"bus: forward to nowhere": {
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{ForwardTo: new("nowhere")}),
		status: 400, code: "MessagingGatewayBadRequest", target: "forwardTo", says: []string{`got "nowhere"`, "want an existing queue or topic of the namespace"},
	},
	"bus: no deliveries": {
		after: []string{busLife}, send: queue("jobs", armservicebus.SBQueueProperties{MaxDeliveryCount: new(int32(0))}),
		status: 400, code: "MessagingGatewayBadRequest", target: "maxDeliveryCount", says: []string{"got 0", "want 1 or more, because a message is delivered before it is a dead letter"},
	},
	"bus: name that begins with a dot": {
		after: []string{busLife}, send: queue(".jobs", armservicebus.SBQueueProperties{}),
		status: 400, code: "MessagingGatewayBadRequest", target: "name", says: []string{`got ".jobs"`, "want letters, digits and . _ - ~ /, with a letter or digit at both ends"},
	},
	"bus: sessions on a queue that had": {
		after: []string{busLife, busLife + "/queues/jobs"}, send: queue("jobs", armservicebus.SBQueueProperties{RequiresSession: new(true)}),
		status: 400, code: "MessagingGatewayBadRequest", target: "requiresSession", says: []string{"got true", "want false, which it was made with"},
	},
	"bus: rules of the network in Standard": {
		status: 400, code: "BadRequest", target: "virtualNetworkRules", says: []string{"got 1 networks in tier Standard", "want none below Premium"},
		after: []string{busLife}, send: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewNamespacesClient().CreateOrUpdateNetworkRuleSet(ctx, "rg", "onedoor-lives", armservicebus.NetworkRuleSet{Properties: &armservicebus.NetworkRuleSetProperties{
				DefaultAction:       new(armservicebus.DefaultActionDeny),
				VirtualNetworkRules: []*armservicebus.NWRuleSetVirtualNetworkRules{{Subnet: &armservicebus.Subnet{ID: new("/subscriptions/" + subscription + "/resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub/subnets/a")}}},
			}}, nil)
			return err
		}},
	"bus: closed to all by no rule": {
		status: 400, code: "InvalidNetworkRuleSetUpdate", target: "defaultAction", says: []string{"got Deny with zero IPRule and VirtualNetworkRules", "want some rule, or publicNetworkAccess Disabled in the same write, because this would render"},
		after: []string{busLife}, send: func(ctx context.Context, a *azure) error {
			_, err := a.bus.NewNamespacesClient().CreateOrUpdateNetworkRuleSet(ctx, "rg", "onedoor-lives", armservicebus.NetworkRuleSet{Properties: &armservicebus.NetworkRuleSetProperties{
				DefaultAction: new(armservicebus.DefaultActionDeny),
			}}, nil)
			return err
		}},
}

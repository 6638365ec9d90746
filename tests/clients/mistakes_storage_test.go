package clients

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

// account tries to make an account of Storage.
func account(name string, kind armstorage.Kind, sku armstorage.SKUName, properties *armstorage.AccountPropertiesCreateParameters) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		poller, err := a.storage.NewAccountsClient().BeginCreate(ctx, "rg", name, armstorage.AccountCreateParameters{
			Location: new("swedencentral"), Kind: &kind, SKU: &armstorage.SKU{Name: &sku}, Properties: properties,
		}, nil)
		return ended(ctx, poller, err)
	}
}

// container tries to make a container.
func container(name string, properties armstorage.ContainerProperties) func(context.Context, *azure) error {
	return func(ctx context.Context, a *azure) error {
		_, err := a.storage.NewBlobContainersClient().Create(ctx, "rg", "onedoorlives", name, armstorage.BlobContainer{ContainerProperties: &properties}, nil)
		return err
	}
}

var storageMistakes = map[string]mistake{
	"storage: kind and sku apart": {
		send:   account("onedoor", armstorage.KindBlockBlobStorage, armstorage.SKUNameStandardLRS, nil),
		status: 400, code: "InvalidValuesForRequestParameters", target: "sku", says: []string{"got BlockBlobStorage with Standard_LRS", "want BlockBlobStorage with one of Premium_LRS, Premium_ZRS"},
	},
	"storage: capital in a name": {
		send:   account("oneDoor", armstorage.KindStorageV2, armstorage.SKUNameStandardLRS, nil),
		status: 400, code: "InvalidResourceName", target: "name", says: []string{`got "oneDoor"`, "want a match of ^[a-z0-9]+$"},
	},
	"storage: another performance": {
		after: []string{accountLife}, send: account("onedoorlives", armstorage.KindStorageV2, armstorage.SKUNamePremiumLRS, nil),
		status: 400, code: "AccountPropertyCannotBeUpdated", target: "sku.name", says: []string{"got Premium_LRS", "want Standard_..., because an account keeps its performance"},
	},
	"storage: hierarchy added later": {
		after: []string{accountLife}, send: account("onedoorlives", armstorage.KindStorageV2, armstorage.SKUNameStandardZRS, &armstorage.AccountPropertiesCreateParameters{IsHnsEnabled: new(true)}),
		status: 400, code: "AccountPropertyCannotBeUpdated", target: "isHnsEnabled", says: []string{"got true", "want nothing said of it, which it was made with"},
	},
	"storage: private address let in": {
		send:   account("onedoor", armstorage.KindStorageV2, armstorage.SKUNameStandardLRS, &armstorage.AccountPropertiesCreateParameters{NetworkRuleSet: &armstorage.NetworkRuleSet{DefaultAction: new(armstorage.DefaultActionDeny), IPRules: []*armstorage.IPRule{{IPAddressOrRange: new("10.0.0.0/8")}}}}),
		status: 400, code: "InvalidValuesForRequestParameters", target: "networkAcls.ipRules[0]", says: []string{`got "10.0.0.0/8"`, "want a public IPv4 address, or a block of them up to /30"},
	},
	"storage: name of another group's": {
		after: []string{accountLife}, first: otherGroup, send: func(ctx context.Context, a *azure) error {
			poller, err := a.storage.NewAccountsClient().BeginCreate(ctx, "other", "onedoorlives", armstorage.AccountCreateParameters{
				Location: new("swedencentral"), Kind: new(armstorage.KindStorageV2), SKU: &armstorage.SKU{Name: new(armstorage.SKUNameStandardLRS)},
			}, nil)
			return ended(ctx, poller, err)
		},
		status: 409, code: "StorageAccountInAnotherResourceGroup", target: "name", says: []string{"want one that no account in the world has, because it becomes a name in DNS"},
	},
	"storage: name with two dashes": {
		after: []string{accountLife}, send: container("my--jobs", armstorage.ContainerProperties{}),
		status: 400, code: "InvalidResourceName", target: "name", says: []string{`got "my--jobs"`, "want a match of ^(\\$root|\\$web|\\$logs|[a-z0-9]+(-[a-z0-9]+)*)$"},
	},
	"storage: container for everybody": {
		after: []string{accountLife}, first: forbidPublicAccess, send: container("public", armstorage.ContainerProperties{PublicAccess: new(armstorage.PublicAccessBlob)}),
		status: 409, code: "PublicAccessNotPermitted", target: "publicAccess", says: []string{`got "Blob"`, "want None, unless the account has allowBlobPublicAccess true"},
	},
	"storage: lifecycle of another name": {
		status: 404, code: "HttpResourceNotFound", target: "name", says: []string{`got "mine"`, `want "default", the only policy of an account`},
		after: []string{accountLife}, send: func(ctx context.Context, a *azure) error {
			_, err := a.storage.NewManagementPoliciesClient().CreateOrUpdate(ctx, "rg", "onedoorlives", "mine", lifecycle(7), nil)
			return err
		}},
	"storage: days without tracking": {
		status: 400, code: "MissingLastAccessTimeBasedTrackingPolicy", target: "policy.rules[0]", says: []string{"got delete by the last access", "want lastAccessTimeTrackingPolicy.enable true on the blob service"},
		after: []string{accountLife}, send: func(ctx context.Context, a *azure) error {
			policy := lifecycle(7)
			policy.Properties.Policy.Rules[0].Definition.Actions.BaseBlob.Delete = &armstorage.DateAfterModification{DaysAfterLastAccessTimeGreaterThan: new(float32(7))}
			_, err := a.storage.NewManagementPoliciesClient().CreateOrUpdate(ctx, "rg", "onedoorlives", armstorage.ManagementPolicyNameDefault, policy, nil)
			return err
		}},
	"storage: eleven prefixes": {
		status: 400, code: "InvalidRequestPropertyValue", target: "policy.rules[0].definition.filters.prefixMatch", says: []string{"got 11", "want at most 10 in a rule"},
		after: []string{accountLife}, send: func(ctx context.Context, a *azure) error {
			policy := lifecycle(7)
			for i := range 11 {
				policy.Properties.Policy.Rules[0].Definition.Filters.PrefixMatch = append(policy.Properties.Policy.Rules[0].Definition.Filters.PrefixMatch, new("jobs/"+strings.Repeat("a", i+1)))
			}
			_, err := a.storage.NewManagementPoliciesClient().CreateOrUpdate(ctx, "rg", "onedoorlives", armstorage.ManagementPolicyNameDefault, policy, nil)
			return err
		}},
}

// forbidPublicAccess lets nobody read blobs without a token.
func forbidPublicAccess(ctx context.Context, a *azure) error {
	_, err := a.storage.NewAccountsClient().Update(ctx, "rg", "onedoorlives", armstorage.AccountUpdateParameters{
		Properties: &armstorage.AccountPropertiesUpdateParameters{AllowBlobPublicAccess: new(false)},
	}, nil)
	return err
}

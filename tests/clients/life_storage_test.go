package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"

	"onedoor/sim/core"
)

const accountLife = "Microsoft.Storage/storageAccounts/onedoorlives"

var storageLives = []life{
	{
		of: accountLife, busy: core.AnotherOperationInProgress, made: true, changed: false,
		write: func(ctx context.Context, a *azure, again bool) error {
			accounts := a.storage.NewAccountsClient()
			if again {
				_, err := accounts.Update(ctx, "rg", "onedoorlives", armstorage.AccountUpdateParameters{
					Properties: &armstorage.AccountPropertiesUpdateParameters{AllowSharedKeyAccess: new(false)},
				}, nil)
				return err
			}
			poller, err := accounts.BeginCreate(ctx, "rg", "onedoorlives", armstorage.AccountCreateParameters{
				Location: new("swedencentral"), Kind: new(armstorage.KindStorageV2), SKU: &armstorage.SKU{Name: new(armstorage.SKUNameStandardZRS)},
				Properties: &armstorage.AccountPropertiesCreateParameters{AllowSharedKeyAccess: new(true)},
			}, nil)
			return ended(ctx, poller, err)
		},
		shows: shown(func(m armstorage.Account) *bool { return m.Properties.AllowSharedKeyAccess }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.storage.NewAccountsClient().Delete(ctx, "rg", "onedoorlives", nil)
			return err
		},
	},
	{
		of: accountLife + "/blobServices/default/containers/jobs", needs: []string{accountLife}, busy: core.AnotherOperationInProgress, made: "one", changed: "two",
		write: func(ctx context.Context, a *azure, again bool) error {
			container := armstorage.BlobContainer{ContainerProperties: &armstorage.ContainerProperties{Metadata: map[string]*string{"version": pick(again, "one", "two")}}}
			if again {
				_, err := a.storage.NewBlobContainersClient().Update(ctx, "rg", "onedoorlives", "jobs", container, nil)
				return err
			}
			_, err := a.storage.NewBlobContainersClient().Create(ctx, "rg", "onedoorlives", "jobs", container, nil)
			return err
		},
		shows: shown(func(m armstorage.BlobContainer) *string { return m.ContainerProperties.Metadata["version"] }),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.storage.NewBlobContainersClient().Delete(ctx, "rg", "onedoorlives", "jobs", nil)
			return err
		},
	},
	{
		of: accountLife + "/managementPolicies/default", needs: []string{accountLife}, busy: core.AnotherOperationInProgress, made: float32(7), changed: float32(30),
		write: func(ctx context.Context, a *azure, again bool) error {
			_, err := a.storage.NewManagementPoliciesClient().CreateOrUpdate(ctx, "rg", "onedoorlives", armstorage.ManagementPolicyNameDefault, lifecycle(*pick[float32](again, 7, 30)), nil)
			return err
		},
		shows: shown(func(m armstorage.ManagementPolicy) *float32 {
			return m.Properties.Policy.Rules[0].Definition.Actions.BaseBlob.Delete.DaysAfterModificationGreaterThan
		}),
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.storage.NewManagementPoliciesClient().Delete(ctx, "rg", "onedoorlives", armstorage.ManagementPolicyNameDefault, nil)
			return err
		},
	},
	{
		of: accountLife + "/tableServices/default/tables/jobs", needs: []string{accountLife}, busy: core.AnotherOperationInProgress, made: 0, changed: 1,
		write: func(ctx context.Context, a *azure, again bool) error {
			if !again {
				_, err := a.storage.NewTableClient().Create(ctx, "rg", "onedoorlives", "jobs", nil)
				return err
			}
			access := &armstorage.TableAccessPolicy{Permission: new("r")}
			_, err := a.storage.NewTableClient().Update(ctx, "rg", "onedoorlives", "jobs", &armstorage.TableClientUpdateOptions{Parameters: &armstorage.Table{
				TableProperties: &armstorage.TableProperties{SignedIdentifiers: []*armstorage.TableSignedIdentifier{{ID: new("readers"), AccessPolicy: access}}},
			}})
			return err
		},
		shows: func(model any) any {
			table, _ := model.(armstorage.Table)
			return len(table.TableProperties.SignedIdentifiers)
		},
		remove: func(ctx context.Context, a *azure) error {
			_, err := a.storage.NewTableClient().Delete(ctx, "rg", "onedoorlives", "jobs", nil)
			return err
		},
	},
}

// lifecycle is a policy with one rule that deletes block blobs after some days.
func lifecycle(days float32) armstorage.ManagementPolicy {
	return armstorage.ManagementPolicy{Properties: &armstorage.ManagementPolicyProperties{Policy: &armstorage.ManagementPolicySchema{Rules: []*armstorage.ManagementPolicyRule{{
		Name: new("old"), Type: new(armstorage.RuleTypeLifecycle), Enabled: new(true), Definition: &armstorage.ManagementPolicyDefinition{
			Actions: &armstorage.ManagementPolicyAction{BaseBlob: &armstorage.ManagementPolicyBaseBlob{Delete: &armstorage.DateAfterModification{DaysAfterModificationGreaterThan: &days}}},
			Filters: &armstorage.ManagementPolicyFilter{BlobTypes: []*string{new("blockBlob")}},
		},
	}}}}}
}

package azread

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerregistry/armcontainerregistry"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/keyvault/armkeyvault"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

// Deleted is a resource that keeps its name though it was deleted.
type Deleted struct {
	Name   string
	ID     string // that it had; "" if Azure does not say
	Region string
	Until  string // when Azure frees the name by itself, as in 2026-11-29; "" if it does not say
	Locked bool   // nobody can free it earlier
}

// date is a day.
func date(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// DeletedAccounts are the model accounts of the subscription that can still be
// recovered.
func (a *Azure) DeletedAccounts(ctx context.Context) ([]Deleted, error) {
	found, err := all(ctx, a.models.NewDeletedAccountsClient().NewListPager(nil), func(p armcognitiveservices.DeletedAccountsClientListResponse) []*armcognitiveservices.Account {
		return p.Value
	})
	var out []Deleted
	for _, account := range found {
		name, nameErr := text(account.Name, "name of a deleted account")
		if nameErr != nil {
			return nil, nameErr
		}
		d := Deleted{Name: name, ID: or(account.ID), Region: or(account.Location)}
		if account.Properties != nil {
			d.Until = or(account.Properties.ScheduledPurgeDate)
		}
		out = append(out, d)
	}
	return out, err
}

// DeletedGateways are the services of API Management that can still be recovered.
func (a *Azure) DeletedGateways(ctx context.Context) ([]Deleted, error) {
	found, err := all(ctx, a.gateways.NewDeletedServicesClient().NewListBySubscriptionPager(nil), func(p armapimanagement.DeletedServicesClientListBySubscriptionResponse) []*armapimanagement.DeletedServiceContract {
		return p.Value
	})
	var out []Deleted
	for _, service := range found {
		name, nameErr := text(service.Name, "name of a deleted service")
		if nameErr != nil {
			return nil, nameErr
		}
		d := Deleted{Name: name, Region: or(service.Location)}
		if service.Properties != nil {
			d.ID, d.Until = or(service.Properties.ServiceID), date(service.Properties.ScheduledPurgeDate)
		}
		out = append(out, d)
	}
	return out, err
}

// DeletedVaults are the key vaults that can still be recovered.
func (a *Azure) DeletedVaults(ctx context.Context) ([]Deleted, error) {
	found, err := all(ctx, a.vaults.NewListDeletedPager(nil), func(p armkeyvault.VaultsClientListDeletedResponse) []*armkeyvault.DeletedVault { return p.Value })
	var out []Deleted
	for _, vault := range found {
		name, nameErr := text(vault.Name, "name of a deleted vault")
		if nameErr != nil {
			return nil, nameErr
		}
		d := Deleted{Name: name}
		if p := vault.Properties; p != nil {
			d.ID, d.Region, d.Until, d.Locked = or(p.VaultID), or(p.Location), date(p.ScheduledPurgeDate), or(p.PurgeProtectionEnabled)
		}
		out = append(out, d)
	}
	return out, err
}

// NameFree asks whether a name that is unique in all of Azure can be taken, for an
// ARM type that has such names. why is Azure's reason for no.
func (a *Azure) NameFree(ctx context.Context, armType, name string) (free bool, why string, err error) {
	var (
		available       *bool
		reason, message string
	)
	switch armType = strings.ToLower(armType); armType {
	case "microsoft.cognitiveservices/accounts":
		typ := "Microsoft.CognitiveServices/accounts"
		r, e := a.models.NewManagementClient().CheckDomainAvailability(ctx, armcognitiveservices.CheckDomainAvailabilityParameter{SubdomainName: &name, Type: &typ}, nil)
		available, reason, err = r.IsSubdomainAvailable, or(r.Reason), e
	case "microsoft.apimanagement/service":
		r, e := a.gateways.NewServiceClient().CheckNameAvailability(ctx, armapimanagement.ServiceCheckNameAvailabilityParameters{Name: &name}, nil)
		available, reason, message, err = r.NameAvailable, string(or(r.Reason)), or(r.Message), e
	case "microsoft.keyvault/vaults":
		typ := "Microsoft.KeyVault/vaults"
		r, e := a.vaults.CheckNameAvailability(ctx, armkeyvault.VaultCheckNameAvailabilityParameters{Name: &name, Type: &typ}, nil)
		available, reason, message, err = r.NameAvailable, string(or(r.Reason)), or(r.Message), e
	case "microsoft.storage/storageaccounts":
		typ := "Microsoft.Storage/storageAccounts"
		r, e := a.storage.CheckNameAvailability(ctx, armstorage.AccountCheckNameAvailabilityParameters{Name: &name, Type: &typ}, nil)
		available, reason, message, err = r.NameAvailable, string(or(r.Reason)), or(r.Message), e
	case "microsoft.servicebus/namespaces":
		r, e := a.buses.CheckNameAvailability(ctx, armservicebus.CheckNameAvailability{Name: &name}, nil)
		available, reason, message, err = r.NameAvailable, string(or(r.Reason)), or(r.Message), e
	case "microsoft.containerregistry/registries":
		r, e := a.registries.CheckNameAvailability(ctx, armcontainerregistry.RegistryNameCheckRequest{Name: &name}, nil)
		available, reason, message, err = r.NameAvailable, or(r.Reason), or(r.Message), e
	default:
		return false, "", fmt.Errorf("type %q has no names that are unique in all of Azure", armType)
	}
	if err != nil {
		return false, "", err
	}
	if available == nil {
		return false, "", missing("word on whether the name is available")
	}
	return *available, strings.TrimSpace(reason + " " + message), nil
}

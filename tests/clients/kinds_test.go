package clients

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
)

// kind is how a client reads one resource of a type, and the ids of those beside
// it. n are the segments of its id. A type whose client has no list leaves it out.
type kind struct {
	read func(ctx context.Context, a *azure, n []string) (any, error)
	list func(ctx context.Context, a *azure, n []string) ([]string, error)
	// everywhere says that the list shows the whole subscription.
	everywhere bool
}

const policyName = armapimanagement.PolicyIDNamePolicy

// kinds are the types of the clients, spelled as Azure does.
var kinds = map[string]kind{
	"Microsoft.ServiceBus/namespaces": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewNamespacesClient().Get(ctx, n[0], n[1], nil)
			return r.SBNamespace, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewNamespacesClient().NewListByResourceGroupPager(n[0], nil))
		},
	},
	"Microsoft.ServiceBus/namespaces/networkRuleSets": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewNamespacesClient().GetNetworkRuleSet(ctx, n[0], n[1], nil)
			return r.NetworkRuleSet, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewNamespacesClient().NewListNetworkRuleSetsPager(n[0], n[1], nil))
		},
	},
	"Microsoft.ServiceBus/namespaces/queues": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewQueuesClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.SBQueue, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewQueuesClient().NewListByNamespacePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ServiceBus/namespaces/topics": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewTopicsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.SBTopic, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewTopicsClient().NewListByNamespacePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ServiceBus/namespaces/topics/subscriptions": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewSubscriptionsClient().Get(ctx, n[0], n[1], n[2], n[3], nil)
			return r.SBSubscription, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewSubscriptionsClient().NewListByTopicPager(n[0], n[1], n[2], nil))
		},
	},
	"Microsoft.ServiceBus/namespaces/topics/subscriptions/rules": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.bus.NewRulesClient().Get(ctx, n[0], n[1], n[2], n[3], n[4], nil)
			return r.Rule, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.bus.NewRulesClient().NewListBySubscriptionsPager(n[0], n[1], n[2], n[3], nil))
		},
	},

	"Microsoft.Storage/storageAccounts": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewAccountsClient().GetProperties(ctx, n[0], n[1], nil)
			return r.Account, err
		},
		list: func(ctx context.Context, a *azure, _ []string) ([]string, error) {
			return ids(ctx, a.storage.NewAccountsClient().NewListPager(nil))
		},
		everywhere: true,
	},
	"Microsoft.Storage/storageAccounts/blobServices": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewBlobServicesClient().GetServiceProperties(ctx, n[0], n[1], nil)
			return r.BlobServiceProperties, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.storage.NewBlobServicesClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.Storage/storageAccounts/blobServices/containers": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewBlobContainersClient().Get(ctx, n[0], n[1], n[3], nil)
			return r.BlobContainer, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.storage.NewBlobContainersClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.Storage/storageAccounts/managementPolicies": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewManagementPoliciesClient().Get(ctx, n[0], n[1], armstorage.ManagementPolicyName(n[2]), nil)
			return r.ManagementPolicy, err
		},
	},
	"Microsoft.Storage/storageAccounts/tableServices": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewTableServicesClient().GetServiceProperties(ctx, n[0], n[1], nil)
			return r.TableServiceProperties, err
		},
	},
	"Microsoft.Storage/storageAccounts/tableServices/tables": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.storage.NewTableClient().Get(ctx, n[0], n[1], n[3], nil)
			return r.Table, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.storage.NewTableClient().NewListPager(n[0], n[1], nil))
		},
	},

	"Microsoft.Network/virtualNetworks": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewVirtualNetworksClient().Get(ctx, n[0], n[1], nil)
			return r.VirtualNetwork, err
		},
		list: func(ctx context.Context, a *azure, _ []string) ([]string, error) {
			return ids(ctx, a.network.NewVirtualNetworksClient().NewListAllPager(nil))
		},
		everywhere: true,
	},
	"Microsoft.Network/virtualNetworks/subnets": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewSubnetsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.Subnet, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewSubnetsClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.Network/virtualNetworks/virtualNetworkPeerings": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewVirtualNetworkPeeringsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.VirtualNetworkPeering, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewVirtualNetworkPeeringsClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.Network/networkSecurityGroups": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewSecurityGroupsClient().Get(ctx, n[0], n[1], nil)
			return r.SecurityGroup, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewSecurityGroupsClient().NewListPager(n[0], nil))
		},
	},
	"Microsoft.Network/natGateways": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewNatGatewaysClient().Get(ctx, n[0], n[1], nil)
			return r.NatGateway, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewNatGatewaysClient().NewListPager(n[0], nil))
		},
	},
	"Microsoft.Network/publicIPAddresses": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewPublicIPAddressesClient().Get(ctx, n[0], n[1], nil)
			return r.PublicIPAddress, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewPublicIPAddressesClient().NewListPager(n[0], nil))
		},
	},
	"Microsoft.Network/privateEndpoints": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewPrivateEndpointsClient().Get(ctx, n[0], n[1], nil)
			return r.PrivateEndpoint, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewPrivateEndpointsClient().NewListPager(n[0], nil))
		},
	},
	"Microsoft.Network/privateEndpoints/privateDnsZoneGroups": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.network.NewPrivateDNSZoneGroupsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.PrivateDNSZoneGroup, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.network.NewPrivateDNSZoneGroupsClient().NewListPager(n[1], n[0], nil))
		},
	},

	"Microsoft.ManagedIdentity/userAssignedIdentities": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.msi.NewUserAssignedIdentitiesClient().Get(ctx, n[0], n[1], nil)
			return r.Identity, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.msi.NewUserAssignedIdentitiesClient().NewListByResourceGroupPager(n[0], nil))
		},
	},
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.msi.NewFederatedIdentityCredentialsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.FederatedIdentityCredential, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.msi.NewFederatedIdentityCredentialsClient().NewListPager(n[0], n[1], nil))
		},
	},

	"Microsoft.Authorization/roleAssignments": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.roles.Get(ctx, n[0], n[1], nil)
			return r.RoleAssignment, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.roles.NewListForScopePager(n[0], nil))
		},
	},
	"Microsoft.Authorization/roleDefinitions": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.custom.Get(ctx, n[0], n[1], nil)
			return r.RoleDefinition, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.custom.NewListPager(n[0], nil))
		},
	},

	"Microsoft.CognitiveServices/accounts": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.models.NewAccountsClient().Get(ctx, n[0], n[1], nil)
			return r.Account, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.models.NewAccountsClient().NewListByResourceGroupPager(n[0], nil))
		},
	},
	"Microsoft.CognitiveServices/accounts/deployments": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.models.NewDeploymentsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.Deployment, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.models.NewDeploymentsClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.CognitiveServices/accounts/raiPolicies": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.models.NewRaiPoliciesClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.RaiPolicy, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.models.NewRaiPoliciesClient().NewListPager(n[0], n[1], nil))
		},
	},

	"Microsoft.ContainerService/managedClusters": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.aks.NewManagedClustersClient().Get(ctx, n[0], n[1], nil)
			return r.ManagedCluster, err
		},
		list: func(ctx context.Context, a *azure, _ []string) ([]string, error) {
			return ids(ctx, a.aks.NewManagedClustersClient().NewListPager(nil))
		},
		everywhere: true,
	},
	"Microsoft.ContainerService/managedClusters/agentPools": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.aks.NewAgentPoolsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.AgentPool, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.aks.NewAgentPoolsClient().NewListPager(n[0], n[1], nil))
		},
	},
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.aks.NewMaintenanceConfigurationsClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.MaintenanceConfiguration, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.aks.NewMaintenanceConfigurationsClient().NewListByManagedClusterPager(n[0], n[1], nil))
		},
	},

	"Microsoft.ApiManagement/service": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewServiceClient().Get(ctx, n[0], n[1], nil)
			return r.ServiceResource, err
		},
		list: func(ctx context.Context, a *azure, _ []string) ([]string, error) {
			return ids(ctx, a.gateway.NewServiceClient().NewListPager(nil))
		},
		everywhere: true,
	},
	"Microsoft.ApiManagement/service/apis": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewAPIClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.APIContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewAPIClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/apis/operations": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewAPIOperationClient().Get(ctx, n[0], n[1], n[2], n[3], nil)
			return r.OperationContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewAPIOperationClient().NewListByAPIPager(n[0], n[1], n[2], nil))
		},
	},
	"Microsoft.ApiManagement/service/apis/policies": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewAPIPolicyClient().Get(ctx, n[0], n[1], n[2], policyName, nil)
			return r.PolicyContract, err
		},
	},
	"Microsoft.ApiManagement/service/apis/operations/policies": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewAPIOperationPolicyClient().Get(ctx, n[0], n[1], n[2], n[3], policyName, nil)
			return r.PolicyContract, err
		},
	},
	"Microsoft.ApiManagement/service/apis/diagnostics": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewAPIDiagnosticClient().Get(ctx, n[0], n[1], n[2], n[3], nil)
			return r.DiagnosticContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewAPIDiagnosticClient().NewListByServicePager(n[0], n[1], n[2], nil))
		},
	},
	"Microsoft.ApiManagement/service/backends": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewBackendClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.BackendContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewBackendClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/groups": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewGroupClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.GroupContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewGroupClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/loggers": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewLoggerClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.LoggerContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewLoggerClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/namedValues": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewNamedValueClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.NamedValueContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewNamedValueClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/policyFragments": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewPolicyFragmentClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.PolicyFragmentContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewPolicyFragmentClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/products": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewProductClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.ProductContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewProductClient().NewListByServicePager(n[0], n[1], nil))
		},
	},
	"Microsoft.ApiManagement/service/products/apiLinks": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewProductAPILinkClient().Get(ctx, n[0], n[1], n[2], n[3], nil)
			return r.ProductAPILinkContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewProductAPILinkClient().NewListByProductPager(n[0], n[1], n[2], nil))
		},
	},
	"Microsoft.ApiManagement/service/products/policies": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewProductPolicyClient().Get(ctx, n[0], n[1], n[2], policyName, nil)
			return r.PolicyContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewProductPolicyClient().NewListByProductPager(n[0], n[1], n[2], nil))
		},
	},
	"Microsoft.ApiManagement/service/subscriptions": {
		read: func(ctx context.Context, a *azure, n []string) (any, error) {
			r, err := a.gateway.NewSubscriptionClient().Get(ctx, n[0], n[1], n[2], nil)
			return r.SubscriptionContract, err
		},
		list: func(ctx context.Context, a *azure, n []string) ([]string, error) {
			return ids(ctx, a.gateway.NewSubscriptionClient().NewListPager(n[0], n[1], nil))
		},
	},
}

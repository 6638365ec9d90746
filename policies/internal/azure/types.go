// Package azure is what the policy packs of this project know of Azure: the
// tokens of resource types, which resource belongs to which, what a role may do
// and at which resources it holds. It judges nothing.
package azure

// Tokens of azure-native, without versions.
// https://www.pulumi.com/registry/packages/azure-native/api-docs/
const (
	Account       = "azure-native:cognitiveservices:Account"
	Deployment    = "azure-native:cognitiveservices:Deployment"
	ContentFilter = "azure-native:cognitiveservices:RaiPolicy"

	RoleAssignment = "azure-native:authorization:RoleAssignment"
	RoleDefinition = "azure-native:authorization:RoleDefinition"
	Identity       = "azure-native:managedidentity:UserAssignedIdentity"
	Federation     = "azure-native:managedidentity:FederatedIdentityCredential"

	Gateway             = "azure-native:apimanagement:ApiManagementService"
	API                 = "azure-native:apimanagement:Api"
	APIOperation        = "azure-native:apimanagement:ApiOperation"
	APIPolicy           = "azure-native:apimanagement:ApiPolicy"
	APIOperationPolicy  = "azure-native:apimanagement:ApiOperationPolicy"
	APIDiagnostic       = "azure-native:apimanagement:ApiDiagnostic"
	GlobalPolicy        = "azure-native:apimanagement:Policy"
	ProductPolicy       = "azure-native:apimanagement:ProductPolicy"
	PolicyFragment      = "azure-native:apimanagement:PolicyFragment"
	GatewayDiagnostic   = "azure-native:apimanagement:Diagnostic"
	GatewaySubscription = "azure-native:apimanagement:Subscription"
	NamedValue          = "azure-native:apimanagement:NamedValue"

	Bus           = "azure-native:servicebus:Namespace"
	BusAuthRule   = "azure-native:servicebus:NamespaceAuthorizationRule"
	BusQueueRule  = "azure-native:servicebus:QueueAuthorizationRule"
	BusTopicRule  = "azure-native:servicebus:TopicAuthorizationRule"
	BusQueue      = "azure-native:servicebus:Queue"
	Storage       = "azure-native:storage:StorageAccount"
	BlobContainer = "azure-native:storage:BlobContainer"
	BlobService   = "azure-native:storage:BlobServiceProperties"
	Lifecycle     = "azure-native:storage:ManagementPolicy"
	Vault         = "azure-native:keyvault:Vault"
	Registry      = "azure-native:containerregistry:Registry"
	Cluster       = "azure-native:containerservice:ManagedCluster"
	Pool          = "azure-native:containerservice:AgentPool"
	Diagnostics   = "azure-native:insights:DiagnosticSetting"

	MetricAlert      = "azure-native:insights:MetricAlert"
	QueryAlert       = "azure-native:insights:ScheduledQueryRule"
	ActivityAlert    = "azure-native:insights:ActivityLogAlert"
	AnomalyAlert     = "azure-native:alertsmanagement:SmartDetectorAlertRule"
	PrometheusAlerts = "azure-native:alertsmanagement:PrometheusRuleGroup"

	Subnet          = "azure-native:network:Subnet"
	VirtualNetwork  = "azure-native:network:VirtualNetwork"
	SecurityGroup   = "azure-native:network:NetworkSecurityGroup"
	SecurityRule    = "azure-native:network:SecurityRule"
	PrivateEndpoint = "azure-native:network:PrivateEndpoint"
	EndpointDNS     = "azure-native:network:PrivateDnsZoneGroup"

	ResourceGroup = "azure-native:resources:ResourceGroup"
	Patch         = "armpatch:index:Patch"
	PulumiStack   = "pulumi:pulumi:Stack"
)

// armTypes are the ARM types of what ids are compared with.
var armTypes = map[string]string{
	Account: "Microsoft.CognitiveServices/accounts", Gateway: "Microsoft.ApiManagement/service", Bus: "Microsoft.ServiceBus/namespaces",
	Storage: "Microsoft.Storage/storageAccounts", Vault: "Microsoft.KeyVault/vaults", Registry: "Microsoft.ContainerRegistry/registries",
	Cluster: "Microsoft.ContainerService/managedClusters", Subnet: "Microsoft.Network/virtualNetworks/subnets",
	SecurityGroup: "Microsoft.Network/networkSecurityGroups", PrivateEndpoint: "Microsoft.Network/privateEndpoints", Identity: "Microsoft.ManagedIdentity/userAssignedIdentities",
	BlobContainer: "Microsoft.Storage/storageAccounts/blobServices/containers",
}

// nameProperties are the inputs that hold a resource's own name in Azure.
var nameProperties = map[string]string{
	Account: "accountName", Gateway: "serviceName", Bus: "namespaceName", Storage: "accountName", Vault: "vaultName",
	Registry: "registryName", Cluster: "resourceName", Subnet: "subnetName", PrivateEndpoint: "privateEndpointName",
	SecurityGroup: "networkSecurityGroupName", Identity: "resourceName", BlobContainer: "containerName", Pool: "agentPoolName", Deployment: "deploymentName",
	ResourceGroup: "resourceGroupName", BusQueue: "queueName", ContentFilter: "raiPolicyName", API: "apiId", APIOperation: "operationId",
}

package preflight

import "onedoor/internal/finding"

// The codes of preflight. A number is never given to another thing.
const (
	SubscriptionUsable = "PRE-SUB-01"
	ProviderRegistered = "PRE-PROV-01"
	ModelOffered       = "PRE-MODEL-01"
	ModelQuota         = "PRE-QUOTA-01"
	CoresForAll        = "PRE-CORES-01"
	CoresForSurge      = "PRE-CORES-02"
	CoresForReplacing  = "PRE-CORES-03"
	SizeOffered        = "PRE-SIZE-01"
	ZonesOffered       = "PRE-ZONE-01"
	DeletedAccount     = "PRE-SOFT-01"
	DeletedGateway     = "PRE-SOFT-02"
	DeletedVault       = "PRE-SOFT-03"
	NameFree           = "PRE-NAME-01"
	OverlapsPeer       = "PRE-NET-01"
	ClusterOverlaps    = "PRE-NET-02"
	OverlapsSpoke      = "PRE-NET-03"
	RightToWrite       = "PRE-RIGHT-01"
	RightToAssign      = "PRE-RIGHT-02"
	ClusterReachable   = "PRE-REACH-01"
	TokenForAudience   = "PRE-TOKEN-01"
)

// Codes are all of them, each with its page.
var Codes = pages([]finding.Code{
	{
		ID: SubscriptionUsable, Severity: finding.Error, Title: "The subscription takes writes and belongs to the Entra directory of the plan",
		Reads:  "The subscription. Role Reader.",
		Why:    "A subscription that is disabled, past due or of another directory refuses every write, and vaults of another directory cannot be opened.",
		Remedy: "enable the subscription, or correct base.subscriptionId and base.tenantId",
		Source: "https://learn.microsoft.com/azure/cost-management-billing/manage/subscription-states",
	},
	{
		ID: ProviderRegistered, Severity: finding.Error, Title: "Every resource provider that the plan needs is registered",
		Reads:  "The registration of each provider, those that AKS uses for its nodes included. Role Reader.",
		Why:    "A write to a provider that is not registered ends with MissingSubscriptionRegistration in the middle of an update, and registering takes minutes.",
		Remedy: "register it with az provider register --namespace NAMESPACE --wait",
		Source: "https://learn.microsoft.com/azure/azure-resource-manager/management/resource-providers-and-types",
	},
	{
		ID: ModelOffered, Severity: finding.Error, Title: "Each region offers the models of the plan, in their version and SKU",
		Reads:  "The list of models of each region. Role Reader.",
		Why:    "Models, versions and batch SKUs differ from region to region and end with time; the deployment is refused only after its account was made.",
		Remedy: "choose another region, version or SKU in models.ALIAS.deployments or models.ALIAS.batch",
		Source: "https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/models-sold-directly-by-azure",
	},
	{
		ID: ModelQuota, Severity: finding.Error, Title: "The quota of each model has room for the plan's deployments, batch included",
		Reads:  "The usages of Cognitive Services of each region, and what the stack's own accounts hold already. Role Reader.",
		Why:    "Quota is counted per subscription, region, model and SKU, whoever uses it. Deployments beyond it end with InsufficientQuota; a batch deployment with too little fails its jobs with token_limit_exceeded.",
		Remedy: "lower the capacity in the stack's configuration, free some elsewhere, or ask for more quota",
		Source: "https://learn.microsoft.com/azure/ai-foundry/openai/quotas-limits",
	},
	{
		ID: CoresForAll, Severity: finding.Error, Title: "The quota of cores has room for every pool at its largest",
		Reads:  "The usages of Compute and the sizes of the region, and the nodes that the cluster has already. Role Reader.",
		Why:    "The autoscaler is told a maximum. Without quota for it, pods stay pending and nothing says why but the cluster's events. Spot nodes count towards a quota of their own.",
		Remedy: "ask for more cores of the family, or lower the pool's maxNodes",
		Source: "https://learn.microsoft.com/azure/virtual-machines/quotas",
	},
	{
		ID: CoresForSurge, Severity: finding.Warning, Title: "There are cores for the nodes that an upgrade adds",
		Reads:  "The same as for " + CoresForAll + ".",
		Why:    "An upgrade makes maxSurge nodes more before it drains the old ones. Pools are upgraded one after another, so the largest surge counts.",
		Remedy: "ask for more cores of the family, or lower maxNodes so that the surge fits",
		Source: "https://learn.microsoft.com/azure/aks/upgrade-aks-cluster",
	},
	{
		ID: CoresForReplacing, Severity: finding.Warning, Title: "There are cores for a second GPU pool beside the first",
		Reads:  "The same as for " + CoresForAll + ".",
		Why:    "The size and the MIG profile of a pool cannot change. A new pool has to stand before the old one goes, or the models are away for as long as it takes: twice the nodes.",
		Remedy: "ask for more cores of the family before the pool has to change, or plan for an interruption",
		Source: "https://learn.microsoft.com/azure/aks/manage-node-pools",
	},
	{
		ID: SizeOffered, Severity: finding.Error, Title: "The region offers every size of the plan to this subscription",
		Reads:  "The sizes of the region with their restrictions. Role Reader.",
		Why:    "GPU sizes exist in few regions, and Azure keeps them from many subscriptions until they ask.",
		Remedy: "choose another size or region, or ask support to lift the restriction",
		Source: "https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-sku-not-available",
	},
	{
		ID: ZonesOffered, Severity: finding.Error, Title: "Every size is there in the zones that its pool names",
		Reads:  "The same as for " + SizeOffered + ".",
		Why:    "A pool with a zone that lacks its size is refused, or stays short of nodes in that zone.",
		Remedy: "take the zone out of the pool's zones, or choose another size",
		Source: "https://learn.microsoft.com/azure/aks/availability-zones",
	},
	{
		ID: DeletedAccount, Severity: finding.Error, Title: "No deleted model account keeps a name of the plan",
		Reads:  "The deleted accounts of the subscription. Role Reader at the subscription.",
		Why:    "A deleted account keeps its name for 48 hours: making it again ends with FlagMustBeSetForRestore.",
		Remedy: "purge it with az cognitiveservices account purge, or raise base.generation to take new names",
		Source: "https://learn.microsoft.com/azure/ai-services/recover-purge-resources",
	},
	{
		ID: DeletedGateway, Severity: finding.Error, Title: "No deleted gateway keeps a name of the plan",
		Reads:  "The deleted services of API Management of the subscription. Role Reader at the subscription.",
		Why:    "A deleted service keeps its name for 48 hours: making it again ends with ServiceAlreadyExistsInSoftDeletedState.",
		Remedy: "purge it with az apim deletedservice purge, or raise base.generation to take new names",
		Source: "https://learn.microsoft.com/azure/api-management/soft-delete",
	},
	{
		ID: DeletedVault, Severity: finding.Error, Title: "No deleted vault keeps a name of the plan",
		Reads:  "The deleted vaults of the subscription. Role Reader at the subscription.",
		Why:    "A deleted vault keeps its name for up to 90 days, and with purge protection nobody can free it earlier.",
		Remedy: "recover it with az keyvault recover, or raise base.generation to take new names; the stack's own vaults always have purge protection",
		Source: "https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview",
	},
	{
		ID: NameFree, Severity: finding.Error, Title: "Every name that is unique in all of Azure is free, or the stack's own",
		Reads:  "Whether the resource exists, and Azure's check of the name. Role Reader; the check is an action that it includes.",
		Why:    "Model accounts, gateways, vaults, registries, queues and storage accounts share one space of names with all customers.",
		Remedy: "raise base.generation: names of a new generation are other ones",
		Source: "https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules",
	},
	{
		ID: OverlapsPeer, Severity: finding.Error, Title: "The network shares no addresses with those that it is peered with",
		Reads:  "The networks that the plan peers with, also in other subscriptions. Role Reader at each.",
		Why:    "Azure refuses to peer networks whose addresses overlap.",
		Remedy: "choose another network.addressSpace; a network that exists can only be replaced",
		Source: "https://learn.microsoft.com/azure/virtual-network/virtual-network-peering-overview",
	},
	{
		ID: ClusterOverlaps, Severity: finding.Warning, Title: "Pods and services of the cluster use no addresses of a peer",
		Reads:  "The same as for " + OverlapsPeer + ".",
		Why:    "The addresses of pods and services are used inside the cluster alone and Azure refuses nothing, but no pod can reach what has the same address in a peer.",
		Remedy: "choose another cluster.podCidr or cluster.serviceCidr before the cluster is made",
		Source: "https://learn.microsoft.com/azure/aks/azure-cni-overlay",
	},
	{
		ID: OverlapsSpoke, Severity: finding.Warning, Title: "The network shares no addresses with other networks of a hub",
		Reads:  "The peerings of the networks that the plan peers with. Role Reader at each.",
		Why:    "Networks that meet in a hub are not peered with one another, so Azure refuses nothing; the hub's firewall and gateway then route to one of the two.",
		Remedy: "choose another network.addressSpace, or make sure that the hub never routes between the two",
		Source: "https://learn.microsoft.com/azure/architecture/networking/architecture/hub-spoke",
	},
	{
		ID: RightToWrite, Severity: finding.Error, Title: "The caller may write every type of the plan at the subscription",
		Reads:  "The caller's permissions at the subscription. Everybody may read their own.",
		Why:    "A right that is missing ends an update with AuthorizationFailed where it stands.",
		Remedy: "give the caller Contributor at the subscription, and User Access Administrator for what begins with Microsoft.Authorization, or a custom role with the operations that are named",
		Source: "https://learn.microsoft.com/azure/role-based-access-control/role-definitions",
	},
	{
		ID: RightToAssign, Severity: finding.Error, Title: "The caller may assign roles, and define them",
		Reads:  "The same as for " + RightToWrite + ".",
		Why:    "Contributor does not include it, and without it nothing of the platform may call anything. Two of its roles are its own: one of the gateway, one of the control plane.",
		Remedy: "give the caller User Access Administrator at the subscription, for the time of the update; Role Based Access Control Administrator assigns roles and defines none",
		Source: "https://learn.microsoft.com/azure/role-based-access-control/role-assignments-steps",
	},
	{
		ID: ClusterReachable, Severity: finding.Error, Title: "The API server of the cluster answers where this runs",
		Reads:  "The cluster, its name in DNS, and a connection to port 443. Role Reader.",
		Why:    "The plan holds objects of the cluster. A private API server answers in its network alone; one with ranges answers those.",
		Remedy: "run from inside the network, as on the runner, or set cluster.inCluster to skip for the first update",
		Source: "https://learn.microsoft.com/azure/aks/private-clusters",
	},
	{
		ID: TokenForAudience, Severity: finding.Error, Title: "The directory knows every audience that tokens are asked for",
		Reads:  "A token for each audience, which is thrown away: models, storage, queues, vaults, the API server, and those of the platform's own doors.",
		Why:    "An audience that the directory does not know makes every caller of that door fail with AADSTS500011, whatever its rights.",
		Remedy: "register the application of the audience, with its identifier URI, and create its service principal in the directory",
		Source: "https://learn.microsoft.com/entra/identity-platform/reference-error-codes",
	},
})

// pages says where each code is explained.
func pages(codes []finding.Code) []finding.Code {
	for i := range codes {
		codes[i].Page = "docs/preflight/" + codes[i].ID + ".md"
	}
	return codes
}

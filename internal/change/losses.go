package change

// losses is what goes with a resource of a kind and does not come back when it is
// made again, as a warning to whoever approves a replacement.
var losses = map[string]string{
	"apimanagement:ApiManagementService":   "the gateway, for 45 minutes and more; the keys of all tenants; its name for 48 hours unless it is purged",
	"apimanagement:Subscription":           "the tenant's keys",
	"cognitiveservices:Account":            "the account's deployments, its files and batch jobs, running ones included; its name until it is purged",
	"cognitiveservices:Deployment":         "the deployment's quota while others may take it; batch jobs that run on it",
	"containerregistry:Registry":           "every image",
	"containerservice:AgentPool":           "every pod on the pool's nodes, until others have room for it",
	"containerservice:ManagedCluster":      "the cluster with every pool and workload, and what they hold in memory; its addresses and its issuer",
	"core:Namespace":                       "every object in the namespace",
	"core:PersistentVolumeClaim":           "the volume's content, unless its class keeps it",
	"insights:Component":                   "the telemetry",
	"keyvault:Vault":                       "every secret, key and certificate, until it is recovered; its name until it is purged",
	"managedidentity:UserAssignedIdentity": "the principal: roles and credentials that others gave it",
	"network:PrivateEndpoint":              "connections through it, and its address",
	"network:PublicIPAddress":              "the address, which others may have allow-listed",
	"network:VirtualNetwork":               "every connection in the network; its peerings",
	"operationalinsights:Workspace":        "the logs; its name for 14 days unless it is purged",
	"ray.io:RayService":                    "the model servers, until new ones have loaded their weights",
	"resources:ResourceGroup":              "everything in the group",
	"servicebus:Namespace":                 "every message in its queues and topics",
	"servicebus:Queue":                     "every message in the queue, dead letters included",
	"servicebus:Subscription":              "every message in the subscription, dead letters included",
	"servicebus:Topic":                     "every message in the topic's subscriptions",
	"storage:BlobContainer":                "every blob in the container",
	"storage:StorageAccount":               "every blob and table of the account",
	"storage:Table":                        "every row of the table",
	"index:RandomBytes":                    "the value: what it signed no longer verifies",
	"index:RandomPassword":                 "the value",
}

package change

import "slices"

// loss is what goes with a resource of a kind and does not come back when it is made
// again, as a warning to whoever approves a replacement.
type loss struct{ kind, loses string }

// losses are sorted by how much goes with them: the first screen of a report names only
// the first few.
var losses = []loss{
	{"resources:ResourceGroup", "everything in the group"},
	{"network:VirtualNetwork", "every connection in the network; its peerings"},
	{"containerservice:ManagedCluster", "the cluster with every pool and workload, and what they hold in memory; its addresses and its issuer"},
	{"apimanagement:ApiManagementService", "the gateway, for 45 minutes and more; the keys of all tenants; its name for 48 hours unless it is purged"},
	{"keyvault:Vault", "every secret, key and certificate, until it is recovered; its name until it is purged"},
	{"storage:StorageAccount", "every blob and table of the account"},
	{"cognitiveservices:Account", "the account's deployments, its files and batch jobs, running ones included; its name until it is purged"},
	{"servicebus:Namespace", "every message in its queues and topics"},
	{"operationalinsights:Workspace", "the logs; its name for 14 days unless it is purged"},
	{"containerregistry:Registry", "every image"},
	{"storage:BlobContainer", "every blob in the container"},
	{"storage:Table", "every row of the table"},
	{"servicebus:Queue", "every message in the queue, dead letters included"},
	{"servicebus:Topic", "every message in the topic's subscriptions"},
	{"servicebus:Subscription", "every message in the subscription, dead letters included"},
	{"managedidentity:UserAssignedIdentity", "the principal: roles and credentials that others gave it"},
	{"apimanagement:Subscription", "the tenant's keys"},
	{"core:PersistentVolumeClaim", "the volume's content, unless its class keeps it"},
	{"core:Namespace", "every object in the namespace"},
	{"containerservice:AgentPool", "every pod on the pool's nodes, until others have room for it"},
	{"cognitiveservices:Deployment", "the deployment's quota while others may take it; batch jobs that run on it"},
	{"ray.io:RayService", "the model servers, until new ones have loaded their weights"},
	{"network:PublicIPAddress", "the address, which others may have allow-listed"},
	{"network:PrivateEndpoint", "connections through it, and its address"},
	{"insights:Component", "the telemetry"},
	{"index:RandomBytes", "the value: what it signed no longer verifies"},
	{"index:RandomPassword", "the value"},
}

// rank is the place of a kind in losses, beyond all of them if it loses nothing.
func rank(kind string) int {
	if i := slices.IndexFunc(losses, func(l loss) bool { return l.kind == kind }); i >= 0 {
		return i
	}
	return len(losses)
}

// lossOf is what is lost with a resource of the kind, "" for nothing.
func lossOf(kind string) string {
	if i := rank(kind); i < len(losses) {
		return losses[i].loses
	}
	return ""
}

package graph

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/kube"
	"onedoor/internal/reach"
)

// boxes are the parts of the platform that the plan has.
func (p plan) boxes(m reach.Matrix) []Box {
	var out []Box
	add := func(planned bool, b Box) {
		if planned {
			out = append(out, b)
		}
	}
	add(true, Box{ID: Callers, Role: Caller, Title: "Tenants", Facts: p.tenants()})
	service, gateway := p.first("apimanagement:ApiManagementService")
	add(gateway, Box{ID: Gateway, Role: Door, Title: "Gateway", Facts: p.gateway(service)})
	controlPlane := p.deployments(kube.Batch)
	add(len(controlPlane) > 0, Box{ID: ControlPlane, Role: Door, Title: "Control plane", Facts: append(
		replicas(controlPlane), "takes work for later: to a queue, or as a batch job")})
	bus, queued := p.first("servicebus:Namespace")
	add(queued, Box{ID: Queues, Role: Part, Title: "Queues", Facts: []string{
		"Service Bus " + text(bus, "sku", "name"), names(p.kinds["servicebus:Queue"], func(r reach.Resource) string { return text(r, "queueName") }),
	}})
	workers := slices.Concat(p.kinds["keda.sh:ScaledObject"], p.kinds["keda.sh:ScaledJob"])
	add(len(workers) > 0, Box{ID: Workers, Role: Part, Title: "Workers", Facts: p.workers(workers)})
	edge := p.deployments(kube.Edge)
	add(len(edge) > 0, Box{ID: Edge, Role: Door, Title: "Serving edge", Facts: append(replicas(edge), "checks the gateway's token")})
	sync, batch := p.accounts()
	add(len(sync) > 0, Box{ID: Accounts, Role: Target, Title: "Model accounts", Facts: accountFacts(sync), Proof: shut(m, isSync)})
	served := p.kinds["ray.io:RayService"]
	add(len(served) > 0, Box{ID: Servers, Role: Target, Title: "Model servers", Facts: []string{
		"Ray and vLLM: " + names(served, func(r reach.Resource) string { return text(r, "metadata", "name") }), p.pools(),
	}, Proof: shut(m, func(to string) bool { return to == "model servers" })})
	add(len(batch) > 0, Box{ID: BatchAccount, Role: Target, Title: "Batch account", Facts: accountFacts(batch), Proof: shut(m, func(to string) bool { return to == "batch account" })})
	return out
}

// tenants are who may call, by plan, and where from.
func (p plan) tenants() []string {
	byPlan := map[string][]string{}
	for _, s := range p.kinds["apimanagement:Subscription"] {
		plan := strings.TrimPrefix(last(text(s, "scope")), "plan-")
		byPlan[plan] = append(byPlan[plan], text(s, "displayName"))
	}
	var out []string
	for _, plan := range sortedKeys(byPlan) {
		out = append(out, fmt.Sprintf("plan %s: %s", plan, strings.Join(byPlan[plan], ", ")))
	}
	if peers := p.kinds["network:VirtualNetworkPeering"]; len(peers) > 0 {
		out = append(out, "in peered networks: "+names(peers, func(r reach.Resource) string { return strings.TrimPrefix(name(r), "network-peer-") }))
	}
	if p.publicGateway() != "" {
		out = append(out, "on the internet")
	}
	return out
}

// publicGateway is the host name of a gateway on the internet, "" for one inside.
func (p plan) publicGateway() string {
	service, _ := p.first("apimanagement:ApiManagementService")
	if text(service, "virtualNetworkType") != "External" {
		return ""
	}
	return text(service, "serviceName") + ".azure-api.net"
}

func (p plan) gateway(service reach.Resource) []string {
	sku := fmt.Sprintf("API Management %s, %s", text(service, "sku", "name"), counted(number(service, "sku", "capacity"), "unit", "units"))
	if zones, _ := value(service, "zones").([]any); len(zones) > 1 {
		sku += fmt.Sprintf(" in %d zones", len(zones))
	}
	backends := p.kinds["apimanagement:Backend"]
	return []string{
		sku,
		fmt.Sprintf("%s, %s, %s", counted(p.n("apimanagement:Subscription"), "tenant", "tenants"), counted(p.n("apimanagement:Product"), "plan", "plans"), counted(len(backends), "back end", "back ends")),
		"limits and meters tokens by tenant",
	}
}

// replicas is how many pods a workload has.
func replicas(of []reach.Resource) []string {
	n := 0
	for _, r := range of {
		n += number(r, "spec", "replicas")
	}
	return []string{counted(n, "replica", "replicas")}
}

// workers is what empties the queues.
func (p plan) workers(scalers []reach.Resource) []string {
	most := 0
	for _, s := range scalers {
		most += number(s, "spec", "maxReplicaCount")
	}
	return []string{
		fmt.Sprintf("KEDA: 0 to %s", counted(most, "replica", "replicas")),
		"capped by the models' quota; no role on any model",
	}
}

// accounts are the deployments for calls and those for batch jobs, by account.
func (p plan) accounts() (sync, batch map[string][]reach.Resource) {
	sync, batch = map[string][]reach.Resource{}, map[string][]reach.Resource{}
	for _, account := range p.kinds["cognitiveservices:Account"] {
		for _, d := range p.kinds["cognitiveservices:Deployment"] {
			if text(d, "accountName") != text(account, "accountName") {
				continue
			}
			of := sync
			if strings.HasSuffix(text(d, "sku", "name"), "Batch") {
				of = batch
			}
			of[text(account, "location")] = append(of[text(account, "location")], d)
		}
	}
	return sync, batch
}

// accountFacts say which models are where.
func accountFacts(accounts map[string][]reach.Resource) []string {
	var out []string
	for _, region := range sortedKeys(accounts) {
		out = append(out, region+": "+names(accounts[region], func(r reach.Resource) string { return text(r, "properties", "model", "name") }))
	}
	return out
}

// pools are the GPUs of the cluster.
func (p plan) pools() string {
	var out []string
	for _, pool := range p.kinds["containerservice:AgentPool"] {
		taints, _ := value(pool, "nodeTaints").([]any)
		if !slices.Contains(taints, any("sku=gpu:NoSchedule")) {
			continue
		}
		out = append(out, fmt.Sprintf("%s, %d to %d nodes", text(pool, "agentPoolName"), number(pool, "minCount"), number(pool, "maxCount")))
	}
	return "GPUs: " + strings.Join(out, "; ")
}

func isSync(to string) bool { return strings.HasSuffix(to, " account") && to != "batch account" }

// shut says who alone gets to the destinations that match, as the matrix has it.
func shut(m reach.Matrix, match func(to string) bool) string {
	open, held := map[string]bool{}, map[string]bool{}
	for _, c := range m.Cells {
		switch {
		case !match(c.To):
		case c.State == reach.Closed:
			held[c.From] = true
		case c.State == reach.Absent:
		case c.State == reach.Unknown && strings.HasPrefix(c.From, "model servers"): // one another, in one Ray cluster
		default:
			open[c.From] = true
		}
	}
	if len(open) == 0 {
		return fmt.Sprintf("closed to all %d", len(held))
	}
	return fmt.Sprintf("from %s alone, closed to %d others", strings.Join(sortedKeys(open), ", "), len(held))
}

// walls are what refuses a way round the doors.
func (p plan) walls(m reach.Matrix) []Card {
	closed, planned := 0, 0
	for _, c := range m.Cells {
		if c.State != reach.Absent {
			planned++
		}
		if c.State == reach.Closed {
			closed++
		}
	}
	custom := names(p.kinds["authorization:RoleDefinition"], func(r reach.Resource) string { return strings.TrimPrefix(name(r), "identity-") })
	out := []Card{{"Policy packs", []string{"judge every preview and update, and stop it"}}}
	if n := p.n("authorization:PolicyAssignment"); n > 0 {
		out = append(out, Card{"Azure Policy", []string{counted(n, "assignment", "assignments"), "refuses models and batch SKUs elsewhere"}})
	}
	if n := p.n("authorization:RoleAssignment"); n > 0 {
		out = append(out, Card{"Roles", []string{fmt.Sprintf("%s for %s", counted(n, "assignment", "assignments"), counted(p.n("managedidentity:UserAssignedIdentity"), "identity", "identities")), "own roles: " + custom, "no keys of models"}})
	}
	if n := p.n("network:NetworkSecurityGroup"); n > 0 {
		out = append(out, Card{"Network", []string{counted(n, "security group", "security groups"), fmt.Sprintf("%d of %d connections closed", closed, planned)}})
	}
	if n := p.n("networking.k8s.io:NetworkPolicy", "cilium.io:CiliumNetworkPolicy"); n > 0 {
		out = append(out, Card{"Cluster", []string{counted(n, "network policy", "network policies"), counted(p.n("admissionregistration.k8s.io:ValidatingAdmissionPolicy"), "admission policy", "admission policies")}})
	}
	return out
}

// ground is what everything stands on.
func (p plan) ground(m reach.Matrix) []Card {
	var out []Card
	add := func(title string, planned bool, facts ...string) {
		if planned {
			out = append(out, Card{title, facts})
		}
	}
	vnet, made := p.first("network:VirtualNetwork")
	spaces, _ := value(vnet, "addressSpace", "addressPrefixes").([]any)
	add("Network", made || p.n("network:Subnet") > 0, strings.TrimSpace(fmt.Sprintln(spaces...)), counted(p.n("network:Subnet"), "subnet", "subnets"), counted(p.n("network:PrivateEndpoint"), "private endpoint", "private endpoints"))
	cluster, planned := p.first("containerservice:ManagedCluster")
	add("AKS cluster", planned, "Kubernetes "+text(cluster, "kubernetesVersion"), counted(p.n("containerservice:AgentPool")+1, "pool", "pools"), counted(p.n("core:Namespace"), "namespace", "namespaces"))
	_, planned = p.first("storage:StorageAccount")
	add("Storage", planned, counted(p.n("storage:BlobContainer"), "container", "containers"), "payloads, results, ledger, evidence", reached(m, "blob"))
	add("Vaults", p.n("keyvault:Vault") > 0, names(p.kinds["keyvault:Vault"], func(r reach.Resource) string { return strings.TrimPrefix(name(r), "vault-") }), "private, governed by roles")
	registry, planned := p.first("containerregistry:Registry")
	add("Registry", planned, text(registry, "sku", "name"), "the only source of images")
	alerts := p.n("insights:MetricAlert", "insights:ScheduledQueryRule", "insights:ActivityLogAlert", "alertsmanagement:SmartDetectorAlertRule")
	add("Observability", alerts > 0, counted(alerts, "alert", "alerts"), counted(p.n("insights:DiagnosticSetting"), "diagnostic setting", "diagnostic settings"))
	return out
}

// reached says from where a destination is reached.
func reached(m reach.Matrix, to string) string {
	n := 0
	for _, c := range m.Cells {
		if c.To == to && c.State != reach.Closed && c.State != reach.Absent {
			n++
		}
	}
	return fmt.Sprintf("reached from %d of %d places", n, len(m.From))
}

package core

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// nsgRules checks the rules of a security group: names (A029), priorities that
// differ (A028; their range is in the type data), ports and addresses (A030), service tags (A031).
func nsgRules(s State, r, _ *Resource) *Error {
	names, priorities := map[string]bool{}, map[string]string{}
	for i, item := range r.props("securityRules").list() {
		name := item.get("name").text()
		target := fmt.Sprintf("securityRules[%d]", i)
		what := fmt.Sprintf("rule %q of %s", name, r.ID)
		if name == "" && !item.get("name").unknown() {
			return refuse(InvalidRequestFormat, target, "rule "+strconv.Itoa(i)+" of "+r.ID, "no name", "a name", "name it")
		}
		if names[strings.ToLower(name)] && name != "" {
			return refuse(SecurityRuleConflict, target, what, "a second rule of this name", "unique names", "rename one")
		}
		names[strings.ToLower(name)] = true
		rule := item.get("properties")
		if err := rulePriority(rule, what, target, name, priorities); err != nil {
			return err
		}
		for _, side := range []string{"source", "destination"} {
			if err := ruleAddresses(s, r, rule, what, side); err != nil {
				return err
			}
			if err := rulePorts(rule, what, side); err != nil {
				return err
			}
		}
	}
	return nil
}

func rulePriority(rule value, what, target, name string, taken map[string]string) *Error {
	n, ok := rule.get("priority").number()
	if !ok {
		return nil
	}
	direction := rule.get("direction").text()
	if direction == "" {
		return nil
	}
	key := fmt.Sprintf("%s/%d", strings.ToLower(direction), int(n))
	if other, ok := taken[key]; ok {
		return refuse(SecurityRuleConflict, target+".priority", "priority of "+what, strconv.Itoa(int(n)),
			fmt.Sprintf("one that no other %s rule has; %q has it", direction, other), "change one of them")
	}
	taken[key] = name
	return nil
}

func ruleAddresses(s State, r *Resource, rule value, what, side string) *Error {
	one, many := rule.get(side+"AddressPrefix"), rule.get(side+"AddressPrefixes")
	groups := rule.get(side + "ApplicationSecurityGroups")
	if one.unknown() || many.unknown() || groups.unknown() {
		return nil
	}
	field := side + "AddressPrefix"
	if one.text() == "" && len(many.list()) == 0 && len(groups.list()) == 0 {
		return refuse(SecurityRuleInvalidAddressPrefix, field, field+" of "+what, "nothing", `an address, a block, a service tag or "*"`, "set it")
	}
	if t := one.text(); t != "" && !isAddress(t) && t != "*" && !isServiceTag(t) {
		return refuse(SecurityRuleInvalidAddressPrefix, field, field+" of "+what, strconv.Quote(t),
			`an address, a block, "*" or a known service tag, nearest is `+closest(t, serviceTags), "correct it")
	}
	for _, t := range many.texts() {
		if isAddress(t) {
			continue
		}
		if t == "*" || isServiceTag(t) {
			return refuse(SecurityRuleUnsupportedValue, field+"es", field+"es of "+what, strconv.Quote(t),
				"addresses and blocks only; a list takes no tags and no *", "put it into "+field+" of a rule of its own")
		}
		return refuse(SecurityRuleInvalidAddressPrefix, field+"es", field+"es of "+what, strconv.Quote(t), "addresses and blocks", "correct it")
	}
	for _, group := range groups.list() {
		target, err := s.refer(r, side+"ApplicationSecurityGroups", group.get("id"), "microsoft.network/applicationsecuritygroups")
		if err != nil {
			return err
		}
		if err := near(r, target, side+"ApplicationSecurityGroups", root(r.Body).get("location")); err != nil {
			return err
		}
	}
	return nil
}

func rulePorts(rule value, what, side string) *Error {
	one, many := rule.get(side+"PortRange"), rule.get(side+"PortRanges")
	if one.unknown() || many.unknown() {
		return nil
	}
	field := side + "PortRange"
	if one.text() == "" && len(many.list()) == 0 {
		return refuse(SecurityRuleInvalidPortRange, field, field+" of "+what, "nothing", `a port, a range or "*"`, "set it")
	}
	if t := one.text(); t != "" && t != "*" && !isPorts(t) {
		return refuse(SecurityRuleInvalidPortRange, field, field+" of "+what, strconv.Quote(t), `"*", 0..65535, or a range such as 1024-2048`, "correct it")
	}
	for _, t := range many.texts() {
		if !isPorts(t) {
			return refuse(SecurityRuleInvalidPortRanges, field+"s", field+"s of "+what, strconv.Quote(t), "ports and ranges; a list takes no *", "correct it")
		}
	}
	return nil
}

func isAddress(t string) bool {
	if _, err := netip.ParsePrefix(t); err == nil {
		return true
	}
	_, err := netip.ParseAddr(t)
	return err == nil
}

func isPorts(t string) bool {
	from, to, ranged := strings.Cut(t, "-")
	a, err := strconv.ParseUint(from, 10, 16)
	if err != nil {
		return false
	}
	if !ranged {
		return true
	}
	b, err := strconv.ParseUint(to, 10, 16)
	return err == nil && a <= b
}

// serviceTags are the published ones that rules may name (A031); a region may
// follow after a dot where the tag is regional.
// https://learn.microsoft.com/azure/virtual-network/service-tags-overview (2026-09)
var serviceTags = strings.Fields(`
	ActionGroup ApiManagement ApplicationInsightsAvailability AppConfiguration AppService AppServiceManagement
	AutonomousDevelopmentPlatform AzureActiveDirectory AzureActiveDirectoryDomainServices AzureAdvancedThreatProtection
	AzureArcInfrastructure AzureAttestation AzureBackup AzureBotService AzureCloud AzureCognitiveSearch AzureConnectors
	AzureContainerAppsService AzureContainerRegistry AzureCosmosDB AzureDatabricks AzureDataExplorerManagement AzureDeviceUpdate AzureDevOps
	AzureDigitalTwins AzureEventGrid AzureFrontDoor.Backend AzureFrontDoor.FirstParty AzureFrontDoor.Frontend
	AzureFrontDoor.MicrosoftSecurity AzureHealthcareAPIs AzureInformationProtection AzureIoTHub AzureKeyVault AzureLoadBalancer
	AzureLoadTestingInstanceManagement AzureMachineLearning AzureMachineLearningInference AzureManagedGrafana AzureMonitor AzureOpenDatasets
	AzurePlatformDNS AzurePlatformIMDS AzurePlatformLKM AzureResourceManager AzureSecurityCenter AzureSentinel AzureSignalR
	AzureSiteRecovery AzureSphere AzureSpringCloud AzureStack AzureTrafficManager AzureUpdateDelivery AzureVideoIndexer
	AzureWebPubSub BatchNodeManagement ChaosStudio CognitiveServicesFrontend CognitiveServicesManagement DataFactory
	DataFactoryManagement Dynamics365ForMarketingEmail Dynamics365BusinessCentral EOPExternalPublishedIPs EventHub GatewayManager
	Grafana GuestAndHybridManagement HDInsight Internet KustoAnalytics LogicApps LogicAppsManagement M365ManagementActivityApi
	M365ManagementActivityApiWebhook Marketplace MicrosoftAzureFluidRelay MicrosoftCloudAppSecurity MicrosoftContainerRegistry
	MicrosoftDefenderForEndpoint OneDsCollector PowerBI PowerPlatformInfra PowerPlatformPlex PowerQueryOnline Scuba SCCservice
	SerialConsole ServiceBus ServiceFabric Sql SqlManagement Storage StorageMover StorageSyncService TrafficManager VideoIndexer
	VirtualNetwork WindowsAdminCenter WindowsVirtualDesktop`)

func isServiceTag(t string) bool {
	base, region, regionalTag := strings.Cut(t, ".")
	for _, tag := range serviceTags {
		if strings.EqualFold(tag, t) || regionalTag && strings.EqualFold(tag, base) && isRegionName(region) {
			return true
		}
	}
	return false
}

// isRegionName accepts what looks like a region; whether Azure has it is not
// known here.
func isRegionName(t string) bool {
	for _, c := range strings.ToLower(t) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(t) >= 5
}

// defaultRules are the six rules that every group has (A040).
// https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview#default-security-rules
var defaultRules = []struct {
	name, direction, access, source, destination string
	priority                                     int
}{
	{"AllowVnetInBound", "Inbound", "Allow", "VirtualNetwork", "VirtualNetwork", 65000},
	{"AllowAzureLoadBalancerInBound", "Inbound", "Allow", "AzureLoadBalancer", "*", 65001},
	{"DenyAllInBound", "Inbound", "Deny", "*", "*", 65500},
	{"AllowVnetOutBound", "Outbound", "Allow", "VirtualNetwork", "VirtualNetwork", 65000},
	{"AllowInternetOutBound", "Outbound", "Allow", "*", "Internet", 65001},
	{"DenyAllOutBound", "Outbound", "Deny", "*", "*", 65500},
}

func completeNSG(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "securityRules", []any{})
	sortByName(props["securityRules"])
	if items, ok := props["securityRules"].([]any); ok {
		for _, item := range items {
			rule, ok := item.(map[string]any)
			if !ok {
				continue
			}
			rule["id"], rule["etag"] = r.ID+"/securityRules/"+value{rule}.get("name").text(), etag(r)
			rule["type"] = "Microsoft.Network/networkSecurityGroups/securityRules"
			if p := object(rule, "properties"); p != nil {
				for _, list := range []string{"sourcePortRanges", "destinationPortRanges", "sourceAddressPrefixes", "destinationAddressPrefixes"} {
					setDefault(p, list, []any{})
					sortTexts(p[list])
				}
				p["provisioningState"] = Succeeded
			}
		}
	}
	props["resourceGuid"] = GUID(r, "resourceGuid")
	defaults := make([]any, len(defaultRules))
	for i, d := range defaultRules {
		defaults[i] = map[string]any{
			"name": d.name, "id": r.ID + "/defaultSecurityRules/" + d.name, "etag": etag(r),
			"type": "Microsoft.Network/networkSecurityGroups/defaultSecurityRules",
			"properties": map[string]any{
				"priority": float64(d.priority), "direction": d.direction, "access": d.access, "protocol": "*",
				"sourcePortRange": "*", "destinationPortRange": "*", "sourceAddressPrefix": d.source, "destinationAddressPrefix": d.destination,
				"sourcePortRanges": []any{}, "destinationPortRanges": []any{}, "sourceAddressPrefixes": []any{}, "destinationAddressPrefixes": []any{},
				"provisioningState": Succeeded,
			},
		}
	}
	props["defaultSecurityRules"] = defaults
}

// nsgInUse: a group attached to a subnet stays (A025).
func nsgInUse(s State, r, with *Resource) *Error {
	return inUseBy(InUseNSG, r, with, s.users(r.ID, subnetType, "microsoft.network/networkinterfaces"), "detach it first")
}

func viewNSG(s State, r *Resource, body map[string]any) {
	attached(s, r, body, "subnets", subnetType)
}

// attached lists the ids of the users of r under key, as Azure does when there are any.
func attached(s State, r *Resource, body map[string]any, key string, types ...string) {
	var ids []any
	for _, user := range s.users(r.ID, types...) {
		ids = append(ids, map[string]any{"id": user.ID})
	}
	if ids != nil {
		object(body, "properties")[key] = ids
	}
}

package monitor

import "strings"

// Source describes what a type of resource tells about itself.
type Source struct {
	Logs    []string // categories of logs, sorted; none for a type with metrics alone
	Metrics bool
	Link    string
}

const logsRoot = "https://learn.microsoft.com/azure/azure-monitor/reference/supported-logs/"

// sources are the types that take diagnostic settings, by lower-case ARM type.
var sources = map[string]Source{
	"microsoft.apimanagement/service":                 {[]string{"DeveloperPortalAuditLogs", "GatewayLlmLogs", "GatewayLogs", "GatewayMCPLogs", "WebSocketConnectionLogs"}, true, logsRoot + "microsoft-apimanagement-service-logs"},
	"microsoft.cognitiveservices/accounts":            {[]string{"Audit", "AzureOpenAIRequestUsage", "RequestResponse", "Trace"}, true, logsRoot + "microsoft-cognitiveservices-accounts-logs"},
	"microsoft.containerregistry/registries":          {[]string{"ContainerRegistryLoginEvents", "ContainerRegistryRepositoryEvents"}, true, logsRoot + "microsoft-containerregistry-registries-logs"},
	"microsoft.containerservice/managedclusters":      {[]string{"cloud-controller-manager", "cluster-autoscaler", "csi-azuredisk-controller", "csi-azurefile-controller", "csi-snapshot-controller", "guard", "karpenter-events", "kube-apiserver", "kube-audit", "kube-audit-admin", "kube-controller-manager", "kube-scheduler"}, true, logsRoot + "microsoft-containerservice-managedclusters-logs"},
	"microsoft.keyvault/vaults":                       {[]string{"AuditEvent", "AzurePolicyEvaluationDetails"}, true, logsRoot + "microsoft-keyvault-vaults-logs"},
	"microsoft.network/natgateways":                   {nil, true, "https://learn.microsoft.com/azure/nat-gateway/nat-metrics"},
	"microsoft.network/networksecuritygroups":         {[]string{"NetworkSecurityGroupEvent", "NetworkSecurityGroupRuleCounter"}, false, logsRoot + "microsoft-network-networksecuritygroups-logs"},
	"microsoft.network/publicipaddresses":             {[]string{"DDoSMitigationFlowLogs", "DDoSMitigationReports", "DDoSProtectionNotifications"}, true, logsRoot + "microsoft-network-publicipaddresses-logs"},
	"microsoft.network/virtualnetworks":               {[]string{"VMProtectionAlerts"}, true, logsRoot + "microsoft-network-virtualnetworks-logs"},
	"microsoft.operationalinsights/workspaces":        {[]string{"Audit", "Jobs", "SummaryLogs"}, true, logsRoot + "microsoft-operationalinsights-workspaces-logs"},
	"microsoft.insights/components":                   {[]string{"AppAvailabilityResults", "AppDependencies", "AppEvents", "AppExceptions", "AppMetrics", "AppPageViews", "AppPerformanceCounters", "AppRequests", "AppSystemEvents", "AppTraces"}, true, logsRoot + "microsoft-insights-components-logs"},
	"microsoft.servicebus/namespaces":                 {[]string{"ApplicationMetricsLogs", "DiagnosticErrorLogs", "OperationalLogs", "RuntimeAuditLogs", "VNetAndIPFilteringLogs"}, true, logsRoot + "microsoft-servicebus-namespaces-logs"},
	"microsoft.storage/storageaccounts":               {nil, true, "https://learn.microsoft.com/azure/storage/blobs/monitor-blob-storage"},
	"microsoft.storage/storageaccounts/blobservices":  {[]string{"StorageDelete", "StorageRead", "StorageWrite"}, true, logsRoot + "microsoft-storage-storageaccounts-blobservices-logs"},
	"microsoft.storage/storageaccounts/tableservices": {[]string{"StorageDelete", "StorageRead", "StorageWrite"}, true, logsRoot + "microsoft-storage-storageaccounts-tableservices-logs"},
	"microsoft.insights/datacollectionrules":          {[]string{"DCRLogErrors", "DCRLogTroubleshooting"}, true, logsRoot + "microsoft-insights-datacollectionrules-logs"},
	"microsoft.monitor/accounts":                      {nil, true, "https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-monitor-accounts-metrics"},
	"microsoft.network/networkinterfaces":             {nil, true, "https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-network-networkinterfaces-metrics"},
	"microsoft.network/privateendpoints":              {nil, true, "https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-network-privateendpoints-metrics"},
}

// SourceOf is what resources of an ARM type tell about themselves; false for a
// type that takes no diagnostic settings, as far as this project knows.
func SourceOf(armType string) (Source, bool) {
	s, ok := sources[strings.ToLower(armType)]
	return s, ok
}

// Quiet are the types with logs that are not sent all the same, and why.
var Quiet = map[string]string{
	"microsoft.insights/components":          "its tables are in the workspace as they are: a setting would write every row twice, and bill it twice",
	"microsoft.insights/datacollectionrules": "it has errors of transformations, of which there are none here",
	"microsoft.network/publicipaddresses":    "its logs are those of a DDoS protection plan, which this platform does not buy",
	"microsoft.network/virtualnetworks":      "its log is that of a DDoS protection plan, which this platform does not buy",
}

// MaxSettings is how many diagnostic settings a resource can have.
// https://learn.microsoft.com/azure/azure-monitor/essentials/diagnostic-settings
const MaxSettings = 5

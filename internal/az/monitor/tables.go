package monitor

// Table is a table of a Log Analytics workspace.
type Table struct {
	Columns string // as KQL writes a schema; those that queries here read
	Source  string // link
}

const tablesRoot = "https://learn.microsoft.com/azure/azure-monitor/reference/tables/"

// Tables are the tables that queries here read, by name.
var Tables = map[string]Table{
	"ApiManagementGatewayLlmLog": {
		"(TimeGenerated: datetime, CorrelationId: string, DeploymentName: string, ModelName: string, OperationName: string, IsStreamCompletion: bool, PromptTokens: int, CompletionTokens: int, TotalTokens: int, SequenceNumber: int, Region: string, _ResourceId: string)",
		tablesRoot + "apimanagementgatewayllmlog",
	},
	"ApiManagementGatewayLogs": {
		"(TimeGenerated: datetime, CorrelationId: string, ApiId: string, OperationId: string, ApimSubscriptionId: string, ProductId: string, BackendId: string, BackendResponseCode: int, ResponseCode: int, ResponseHeaders: dynamic, LastErrorReason: string, LastErrorSource: string, CallerIpAddress: string, IsRequestSuccess: bool, TotalTime: long, _ResourceId: string)",
		tablesRoot + "apimanagementgatewaylogs",
	},
	"AppEvents": {
		"(TimeGenerated: datetime, Name: string, Properties: dynamic, Measurements: dynamic, OperationId: string, _ResourceId: string)",
		tablesRoot + "appevents",
	},
	"AppMetrics": {
		"(TimeGenerated: datetime, Name: string, Sum: real, ItemCount: int, Min: real, Max: real, Properties: dynamic, _ResourceId: string)",
		tablesRoot + "appmetrics",
	},
	// The service adds columns of its own as they come; properties_s is one.
	"AzureDiagnostics": {
		"(TimeGenerated: datetime, ResourceProvider: string, Category: string, OperationName: string, CallerIPAddress: string, ResultSignature: string, DurationMs: long, properties_s: string, _ResourceId: string)",
		tablesRoot + "azurediagnostics",
	},
	"_LogOperation": {
		"(TimeGenerated: datetime, Category: string, Operation: string, Level: string, Detail: string, _ResourceId: string)",
		"https://learn.microsoft.com/azure/azure-monitor/logs/monitor-workspace",
	},
}

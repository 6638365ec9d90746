package monitor

import (
	"slices"
	"strings"
	"time"
)

// Series is a platform metric.
type Series struct {
	Totals     []string // by which a window can become one value
	Dimensions []string // sorted
	Exported   bool     // a diagnostic setting can send it to logs
}

// metrics are those that this project looks at, and their neighbours, by
// lower-case ARM type.
// https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-servicebus-namespaces-metrics
// https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-cognitiveservices-accounts-metrics
// https://learn.microsoft.com/azure/azure-monitor/reference/supported-metrics/microsoft-apimanagement-service-metrics
var metrics = map[string]map[string]Series{
	"microsoft.servicebus/namespaces": {
		"AbandonMessage":       {sum, entity, true},
		"ActiveConnections":    {sum, nil, false},
		"ActiveMessages":       {level, entity, false},
		"CompleteMessage":      {sum, entity, true},
		"DeadletteredMessages": {level, entity, false},
		"IncomingMessages":     {sum, entity, true},
		"IncomingRequests":     {sum, entity, true},
		"Messages":             {level, entity, false},
		"NamespaceCpuUsage":    {[]string{"Maximum"}, []string{"Replica"}, false},
		"OutgoingMessages":     {sum, entity, true},
		"ScheduledMessages":    {level, entity, false},
		"ServerErrors":         {sum, []string{"EntityName", "OperationResult"}, false},
		"Size":                 {level, entity, false},
		"SuccessfulRequests":   {sum, []string{"EntityName", "OperationResult"}, false},
		"ThrottledRequests":    {sum, []string{"EntityName", "MessagingErrorSubCode", "OperationResult"}, false},
		"UserErrors":           {sum, []string{"EntityName", "OperationResult"}, false},
	},
	"microsoft.cognitiveservices/accounts": {
		"AzureOpenAIAvailabilityRate":                {[]string{"Average", "Maximum", "Minimum"}, []string{"ModelDeploymentName", "ModelName", "Region"}, false},
		"AzureOpenAIProvisionedManagedUtilizationV2": {[]string{"Average", "Maximum", "Minimum"}, []string{"ModelDeploymentName", "ModelName", "Region"}, false},
		"AzureOpenAIRequests":                        {sum, []string{"ApiName", "IsSpillover", "ModelDeploymentName", "ModelName", "ModelVersion", "OperationName", "Region", "ServiceTierRequest", "ServiceTierResponse", "StatusCode", "StreamType"}, true},
		"GeneratedTokens":                            {sum, []string{"ApiName", "FeatureName", "ModelDeploymentName", "ModelName", "Region", "UsageChannel"}, true},
		"ProcessedPromptTokens":                      {sum, []string{"ApiName", "FeatureName", "ModelDeploymentName", "ModelName", "Region", "UsageChannel"}, true},
		"TokenTransaction":                           {sum, []string{"ApiName", "FeatureName", "ModelDeploymentName", "ModelName", "Region", "UsageChannel"}, true},
	},
	"microsoft.apimanagement/service": {
		"BackendDuration": {[]string{"Average", "Maximum", "Minimum"}, []string{"ApiId", "Hostname", "Location"}, true},
		"Capacity":        {[]string{"Average", "Maximum"}, []string{"Location"}, true},
		"Duration":        {[]string{"Average", "Maximum", "Minimum"}, []string{"ApiId", "Hostname", "Location"}, true},
		"Requests":        {sum, []string{"ApiId", "BackendResponseCode", "BackendResponseCodeCategory", "GatewayResponseCode", "GatewayResponseCodeCategory", "Hostname", "LastErrorReason", "Location"}, true},
	},
}

var (
	sum    = []string{"Total"}
	level  = []string{"Average", "Maximum", "Minimum"}
	entity = []string{"EntityName"}
)

// MetricsOf are the metrics of an ARM type; false for a type whose metrics this
// project does not know.
func MetricsOf(armType string) (map[string]Series, bool) {
	m, ok := metrics[strings.ToLower(armType)]
	return m, ok
}

// How often an alert on metrics looks, and how far back.
// https://learn.microsoft.com/rest/api/monitor/metric-alerts/create-or-update
var (
	Frequencies = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}
	Windows     = append(slices.Clone(Frequencies), 6*time.Hour, 12*time.Hour, 24*time.Hour)
)

// The bounds of an alert on logs.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-log-alert-rule
const (
	MinLogFrequency, MaxLogFrequency = time.Minute, 24 * time.Hour
	MinLogWindow, MaxLogWindow       = time.Minute, 48 * time.Hour
)

// The bounds of a group of Prometheus rules.
// https://learn.microsoft.com/azure/azure-monitor/essentials/prometheus-rule-groups
const (
	MinRuleInterval, MaxRuleInterval = time.Minute, 15 * time.Minute
	MaxRules                         = 20 // of a group
	MaxRuleActions                   = 5  // of a rule
)

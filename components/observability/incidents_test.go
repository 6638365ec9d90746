package observability_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/alerts"
	"onedoor/internal/alerttest"
	"onedoor/internal/fake"
)

// noon is when every incident is looked at.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The resources of the incidents.
const (
	bus  = providers + "Microsoft.ServiceBus/namespaces/bus"
	west = providers + "Microsoft.CognitiveServices/accounts/west"
)

// measured is a metric that had a value in each minute of a time up to noon.
func measured(resource, metric string, dimensions map[string]string, value float64, from, until time.Duration) []alerttest.Point {
	var out []alerttest.Point
	for ago := from; ago > until; ago -= time.Minute {
		out = append(out, alerttest.Point{Resource: resource, Metric: metric, Dimensions: dimensions, At: noon.Add(-ago + time.Minute), Value: value})
	}
	return out
}

// queue are the dimensions of a queue's metrics, answers those of a deployment's.
func queue(name string) map[string]string { return map[string]string{"EntityName": name} }
func answers(deployment, code string) map[string]string {
	return map[string]string{"ModelDeploymentName": deployment, "StatusCode": code}
}

const day = 24 * time.Hour

// busyDay is what metrics show on a day on which all is well.
func busyDay() []alerttest.Point {
	throttled := map[string]string{"EntityName": "text", "MessagingErrorSubCode": "", "OperationResult": "Success"}
	return slices.Concat(
		measured(bus, "ActiveMessages", queue("text"), 40, day, 3*time.Hour), // and then nothing for a minute
		measured(bus, "ActiveMessages", queue("text"), 0, 3*time.Hour, 3*time.Hour-time.Minute),
		measured(bus, "ActiveMessages", queue("text"), 700, 3*time.Hour-time.Minute, 0),
		measured(bus, "ActiveMessages", queue("vision"), 0, day, 0),
		measured(bus, "DeadletteredMessages", queue("text"), 3, day, 2*time.Hour), // which somebody has dealt with
		measured(bus, "DeadletteredMessages", queue("text"), 0, 2*time.Hour, 0),
		measured(bus, "ThrottledRequests", throttled, 0, day, 0),
		measured(west, "AzureOpenAIRequests", answers("chat", "200"), 300, day, 0),
		measured(west, "AzureOpenAIRequests", answers("chat", "429"), 3, day, 0), // 45 in a quarter of an hour
		measured(west, "AzureOpenAIRequests", answers("small", "429"), 1, day, 0),
	)
}

// metricIncidents are incidents that platform metrics show, beside a day on which
// all is well, with the alerts that fire and for what.
var metricIncidents = map[string]struct {
	points []alerttest.Point
	fires  map[string][]string
}{
	"nothing": {nil, nil},
	"a message is given up": {
		measured(bus, "DeadletteredMessages", queue("vision"), 1, 2*time.Minute, time.Minute), map[string][]string{"dead-letters": {"vision"}},
	},
	"two queues fill with dead letters": {
		slices.Concat(measured(bus, "DeadletteredMessages", queue("text"), 9, time.Hour, 0), measured(bus, "DeadletteredMessages", queue("vision"), 2, time.Hour, 0)),
		map[string][]string{"dead-letters": {"text", "vision"}},
	},
	"a message waits since the morning": {
		measured(bus, "ActiveMessages", queue("speech"), 1, 6*time.Hour, 0), map[string][]string{"queue-stands": {"speech"}},
	},
	"the namespace refuses one sender for a minute": {
		measured(bus, "ThrottledRequests", map[string]string{"EntityName": "text", "MessagingErrorSubCode": "50002", "OperationResult": "ServerBusy"}, 20, 9*time.Minute, 8*time.Minute),
		map[string][]string{"queue-throttled": {""}},
	},
	"a deployment is full": {
		measured(west, "AzureOpenAIRequests", answers("small", "429"), 51, 10*time.Minute, 9*time.Minute), map[string][]string{"models-throttled": {"429,small"}},
	},
	"calls fail, and not for want of quota": {
		measured(west, "AzureOpenAIRequests", answers("small", "500"), 500, 10*time.Minute, 0), nil,
	},
	"another namespace has dead letters": {
		measured(providers+"Microsoft.ServiceBus/namespaces/bus-of-others", "DeadletteredMessages", queue("text"), 9, time.Hour, 0), nil,
	},
	"dead letters of an hour ago": {
		measured(bus, "DeadletteredMessages", queue("vision"), 9, time.Hour, 30*time.Minute), nil,
	},
}

func TestIncidentsInMetrics(t *testing.T) {
	t.Parallel()
	plan := run(t, fake.Update, args())
	seen := map[string]bool{}
	for name, incident := range metricIncidents {
		fires := map[string][]string{}
		for _, a := range alerts.All() {
			if _, ok := a.Signal.(alerts.Metric); !ok {
				continue
			}
			for _, r := range plan.Resources {
				if !strings.HasSuffix(r.Type, ":MetricAlert") || r.Name != "seen-"+a.ID && !strings.HasPrefix(r.Name, "seen-"+a.ID+"-") {
					continue
				}
				got, err := alerttest.Measured(r.Inputs.Mappable(), slices.Concat(busyDay(), incident.points), noon)
				require.NoError(t, err, r.Name)
				if len(got) > 0 {
					fires[a.ID] = append(fires[a.ID], got...)
					seen[a.ID] = true
				}
			}
		}
		if incident.fires == nil {
			assert.Empty(t, fires, name)
			continue
		}
		assert.Equal(t, incident.fires, fires, name)
	}
	for _, a := range alerts.All() {
		if _, ok := a.Signal.(alerts.Metric); ok {
			assert.True(t, seen[a.ID], "%s: no incident sets it off", a.ID)
		}
	}
}

// changed is a change as the activity log tells it.
func changed(resource, operation, category string) alerttest.Event {
	return alerttest.Event{Resource: resource, Fields: map[string]string{
		"category": category, "operationName": operation, "resourceId": resource, "caller": "somebody@example.com", "status": "Succeeded", "level": "Informational",
	}}
}

const (
	elsewhere = "/subscriptions/" + fake.SubscriptionID + "/resourceGroups/of-others/providers/"
	abroad    = "/subscriptions/99999999-3333-4444-5555-666666666666/resourceGroups/of-others/providers/"
)

// changeIncidents are changes, with the alerts that fire.
var changeIncidents = map[string]struct {
	event alerttest.Event
	fires []string
}{
	"somebody reads the keys of a model account": {changed(west, "Microsoft.CognitiveServices/accounts/listKeys/action", "Administrative"), []string{"model-keys"}},
	"and renews them, in capitals":               {changed(strings.ToUpper(west), "MICROSOFT.COGNITIVESERVICES/ACCOUNTS/REGENERATEKEY/ACTION", "Administrative"), []string{"model-keys"}},
	"a model account is opened to the internet":  {changed(west, "Microsoft.CognitiveServices/accounts/write", "Administrative"), []string{"model-account-changed"}},
	"a model account is deleted":                 {changed(west, "Microsoft.CognitiveServices/accounts/delete", "Administrative"), []string{"model-account-changed"}},
	"an endpoint of a stranger is approved":      {changed(west+"/privateEndpointConnections/x", "Microsoft.CognitiveServices/accounts/privateEndpointConnections/write", "Administrative"), []string{"model-account-changed"}},
	"a deployment is written here":               {changed(west+"/deployments/chat", "Microsoft.CognitiveServices/accounts/deployments/write", "Administrative"), []string{"model-deployment-written"}},
	"a batch deployment appears elsewhere":       {changed(elsewhere+"Microsoft.CognitiveServices/accounts/a/deployments/b", "Microsoft.CognitiveServices/accounts/deployments/write", "Administrative"), []string{"model-deployment-written"}},
	"somebody is given a role on an account":     {changed(west+"/providers/Microsoft.Authorization/roleAssignments/x", "Microsoft.Authorization/roleAssignments/write", "Administrative"), []string{"model-roles-changed"}},
	"a role is taken":                            {changed(fake.GroupID+"/providers/Microsoft.Authorization/roleAssignments/x", "Microsoft.Authorization/roleAssignments/delete", "Administrative"), []string{"model-roles-changed"}},
	"a resource stops to log":                    {changed(bus+"/providers/Microsoft.Insights/diagnosticSettings/logs", "Microsoft.Insights/diagnosticSettings/delete", "Administrative"), []string{"logs-turned-off"}},
	"Azure Policy refuses a batch deployment":    {changed(elsewhere+"Microsoft.CognitiveServices/accounts/a", "Microsoft.Authorization/policies/deny/action", "Policy"), []string{"bypass-denied"}},

	// A day on which all is well.
	"Azure Policy audits":             {changed(west, "Microsoft.Authorization/policies/audit/action", "Policy"), nil},
	"an account of others is written": {changed(elsewhere+"Microsoft.CognitiveServices/accounts/a", "Microsoft.CognitiveServices/accounts/write", "Administrative"), nil},
	"keys of others are read":         {changed(elsewhere+"Microsoft.CognitiveServices/accounts/a", "Microsoft.CognitiveServices/accounts/listKeys/action", "Administrative"), nil},
	"another subscription":            {changed(abroad+"Microsoft.CognitiveServices/accounts/a/deployments/b", "Microsoft.CognitiveServices/accounts/deployments/write", "Administrative"), nil},
	"a group whose name begins alike": {changed(fake.GroupID+"-other/providers/Microsoft.CognitiveServices/accounts/a", "Microsoft.CognitiveServices/accounts/write", "Administrative"), nil},
	"a setting is written":            {changed(bus+"/providers/Microsoft.Insights/diagnosticSettings/logs", "Microsoft.Insights/diagnosticSettings/write", "Administrative"), nil},
	"the cluster is upgraded":         {changed(providers+"Microsoft.ContainerService/managedClusters/aks", "Microsoft.ContainerService/managedClusters/write", "Administrative"), nil},
	"an account is unwell":            {changed(west, "Microsoft.CognitiveServices/accounts/write", "ResourceHealth"), nil},
}

func TestIncidentsInTheActivityLog(t *testing.T) {
	t.Parallel()
	plan := run(t, fake.Update, args())
	seen := map[string]bool{}
	for name, incident := range changeIncidents {
		var fires []string
		for _, a := range alerts.All() {
			if _, ok := a.Signal.(alerts.Operation); !ok {
				continue
			}
			got, err := alerttest.Happened(plan.Get(t, "seen-"+a.ID).Inputs.Mappable(), incident.event)
			require.NoError(t, err, a.ID)
			if got {
				fires = append(fires, a.ID)
				seen[a.ID] = true
			}
		}
		assert.Equal(t, incident.fires, fires, name)
	}
	for _, a := range alerts.All() {
		if _, ok := a.Signal.(alerts.Operation); ok {
			assert.True(t, seen[a.ID], "%s: no incident sets it off", a.ID)
		}
	}
}

package diagnostics_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"

	"onedoor/internal/diagnostics"
	"onedoor/internal/fake"
)

func TestSettingsSendWhatTheySay(t *testing.T) {
	t.Parallel()
	log := func(key, name string) map[string]any { return map[string]any{key: name, "enabled": true} }
	for name, c := range map[string]struct {
		setting  diagnostics.Setting
		logs     []any
		metrics  any
		separate any
	}{
		"Everything by default": {diagnostics.Setting{}, []any{log("categoryGroup", "allLogs")}, nil, nil},
		"Some logs":             {diagnostics.Setting{Categories: []string{"b", "a"}}, []any{log("category", "b"), log("category", "a")}, nil, nil},
		"Metrics too": {diagnostics.Setting{Metrics: true, Dedicated: true}, []any{log("categoryGroup", "allLogs")},
			[]any{map[string]any{"category": "AllMetrics", "enabled": true}}, "Dedicated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := fake.Run(t, fake.Preview, func(ctx *pulumi.Context) error {
				return diagnostics.Send(ctx, "vault", pulumi.String(fake.GroupID), fake.Logs(), c.setting)
			}).Get(t, "vault-logs")
			assert.Equal(t, c.logs, made.Input("logs"))
			assert.Equal(t, c.metrics, made.Input("metrics"))
			assert.Equal(t, c.separate, made.Input("logAnalyticsDestinationType"))
			assert.Equal(t, fake.GroupID, made.Input("resourceUri"))
			assert.Equal(t, fake.GroupID+"/providers/Microsoft.OperationalInsights/workspaces/logs", made.Input("workspaceId"))
		})
	}
}

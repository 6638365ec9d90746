package alerttest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	group = "/subscriptions/s/resourceGroups/rg"
	bus   = group + "/providers/Microsoft.ServiceBus/namespaces/bus"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// rule is a rule on a metric with one thing changed.
func rule(change func(rule, criterion map[string]any)) map[string]any {
	criterion := map[string]any{
		"criterionType": "StaticThresholdCriterion", "name": "c", "metricNamespace": "Microsoft.ServiceBus/namespaces", "metricName": "M", "timeAggregation": "Total", "operator": "GreaterThan", "threshold": 10.0,
		"dimensions": []any{map[string]any{"name": "D", "operator": "Include", "values": []any{"*"}}},
	}
	r := map[string]any{
		"scopes": []any{bus}, "enabled": true, "windowSize": "PT15M", "severity": 2.0,
		"criteria": map[string]any{"odataType": "Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria", "allOf": []any{criterion}},
	}
	change(r, criterion)
	return r
}

func TestMeasured(t *testing.T) {
	t.Parallel()
	at := func(ago time.Duration, d string, v float64) Point {
		return Point{Resource: bus, Metric: "M", Dimensions: map[string]string{"D": d, "E": "any"}, At: now.Add(-ago), Value: v}
	}
	points := []Point{at(time.Minute, "a", 6), at(2*time.Minute, "a", 5), at(15*time.Minute, "b", 99), at(14*time.Minute, "b", 10), at(time.Minute, "c", 11)}
	for name, c := range map[string]struct {
		change func(rule, criterion map[string]any)
		want   []string
	}{
		"sums within the window, above":  {func(_, _ map[string]any) {}, []string{"a", "c"}},
		"the greatest":                   {func(_, c map[string]any) { c["timeAggregation"] = "Maximum" }, []string{"c"}},
		"the least, and equal":           {func(_, c map[string]any) { c["timeAggregation"], c["operator"] = "Minimum", "GreaterThanOrEqual" }, []string{"b", "c"}},
		"on average below":               {func(_, c map[string]any) { c["timeAggregation"], c["operator"] = "Average", "LessThan" }, []string{"a"}},
		"a longer window":                {func(r, _ map[string]any) { r["windowSize"] = "PT1H" }, []string{"a", "b", "c"}},
		"one value":                      {func(_, c map[string]any) { c["dimensions"].([]any)[0].(map[string]any)["values"] = []any{"a"} }, []string{"a"}},
		"one series of all":              {func(_, c map[string]any) { delete(c, "dimensions") }, []string{""}},
		"a dimension that no series has": {func(_, c map[string]any) { c["dimensions"].([]any)[0].(map[string]any)["name"] = "X" }, nil},
		"another metric":                 {func(_, c map[string]any) { c["metricName"] = "N" }, nil},
		"another kind of resource":       {func(_, c map[string]any) { c["metricNamespace"] = "Microsoft.Cache/redis" }, nil},
		"another resource":               {func(r, _ map[string]any) { r["scopes"] = []any{bus + "2"} }, nil},
		"the group of the resource":      {func(r, _ map[string]any) { r["scopes"] = []any{group} }, []string{"a", "c"}},
		"turned off":                     {func(r, _ map[string]any) { r["enabled"] = false }, nil},
	} {
		got, err := Measured(rule(c.change), points, now)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	for want, change := range map[string]func(rule, criterion map[string]any){
		`aggregation "Count"`:       func(_, c map[string]any) { c["timeAggregation"] = "Count" },
		`operator "Above"`:          func(_, c map[string]any) { c["operator"] = "Above" },
		"one with a static":         func(_, c map[string]any) { c["criterionType"] = "DynamicThresholdCriterion" },
		`unknown field "skip"`:      func(_, c map[string]any) { c["skip"] = true },
		`duration "15m"`:            func(r, _ map[string]any) { r["windowSize"] = "15m" },
		"want Include and values":   func(_, c map[string]any) { c["dimensions"].([]any)[0].(map[string]any)["operator"] = "Exclude" },
		"criteria {Kind:":           func(r, _ map[string]any) { r["criteria"].(map[string]any)["allOf"] = []any{} },
		"cannot unmarshal":          func(_, c map[string]any) { c["threshold"] = "ten" },
		"into Go struct field":      func(r, _ map[string]any) { r["scopes"] = bus },
		`unknown field "failing"`:   func(r, _ map[string]any) { r["criteria"].(map[string]any)["failing"] = 1 },
		"{Name:D Operator:Include ": func(_, c map[string]any) { delete(c["dimensions"].([]any)[0].(map[string]any), "values") },
	} {
		_, err := Measured(rule(change), points, now)
		assert.ErrorContains(t, err, want)
	}
}

func TestHappened(t *testing.T) {
	t.Parallel()
	leaf := func(field, value string) any { return map[string]any{"field": field, "equals": value} }
	condition := func(parts ...any) map[string]any {
		return map[string]any{"scopes": []any{group}, "enabled": true, "condition": map[string]any{"allOf": parts}, "tags": map[string]any{}}
	}
	event := Event{Resource: bus, Fields: map[string]string{"category": "Administrative", "operationName": "A/write", "status": "Succeeded"}}
	some := func(parts ...any) any { return map[string]any{"anyOf": parts} }
	for name, c := range map[string]struct {
		rule map[string]any
		want bool
	}{
		"all hold, whatever the case": {condition(leaf("category", "administrative"), leaf("operationName", "a/WRITE")), true},
		"one does not":                {condition(leaf("category", "Administrative"), leaf("operationName", "A/delete")), false},
		"one of some":                 {condition(some(leaf("operationName", "A/delete"), leaf("operationName", "A/write"))), true},
		"none of some":                {condition(some(leaf("operationName", "A/delete"), leaf("operationName", "A/read"))), false},
		"a part of a value":           {condition(map[string]any{"field": "status", "containsAny": []any{"fail", "succ"}}), true},
		"a field that is not there":   {condition(leaf("level", "Error")), false},
	} {
		got, err := Happened(c.rule, event)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	off := condition(leaf("category", "Administrative"))
	off["enabled"] = false
	got, err := Happened(off, event)
	require.NoError(t, err)
	assert.False(t, got)
	for want, r := range map[string]map[string]any{
		"without parts":             condition(),
		"want a field with one of":  condition(map[string]any{"field": "category"}),
		`unknown field "startWith"`: condition(map[string]any{"field": "category", "startWith": "A"}),
	} {
		_, err := Happened(r, event)
		assert.ErrorContains(t, err, want)
	}
}

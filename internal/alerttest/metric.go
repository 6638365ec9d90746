package alerttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Point is the value of a platform metric in one minute, for one combination of its
// dimensions.
type Point struct {
	Resource   string // ARM id
	Metric     string
	Dimensions map[string]string
	At         time.Time
	Value      float64
}

// criterion is one comparison of a rule.
type criterion struct {
	Kind       string      `json:"criterionType"`
	Name       string      `json:"name"`
	Namespace  string      `json:"metricNamespace"`
	Metric     string      `json:"metricName"`
	Total      string      `json:"timeAggregation"`
	Operator   string      `json:"operator"`
	Threshold  float64     `json:"threshold"`
	Dimensions []dimension `json:"dimensions"`
}

// dimension chooses series: those with one of the values, or a series for each value
// where one is "*".
type dimension struct {
	Name     string   `json:"name"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// The ways in which a window becomes one value, and in which it is compared.
var (
	totals = map[string]func([]float64) float64{
		"Total":   sum,
		"Average": func(v []float64) float64 { return sum(v) / float64(len(v)) },
		"Maximum": slices.Max[[]float64],
		"Minimum": slices.Min[[]float64],
	}
	operators = map[string]func(value, threshold float64) bool{
		"GreaterThan":        func(v, t float64) bool { return v > t },
		"GreaterThanOrEqual": func(v, t float64) bool { return v >= t },
		"LessThan":           func(v, t float64) bool { return v < t },
		"LessThanOrEqual":    func(v, t float64) bool { return v <= t },
	}
)

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// Measured are the series for which a rule on metrics fires at a moment, each as the
// values of its dimensions joined by commas, sorted. The rule is declared as a
// MetricAlert with one criterion. A series without a point in the window does not
// fire, and one that has points for a part of it alone is judged by these.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-metric-overview
func Measured(rule map[string]any, points []Point, now time.Time) ([]string, error) {
	var r struct {
		Scopes   []string `json:"scopes"`
		Enabled  bool     `json:"enabled"`
		Window   string   `json:"windowSize"`
		Criteria struct {
			Kind  string      `json:"odataType"`
			AllOf []criterion `json:"allOf"`
		} `json:"criteria"`
	}
	if err := decode(pick(rule, "scopes", "enabled", "windowSize", "criteria"), &r); err != nil {
		return nil, err
	}
	if len(r.Criteria.AllOf) != 1 || r.Criteria.AllOf[0].Kind != "StaticThresholdCriterion" {
		return nil, fmt.Errorf("criteria %+v, want one with a static threshold", r.Criteria)
	}
	window, err := parse(r.Window)
	if err != nil {
		return nil, err
	}
	c := r.Criteria.AllOf[0]
	total, operator := totals[c.Total], operators[c.Operator]
	if total == nil || operator == nil {
		return nil, fmt.Errorf("aggregation %q and operator %q, want one of %v and one of %v", c.Total, c.Operator, slices.Sorted(maps.Keys(totals)), slices.Sorted(maps.Keys(operators)))
	}
	series := map[string][]float64{}
	for _, p := range points {
		name, chosen, err := c.series(p)
		if err != nil {
			return nil, err
		}
		if r.Enabled && chosen && within(p.Resource, r.Scopes) && p.At.After(now.Add(-window)) && !p.At.After(now) {
			series[name] = append(series[name], p.Value)
		}
	}
	var fires []string
	for _, name := range slices.Sorted(maps.Keys(series)) {
		if operator(total(series[name]), c.Threshold) {
			fires = append(fires, name)
		}
	}
	return fires, nil
}

// series is the series of the criterion that a point belongs to.
func (c criterion) series(p Point) (name string, chosen bool, err error) {
	var values []string
	chosen = p.Metric == c.Metric && strings.Contains(strings.ToLower(p.Resource), "/"+strings.ToLower(c.Namespace)+"/")
	for _, d := range c.Dimensions {
		if d.Operator != "Include" || len(d.Values) == 0 {
			return "", false, fmt.Errorf("dimension %+v, want Include and values", d)
		}
		value, has := p.Dimensions[d.Name]
		if !has || !slices.Contains(d.Values, "*") && !slices.Contains(d.Values, value) {
			chosen = false
		}
		values = append(values, value)
	}
	return strings.Join(values, ","), chosen, nil
}

package alerttest

import (
	"fmt"
	"strings"
)

// Event is an entry of the activity log.
// https://learn.microsoft.com/azure/azure-monitor/platform/activity-log-schema
type Event struct {
	Resource string            // ARM id
	Fields   map[string]string // by the names that conditions use, as in "operationName"
}

// condition is a leaf, or a list of which one must hold.
type condition struct {
	Field       string      `json:"field"`
	Equals      string      `json:"equals"`
	ContainsAny []string    `json:"containsAny"`
	AnyOf       []condition `json:"anyOf"`
}

// Happened tells whether a rule on the activity log fires for an event. The rule is
// declared as an ActivityLogAlert: scopes, enabled, and a condition whose parts must
// all hold. Values are compared without regard to case.
// https://learn.microsoft.com/rest/api/monitor/activity-log-alerts/create-or-update
func Happened(rule map[string]any, event Event) (bool, error) {
	var r struct {
		Scopes    []string `json:"scopes"`
		Enabled   bool     `json:"enabled"`
		Condition struct {
			AllOf []condition `json:"allOf"`
		} `json:"condition"`
	}
	if err := decode(pick(rule, "scopes", "enabled", "condition"), &r); err != nil {
		return false, err
	}
	if len(r.Condition.AllOf) == 0 {
		return false, fmt.Errorf("condition without parts, which Azure refuses")
	}
	if !r.Enabled || !within(event.Resource, r.Scopes) {
		return false, nil
	}
	for _, c := range r.Condition.AllOf {
		if holds, err := c.holds(event); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

func (c condition) holds(event Event) (bool, error) {
	value := strings.ToLower(event.Fields[c.Field])
	switch {
	case len(c.AnyOf) > 0 && c.Field == "":
		for _, part := range c.AnyOf {
			if holds, err := part.holds(event); err != nil || holds {
				return holds, err
			}
		}
		return false, nil
	case len(c.AnyOf) == 0 && c.Field != "" && c.Equals != "" && len(c.ContainsAny) == 0:
		return value == strings.ToLower(c.Equals), nil
	case len(c.AnyOf) == 0 && c.Field != "" && c.Equals == "" && len(c.ContainsAny) > 0:
		for _, part := range c.ContainsAny {
			if strings.Contains(value, strings.ToLower(part)) {
				return true, nil
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("condition %+v: want a field with one of equals and containsAny, or anyOf alone", c)
}

// pick is a rule with some of its inputs: the others say who is told, and how.
func pick(rule map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if value, ok := rule[name]; ok {
			out[name] = value
		}
	}
	return out
}

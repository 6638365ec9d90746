// Package alerttest says whether alerts fire that no judge of their own exists for:
// those on platform metrics and those on the activity log, as they are declared. It
// is a test kit: no program imports it.
//
// Its limits: a rule is looked at once, at one moment, so nothing is said about when
// an alert fires again or is resolved. Thresholds are static. What a rule has that is
// not understood is an error, never a guess.
package alerttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// decode reads a declared rule into a type that knows all its fields.
func decode(rule map[string]any, into any) error {
	text, err := json.Marshal(rule)
	if err != nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	return in.Decode(into)
}

// within tells whether a resource is a scope or below it. Ids have no case.
func within(resource string, scopes []string) bool {
	resource = strings.ToLower(resource) + "/"
	for _, scope := range scopes {
		if strings.HasPrefix(resource, strings.ToLower(strings.TrimRight(scope, "/"))+"/") {
			return true
		}
	}
	return false
}

var duration = regexp.MustCompile(`^P(?:(\d+)D|T(?:(\d+)H)?(?:(\d+)M)?)$`)

// parse reads a duration of ISO 8601 as Azure Monitor takes it: days, or hours and
// minutes.
func parse(text string) (time.Duration, error) {
	m := duration.FindStringSubmatch(text)
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if m != nil && m[i+1] != "" {
			n, err := strconv.Atoi(m[i+1])
			if err != nil {
				return 0, err
			}
			total += time.Duration(n) * unit
		}
	}
	if total == 0 {
		return 0, fmt.Errorf("duration %q, want days, or hours and minutes", text)
	}
	return total, nil
}

package insights

import (
	"errors"
	"fmt"
	"strings"
)

// Target is an Application Insights resource, as telemetry finds it.
type Target struct {
	Endpoint string // URL of ingestion, without a slash at the end
	Key      string // names the resource, and proves nothing: tokens do
}

// Parse reads a connection string.
// https://learn.microsoft.com/azure/azure-monitor/app/connection-strings
func Parse(connection string) (Target, error) {
	var t Target
	for pair := range strings.SplitSeq(connection, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		switch strings.ToLower(name) {
		case "instrumentationkey":
			t.Key = value
		case "ingestionendpoint":
			t.Endpoint = strings.TrimRight(value, "/")
		}
	}
	switch {
	case t.Key == "":
		return Target{}, errors.New("connection string has no InstrumentationKey: it does not say whose the telemetry is")
	case !strings.HasPrefix(t.Endpoint, "https://"):
		return Target{}, fmt.Errorf("connection string has IngestionEndpoint %q, want an https URL: tokens go there", t.Endpoint)
	}
	return t, nil
}

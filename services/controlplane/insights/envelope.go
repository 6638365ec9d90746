package insights

import (
	"time"

	"onedoor/internal/event"
	"onedoor/services/controlplane/schedule"
)

// envelope is an event as ingestion takes it. It becomes a row of the table AppEvents.
// https://github.com/Azure/azure-rest-api-specs/tree/main/specification/applicationinsights/data-plane/Monitor.Exporters
type envelope struct {
	Ver  int               `json:"ver"`
	Name string            `json:"name"`
	Time string            `json:"time"`
	Key  string            `json:"iKey"`
	Tags map[string]string `json:"tags"`
	Data data              `json:"data"`
}

type data struct {
	Type string   `json:"baseType"`
	Base baseData `json:"baseData"`
}

type baseData struct {
	Ver          int                `json:"ver"`
	Name         string             `json:"name"`
	Properties   map[string]string  `json:"properties"`
	Measurements map[string]float64 `json:"measurements,omitempty"`
}

// maxText is how long the value of a property may be, in characters.
const maxText = 8192

// envelope is an event that is sent now. Its row has the time of sending: alerts see
// what has come since they last looked, and ingestion refuses what is two days old.
func (c *Client) envelope(e schedule.Event, now time.Time) envelope {
	base := baseData{Ver: 2, Name: e.Name, Properties: map[string]string{
		event.ID: e.ID(), event.At: e.At.UTC().Format(time.RFC3339),
		event.Tenant: e.Tenant, event.Alias: e.Alias, event.Job: e.Job, event.Status: string(e.Status), event.Detail: cut(e.Detail),
	}}
	if e.Name == schedule.Terminal {
		base.Measurements = map[string]float64{
			event.Items: float64(e.Lines), event.Answered: float64(e.Results.Answered), event.Refused: float64(e.Results.Refused),
			event.Input: float64(e.Results.Input), event.Cached: float64(e.Results.Cached), event.Output: float64(e.Results.Output),
		}
	}
	return envelope{
		Ver: 1, Name: "Microsoft.ApplicationInsights.Event", Time: now.UTC().Format(time.RFC3339Nano), Key: c.Target.Key,
		Tags: map[string]string{"ai.cloud.role": "onedoor-control-plane"}, Data: data{Type: "EventData", Base: base},
	}
}

// cut is as much of a text as a property holds.
func cut(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), maxText)])
}

// Package ingestion is a double of the endpoint that Application Insights takes
// telemetry at, for tests: it refuses what the published description of the endpoint
// refuses, and keeps events as the rows of the table that they become. It knows
// events alone; a row is there at once, where Azure takes minutes.
// https://github.com/Azure/azure-rest-api-specs/tree/main/specification/applicationinsights/data-plane/Monitor.Exporters
package ingestion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Service is an endpoint of one resource.
type Service struct {
	Key      string           // of the resource
	Token    string           // that is taken
	Resource string           // its ARM id, in lower case, as rows have it
	Now      func() time.Time // that the age of telemetry is measured by

	mu     sync.Mutex
	rows   []map[string]any
	faults []Fault
}

// Fault is what befalls a request.
type Fault struct {
	Status int  // that it is refused with; 0 for none
	Lost   bool // the answer, after the events were taken
	Item   bool // one event of it is refused, the others are taken
}

// Inject lets faults befall the next requests, one each.
func (s *Service) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Rows are the rows of AppEvents, in the order in which they came.
func (s *Service) Rows() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows)
}

type problem struct {
	Index   int    `json:"index"`
	Status  int    `json:"statusCode"`
	Message string `json:"message"`
}

type answer struct {
	Received int       `json:"itemsReceived"`
	Accepted int       `json:"itemsAccepted"`
	Errors   []problem `json:"errors"`
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fault Fault
	if len(s.faults) > 0 {
		fault, s.faults = s.faults[0], s.faults[1:]
	}
	var items []json.RawMessage
	switch err := json.NewDecoder(r.Body).Decode(&items); {
	case r.Method != http.MethodPost || r.URL.Path != "/v2.1/track":
		http.NotFound(w, r)
		return
	case fault.Status != 0:
		reply(w, fault.Status, answer{Received: len(items)})
		return
	case r.Header.Get("Authorization") != "Bearer "+s.Token:
		reply(w, http.StatusUnauthorized, answer{Received: len(items)})
		return
	case err != nil || r.Header.Get("Content-Type") != "application/json":
		reply(w, http.StatusBadRequest, answer{Errors: []problem{{Message: fmt.Sprint("not a list of telemetry: ", err)}}})
		return
	}
	said := answer{Received: len(items), Errors: []problem{}}
	for i, item := range items {
		row, err := s.row(item)
		switch {
		case err != nil:
			said.Errors = append(said.Errors, problem{i, http.StatusBadRequest, err.Error()})
		case fault.Item && i == 0:
			said.Errors = append(said.Errors, problem{i, http.StatusTooManyRequests, "later"})
		default:
			s.rows = append(s.rows, row)
			said.Accepted++
		}
	}
	switch {
	case fault.Lost:
		panic(http.ErrAbortHandler)
	case said.Accepted == said.Received:
		reply(w, http.StatusOK, said)
	case said.Accepted == 0:
		reply(w, http.StatusBadRequest, said)
	default:
		reply(w, http.StatusPartialContent, said)
	}
}

func reply(w http.ResponseWriter, status int, said answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(said)
}

// How old telemetry may be, and how much of the future.
const (
	oldest = 48 * time.Hour
	newest = 2 * time.Hour
)

// The longest name of an event, and value of a property.
const (
	maxName = 512
	maxText = 8192
)

// row is the row that an item becomes, as AppEvents has it.
// https://learn.microsoft.com/azure/azure-monitor/reference/tables/appevents
func (s *Service) row(item json.RawMessage) (map[string]any, error) {
	var e struct {
		Ver        int               `json:"ver"`
		Name       string            `json:"name"`
		Time       time.Time         `json:"time"`
		Key        string            `json:"iKey"`
		SampleRate float64           `json:"sampleRate"`
		Tags       map[string]string `json:"tags"`
		Data       struct {
			Type string `json:"baseType"`
			Base struct {
				Ver          int                `json:"ver"`
				Name         string             `json:"name"`
				Properties   map[string]string  `json:"properties"`
				Measurements map[string]float64 `json:"measurements"`
			} `json:"baseData"`
		} `json:"data"`
	}
	in := json.NewDecoder(bytes.NewReader(item))
	in.DisallowUnknownFields()
	if err := in.Decode(&e); err != nil {
		return nil, err
	}
	base, age := e.Data.Base, s.Now().Sub(e.Time)
	switch {
	case e.Key != s.Key:
		return nil, fmt.Errorf("iKey %q is of no resource", e.Key)
	case e.Ver != 1 || base.Ver != 2 || e.Name != "Microsoft.ApplicationInsights.Event" || e.Data.Type != "EventData":
		return nil, fmt.Errorf("%q of version %d with %q of version %d is no event", e.Name, e.Ver, e.Data.Type, base.Ver)
	case age > oldest || age < -newest:
		return nil, fmt.Errorf("time %s is not within the last %s", e.Time, oldest)
	case base.Name == "" || len(base.Name) > maxName:
		return nil, fmt.Errorf("name of %d characters, want 1 to %d", len(base.Name), maxName)
	}
	properties, measurements := map[string]any{}, map[string]any{}
	for name, value := range base.Properties {
		if len([]rune(value)) > maxText {
			return nil, fmt.Errorf("property %s of %d characters, want at most %d", name, len([]rune(value)), maxText)
		}
		properties[name] = value
	}
	for name, value := range base.Measurements {
		measurements[name] = value
	}
	return map[string]any{
		"TimeGenerated": e.Time.UTC(), "Name": base.Name, "Properties": properties, "Measurements": measurements, "_ResourceId": s.Resource,
	}, nil
}

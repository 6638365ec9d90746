// Package config owns what the program is told, as docs/contracts/control-plane.md
// has it: environment variables, and the settings that one of them names. It reads
// all of them and says everything that is wrong at once.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"onedoor/internal/settings"
	"onedoor/internal/trust"
	"onedoor/services/controlplane/insights"
)

// Serve is what `serve` is told.
type Serve struct {
	Settings   settings.Settings
	BatchURL   string // of the batch account; "" in a stack without batch deployments
	BlobURL    string
	TableURL   string
	BusHost    string
	KeysDir    string
	Signing    string // id of the key that signs
	TLSFile    string // certificate, chain and key as PEM
	DoorPort   int
	StatusPort int
	Lease      string
	Audience   string          // of the tokens that pods show
	Events     insights.Target // that takes events
	Authority  string          // host of Entra, as workload identity names it; "" for the public cloud
}

// reader reads variables and gathers what is wrong.
type reader struct {
	lookup func(string) (string, bool)
	found  []error
}

func (r *reader) bad(name, format string, args ...any) {
	r.found = append(r.found, fmt.Errorf("%s: %s; docs/contracts/control-plane.md says what it is", name, fmt.Sprintf(format, args...)))
}

func (r *reader) text(name string) string {
	value, ok := r.lookup(name)
	if !ok || value == "" {
		r.bad(name, "is not set")
	}
	return value
}

func (r *reader) port(name string) int {
	value := r.text(name)
	n, err := strconv.Atoi(value)
	if value != "" && (err != nil || n < 1 || n > 65535) {
		r.bad(name, "got %q, want a port", value)
	}
	return n
}

// ReadServe reads what `serve` is told from variables, which lookup finds.
func ReadServe(lookup func(string) (string, bool)) (Serve, error) {
	r := &reader{lookup: lookup}
	s := Serve{
		BlobURL: r.text("ONEDOOR_BLOB_URL"), TableURL: r.text("ONEDOOR_TABLE_URL"), BusHost: r.text("ONEDOOR_BUS_HOST"),
		KeysDir: r.text("ONEDOOR_KEYS_DIR"), Signing: r.text("ONEDOOR_SIGNING_KEY"), TLSFile: r.text("ONEDOOR_TLS_FILE"),
		DoorPort: r.port("ONEDOOR_DOOR_PORT"), StatusPort: r.port("ONEDOOR_STATUS_PORT"), Lease: r.text("ONEDOOR_LEASE"), Audience: r.text("ONEDOOR_TOKEN_AUD"),
	}
	s.BatchURL, _ = lookup("ONEDOOR_BATCH_URL")
	s.Authority, _ = lookup("AZURE_AUTHORITY_HOST")
	const connection = "APPLICATIONINSIGHTS_CONNECTION_STRING"
	if text := r.text(connection); text != "" {
		var err error
		if s.Events, err = insights.Parse(text); err != nil {
			r.bad(connection, "%s", err)
		}
	}
	if path := r.text("ONEDOOR_CONFIG_FILE"); path != "" {
		s.Settings = r.settings(path)
	}
	return s, errors.Join(r.found...)
}

// settings reads the file of the settings. Fields that it does not know are from a
// newer deployment, and left alone.
func (r *reader) settings(path string) settings.Settings {
	const name = "ONEDOOR_CONFIG_FILE"
	var s settings.Settings
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		r.bad(name, "%s", err)
		return s
	}
	for _, f := range []struct{ field, value string }{
		{"directory", s.Directory}, {"audience", s.Audience}, {"region", s.Region}, {"topic", s.Topic}, {"ledger", s.Ledger}, {"inputContainer", s.InputContainer},
	} {
		if f.value == "" {
			r.bad(name, "field %s is empty", f.field)
		}
	}
	if s.MaxLines < 1 || s.MaxFileBytes < 1 || s.DeadlineSeconds < 1 {
		r.bad(name, "maxLines %d, maxFileBytes %d and deadlineSeconds %d, want all above 0", s.MaxLines, s.MaxFileBytes, s.DeadlineSeconds)
	}
	for _, err := range s.Check() {
		r.bad(name, "%s", err)
	}
	return s
}

// Nightly is what `nightly` is told.
type Nightly struct {
	URL       string // of the control plane
	TokenFile string
	Authority string // PEM, of who issued its certificate; "" for a public one
}

// ReadNightly reads what `nightly` is told.
func ReadNightly(lookup func(string) (string, bool)) (Nightly, error) {
	r := &reader{lookup: lookup}
	n := Nightly{URL: r.text("ONEDOOR_CONTROL_PLANE_URL"), TokenFile: r.text("ONEDOOR_TOKEN_FILE")}
	const authority = "ONEDOOR_CONTROL_PLANE_AUTHORITY"
	n.Authority, _ = lookup(authority)
	if _, err := trust.Client(n.Authority); err != nil {
		r.bad(authority, "%s", err)
	}
	return n, errors.Join(r.found...)
}

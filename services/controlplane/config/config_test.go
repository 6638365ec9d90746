package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/settings"
	"onedoor/services/controlplane/config"
)

// told is a full set of variables, with settings in a file.
func told(t *testing.T, change func(*settings.Settings)) map[string]string {
	t.Helper()
	s := settings.Settings{
		Directory: "d", Audience: "a", Region: "swedencentral", Topic: "ingest", Ledger: "ledger", InputContainer: "in", OutputContainer: "out",
		OutputExpirySeconds: 1_209_600, PollSeconds: 60, DeadlineSeconds: 86_400, MaxLines: 100_000, MaxFileBytes: 200_000_000,
	}
	change(&s)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "{", `{"addedLater":1,`, 1)), 0o600))
	return map[string]string{
		"ONEDOOR_CONFIG_FILE": path, "ONEDOOR_BATCH_URL": "", "ONEDOOR_BLOB_URL": "https://b", "ONEDOOR_TABLE_URL": "https://t", "ONEDOOR_BUS_HOST": "h",
		"ONEDOOR_KEYS_DIR": "/keys", "ONEDOOR_SIGNING_KEY": "1", "ONEDOOR_TLS_FILE": "/tls", "ONEDOOR_DOOR_PORT": "8443", "ONEDOOR_STATUS_PORT": "9090",
		"ONEDOOR_LEASE": "control-plane", "ONEDOOR_TOKEN_AUD": "onedoor-control-plane",
		"APPLICATIONINSIGHTS_CONNECTION_STRING": "InstrumentationKey=key;IngestionEndpoint=https://in.example.com/",
	}
}

func read(variables map[string]string) (config.Serve, error) {
	return config.ReadServe(func(name string) (string, bool) { v, ok := variables[name]; return v, ok })
}

func TestWhatServeIsTold(t *testing.T) {
	t.Parallel()
	got, err := read(told(t, func(*settings.Settings) {}))
	require.NoError(t, err, "no batch account is legal, and so are settings of a newer deployment")
	assert.Equal(t, []any{8443, 9090, "ledger"}, []any{got.DoorPort, got.StatusPort, got.Settings.Ledger})
	for name, want := range map[string]string{
		"ONEDOOR_BLOB_URL": "is not set", "ONEDOOR_TABLE_URL": "is not set", "ONEDOOR_BUS_HOST": "is not set", "ONEDOOR_KEYS_DIR": "is not set", "ONEDOOR_SIGNING_KEY": "is not set",
		"ONEDOOR_TLS_FILE": "is not set", "ONEDOOR_LEASE": "is not set", "ONEDOOR_TOKEN_AUD": "is not set", "ONEDOOR_CONFIG_FILE": "is not set", "ONEDOOR_DOOR_PORT": "is not set", "APPLICATIONINSIGHTS_CONNECTION_STRING": "is not set",
	} {
		variables := told(t, func(*settings.Settings) {})
		delete(variables, name)
		_, err := read(variables)
		require.ErrorContains(t, err, name+": "+want)
		assert.Len(t, strings.Split(err.Error(), "\n"), 1, name)
	}
	variables := told(t, func(*settings.Settings) {})
	variables["ONEDOOR_DOOR_PORT"], variables["ONEDOOR_STATUS_PORT"] = "https", "65536"
	variables["APPLICATIONINSIGHTS_CONNECTION_STRING"] = "InstrumentationKey=key"
	_, err = read(variables)
	require.ErrorContains(t, err, `ONEDOOR_DOOR_PORT: got "https", want a port`)
	require.ErrorContains(t, err, `ONEDOOR_STATUS_PORT: got "65536", want a port`)
	require.ErrorContains(t, err, `APPLICATIONINSIGHTS_CONNECTION_STRING: connection string has IngestionEndpoint ""`)
}

func TestSettingsThatServeRefuses(t *testing.T) {
	t.Parallel()
	for text, change := range map[string]func(*settings.Settings){
		"59 s between polls, want at least 60": func(s *settings.Settings) { s.PollSeconds = 59 },
		"13 days, want 14 to 30":               func(s *settings.Settings) { s.OutputExpirySeconds = 13 * 86_400 },
		"no container of outputs":              func(s *settings.Settings) { s.OutputContainer = "" },
		"field ledger is empty":                func(s *settings.Settings) { s.Ledger = "" },
		"maxLines 0":                           func(s *settings.Settings) { s.MaxLines = 0 },
	} {
		_, err := read(told(t, change))
		require.ErrorContains(t, err, "ONEDOOR_CONFIG_FILE: ")
		require.ErrorContains(t, err, text)
	}
}

package settings

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is what a deployment tells.
func told(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"ONEDOOR_ALIAS": "small", "ONEDOOR_ATTEMPTS": "4", "ONEDOOR_BACKOFF": "1s,2s,4s", "ONEDOOR_BLOB_URL": "https://st.blob.core.windows.net/",
		"ONEDOOR_BUS_HOST": "sb.servicebus.windows.net", "ONEDOOR_CHECKPOINT_ITEMS": "25", "ONEDOOR_CONTROL_PLANE_URL": "https://batch", "ONEDOOR_FETCH": "1",
		"ONEDOOR_GATEWAY_AUDIENCE": "api://gateway", "ONEDOOR_GATEWAY_URL": "https://gateway/openai/v1", "ONEDOOR_GIVE_UP": "1m0s", "ONEDOOR_GRACE": "50s",
		"ONEDOOR_KEYS_DIR": t.TempDir(), "ONEDOOR_LOCK_RENEW": "0s", "ONEDOOR_MESSAGES": "many", "ONEDOOR_MODALITY": "text", "ONEDOOR_PARALLEL": "10",
		"ONEDOOR_PAYLOADS_CONTAINER": "payloads-text", "ONEDOOR_QUEUE": "text", "ONEDOOR_REQUESTS_PER_MINUTE": "40", "ONEDOOR_RESULTS_CONTAINER": "results-text",
		"ONEDOOR_STATUS_PORT": "9090", "ONEDOOR_TOKEN_FILE": "/token", "ONEDOOR_TOKENS_PER_MINUTE": "60000",
	}
}

func read(env map[string]string) (Settings, error) {
	return Read(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
}

func TestWhatADeploymentTells(t *testing.T) {
	t.Parallel()
	env := told(t)
	s, err := read(env)
	require.NoError(t, err)
	assert.Equal(t, Settings{
		Modality: "text", Queue: "text", BusHost: "sb.servicebus.windows.net", Parallel: 10, Fetch: 1, GiveUp: time.Minute, Grace: 50 * time.Second,
		Attempts: 4, Backoff: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, Check: 25, Alias: "small", Gateway: "https://gateway/openai/v1",
		Audience: "api://gateway", Tokens: 60000, Requests: 40, BlobURL: "https://st.blob.core.windows.net", Payloads: "payloads-text", Results: "results-text",
		Keys: env["ONEDOOR_KEYS_DIR"], Control: "https://batch", TokenFile: "/token", Port: 9090, MaxBytes: 100 << 20, MaxAnswer: 100 << 20, Memory: 3128 << 20, MaxOutput: 1024,
	}, s)
	env["ONEDOOR_MESSAGES"], env["ONEDOOR_PAYLOAD_MIB"], env["ONEDOOR_MAX_OUTPUT_TOKENS"] = "one", "10", "500"
	env["ONEDOOR_GATHER_ITEMS"], env["ONEDOOR_PRICE_AS"] = "8", "gpt-4.1/GlobalStandard"
	s, err = read(env)
	require.NoError(t, err)
	assert.True(t, s.One)
	assert.EqualValues(t, 10<<20, s.MaxBytes)
	assert.EqualValues(t, 10<<20, s.MaxAnswer)
	assert.Equal(t, 500, s.MaxOutput)
	assert.Equal(t, 8, s.Gather)
	assert.Equal(t, Price{"gpt-4.1", "GlobalStandard"}, s.PriceAs)
}

func TestEveryVariableThatIsMissingIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := read(nil)
	for _, name := range slices.Sorted(maps.Keys(told(t))) {
		assert.ErrorContains(t, err, name+`: got ""`)
	}
	assert.Equal(t, 24, strings.Count(err.Error(), "ONEDOOR_"))
}

func TestVariablesThatAreWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ wrong, right, want string }{
		"ONEDOOR_PARALLEL":                {"11", "10", "a number from 1 to 10"},
		"ONEDOOR_FETCH":                   {"0", "1", "a number from 1 to 1000"},
		"ONEDOOR_MESSAGES":                {"two", "one", "one of many, one"},
		"ONEDOOR_LOCK_RENEW":              {"100", "100s", "a duration of at least 0s"},
		"ONEDOOR_GIVE_UP":                 {"0s", "1s", "a duration of at least 1s"},
		"ONEDOOR_BACKOFF":                 {"1s;2s", "0s", "durations with commas"},
		"ONEDOOR_GATEWAY_URL":             {"gateway", "http://gateway", "a URL"},
		"ONEDOOR_KEYS_DIR":                {"/nowhere", "/", "a directory"},
		"ONEDOOR_STATUS_PORT":             {"65536", "65535", "a number from 1 to 65535"},
		"ONEDOOR_PAYLOAD_MIB":             {"101", "100", "a number from 1 to 100"},
		"ONEDOOR_CONTROL_PLANE_AUTHORITY": {"https://batch", "", "the certificate of an authority as PEM"},
		"ONEDOOR_GATHER_ITEMS":            {"-1", "0", "a number from 0 to 100"},
		"ONEDOOR_PRICE_AS":                {"gpt-4.1", "gpt-4.1/Standard", "model/SKU"},
		"ONEDOOR_TOKENS_PER_MINUTE":       {"many", "1", "a number"},
		"ONEDOOR_PAYLOADS_CONTAINER":      {"", "x", "a value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := told(t)
			env[name] = c.wrong
			_, err := read(env)
			require.ErrorContains(t, err, name+`: got "`+c.wrong+`", want `+c.want)
			assert.Equal(t, 1, strings.Count(err.Error(), "ONEDOOR_"))
			env[name] = c.right
			_, err = read(env)
			assert.NoError(t, err)
		})
	}
}

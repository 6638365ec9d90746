package insights_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/account"
	"onedoor/services/controlplane/insights"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/schedule"
	"onedoor/services/internal/ingestion"
)

var now = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// credential has a token for ingestion alone.
type credential string

func (c credential) GetToken(_ context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if strings.Join(options.Scopes, " ") != "https://monitor.azure.com//.default" {
		return azcore.AccessToken{Token: "for something else"}, nil
	}
	return azcore.AccessToken{Token: string(c)}, nil
}

// open is an endpoint, and a client of it.
func open(t *testing.T) (*ingestion.Service, *insights.Client) {
	t.Helper()
	service := &ingestion.Service{Key: "key", Token: "control-plane", Resource: "/appi", Now: func() time.Time { return now }}
	server := httptest.NewTLSServer(service)
	t.Cleanup(server.Close)
	target, err := insights.Parse("InstrumentationKey=key;IngestionEndpoint=" + server.URL + "/;LiveEndpoint=https://live")
	require.NoError(t, err)
	return service, &insights.Client{Target: target, Token: credential("control-plane"), HTTP: server.Client(), Now: service.Now}
}

// ended is an event of a job that ended three days before it is sent.
var ended = schedule.Event{
	Name: schedule.Terminal, At: now.Add(-72 * time.Hour), Tenant: "desk", Alias: "chat", Job: "batch_1", Status: account.Expired, Lines: 10,
	Results: jobs.Results{Answered: 6, Refused: 1, Failed: 2, Missing: 1, Usage: jobs.Usage{Input: 100, Cached: 40, Output: 50}},
}

func TestAnEventBecomesARow(t *testing.T) {
	t.Parallel()
	service, client := open(t)
	foreign := schedule.Event{Name: schedule.Foreign, At: now, Batch: "batch_x", Detail: strings.Repeat("ö", 9000)}
	taken, err := client.Send(t.Context(), []schedule.Event{ended, foreign})
	require.NoError(t, err, "however old it is, and however much there is to say")
	assert.Equal(t, []int{0, 1}, taken)
	rows := service.Rows()
	require.Len(t, rows, 2)
	assert.Equal(t, map[string]any{
		"TimeGenerated": now, "Name": "batch.job.terminal", "_ResourceId": "/appi",
		"Properties": map[string]any{
			"id": ended.ID(), "at": "2026-11-26T12:00:00Z", "tenant": "desk", "alias": "chat", "jobId": "batch_1", "status": "expired", "detail": "",
		},
		"Measurements": map[string]any{"items": 10.0, "answered": 6.0, "refused": 1.0, "inputTokens": 100.0, "cachedTokens": 40.0, "outputTokens": 50.0},
	}, rows[0])
	assert.Equal(t, map[string]any{}, rows[1]["Measurements"])
	assert.NotEqual(t, ended.ID(), foreign.ID())
}

func TestWhatIsNotTakenIsSaid(t *testing.T) {
	t.Parallel()
	events := []schedule.Event{ended, {Name: schedule.Late, At: now, Job: "batch_2"}, {At: now, Job: "nameless"}}
	for name, c := range map[string]struct {
		change func(*ingestion.Service, *insights.Client)
		events []schedule.Event
		taken  []int
		rows   int
		want   string
	}{
		"all is well":          {func(*ingestion.Service, *insights.Client) {}, events[:2], []int{0, 1}, 2, ""},
		"one is refused":       {func(*ingestion.Service, *insights.Client) {}, events, []int{0, 1}, 2, "event 2 of 3: 400 name of 0 characters"},
		"one must wait":        {func(s *ingestion.Service, _ *insights.Client) { s.Inject(ingestion.Fault{Item: true}) }, events[:2], []int{1}, 1, "event 0 of 2: 429 later"},
		"all must wait":        {func(s *ingestion.Service, _ *insights.Client) { s.Inject(ingestion.Fault{Status: 439}) }, events[:2], nil, 0, "insights: 439"},
		"the service is down":  {func(s *ingestion.Service, _ *insights.Client) { s.Inject(ingestion.Fault{Status: 503}) }, events[:2], nil, 0, "insights: 503"},
		"the answer is lost":   {func(s *ingestion.Service, _ *insights.Client) { s.Inject(ingestion.Fault{Lost: true}) }, events[:2], nil, 2, "EOF"},
		"no role":              {func(_ *ingestion.Service, c *insights.Client) { c.Token = credential("nobody") }, events[:2], nil, 0, "insights: 401"},
		"another resource's":   {func(_ *ingestion.Service, c *insights.Client) { c.Target.Key = "other" }, events[:2], nil, 0, `iKey \"other\"`},
		"a proxy that says ok": {func(_ *ingestion.Service, c *insights.Client) { c.HTTP = &http.Client{Transport: hollow{}} }, events[:2], nil, 0, "insights: 200 <html>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, client := open(t)
			c.change(service, client)
			taken, err := client.Send(t.Context(), c.events)
			assert.Equal(t, c.taken, taken)
			assert.Len(t, service.Rows(), c.rows)
			if c.want == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.want)
			}
		})
	}
}

// hollow answers everything with a page.
type hollow struct{}

func (hollow) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, _ = w.WriteString("<html>")
	return w.Result(), nil
}

func TestConnectionStrings(t *testing.T) {
	t.Parallel()
	got, err := insights.Parse(" instrumentationkey=k ;IngestionEndpoint=https://westeurope-5.in.applicationinsights.azure.com/;LiveEndpoint=https://l/;ApplicationId=a")
	require.NoError(t, err)
	assert.Equal(t, insights.Target{Endpoint: "https://westeurope-5.in.applicationinsights.azure.com", Key: "k"}, got)
	for text, want := range map[string]string{
		"": "no InstrumentationKey", "IngestionEndpoint=https://x": "no InstrumentationKey",
		"InstrumentationKey=k": `IngestionEndpoint ""`, "InstrumentationKey=k;IngestionEndpoint=http://x/": `IngestionEndpoint "http://x"`,
	} {
		_, err := insights.Parse(text)
		assert.ErrorContains(t, err, want, text)
	}
}

package stacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/kube"
	"onedoor/internal/settings"
)

// plainNightly is a nightly job that dev takes.
var plainNightly = entry{
	"schedule": "30 2 * * 1-5", "tenant": "labs", "alias": "chat", "source": "nightly/extra/", "deadline": "24h",
	"items": 100, "tokensPerItem": 800, "bytesPerItem": 4000,
}

func TestTheControlPlaneIsChecked(t *testing.T) {
	t.Parallel()
	const extra = "batch.nightly.extra"
	refuse(t, map[string]refusal{
		"NoAudience":        {"batch.audience", "", "api://b", `onedoor:batch.audience: got "", want the audience of the tokens`},
		"NoAuthority":       {"batch.authority", "", nil, `onedoor:batch.authority: want the certificate of the authority that issues the door's, as PEM`},
		"CertificateIsAURL": {"batch.certificate", "https://v/c", "door", `onedoor:batch.certificate: got "https://v/c", want the name of a certificate`},
		"KeyTooLow":         {"batch.key", 0, 1, `onedoor:batch.key: got 0, want 1 to 1000000`},
		"ExpiryTooShort":    {"batch.outputDays", 13, 14, `onedoor:batch.outputDays: got 13, want an expiry that Azure takes: 13 days, want 14 to 30`},
		"ExpiryTooLong":     {"batch.outputDays", 31, 30, `onedoor:batch.outputDays: got 31, want`},
		"PollTooOften":      {"batch.poll", "59s", "1m", `onedoor:batch.poll: got 59s, want 1m to 1h`},
		"DeadlineTooShort":  {"batch.deadline", "23h", "24h", `onedoor:batch.deadline: got 23h0m0s, want 24h0m0s to 336h0m0s`},
		"ImageMoves":        {"batch.image.tag", "latest", "2", `onedoor:batch.image.tag: got "latest"`},
		"ScheduleIsNone":    {extra, with(plainNightly, "schedule", "nightly"), plainNightly, `onedoor:batch.nightly.extra.schedule: got "nightly", want five fields of cron`},
		"HourOfNoDay":       {extra, with(plainNightly, "schedule", "0 25 * * *"), plainNightly, `onedoor:batch.nightly.extra.schedule: got "0 25 * * *", want five fields of cron`},
		"SourceIsNoPrefix":  {extra, with(plainNightly, "source", "/a"), with(plainNightly, "source", "a/b_c/"), `onedoor:batch.nightly.extra.source: got "/a", want the beginning of blob names`},
		"DeadlineIsNow":     {extra, with(plainNightly, "deadline", "59m"), with(plainNightly, "deadline", "1h"), `onedoor:batch.nightly.extra.deadline: got 59m0s, want 1h to`},
		"NameMalformed":     {"batch.nightly.Extra", plainNightly, nil, `onedoor:batch.nightly.Extra: want a name`},
		"AliasUnknown":      {extra, with(plainNightly, "alias", "chatt"), plainNightly, `onedoor:batch.nightly.extra.alias: got "chatt", want the name of an alias`},
		"AliasTakesNone":    {extra, with(plainNightly, "alias", "small"), plainNightly, `onedoor:batch.nightly.extra.alias: got "small", want an alias with a batch deployment: add models.small.batch`},
		"TenantUnknown":     {extra, with(plainNightly, "tenant", "lab"), plainNightly, `onedoor:batch.nightly.extra.tenant: got "lab", want the name of a tenant below onedoor:tenants, which pays for it; nearest is "labs"`},
		"TenantStaysHome":   {extra, with(plainNightly, "tenant", "helpdesk"), plainNightly, `onedoor:batch.nightly.extra.tenant: got "helpdesk", want a tenant whose residency SKU GlobalBatch keeps; "helpdesk" is regional`},
		"ItemTooLarge":      {extra, with(plainNightly, "tokensPerItem", 500_001), with(plainNightly, "tokensPerItem", 500_000), `onedoor:batch.nightly.extra.items: got 100, want a job that the deployment takes, whose quota is 500000 enqueued tokens for each of 2 nightly jobs: 500001 tokens of input for an item`},
	})
}

func TestATenantMustBeSoldTheModelOfItsJob(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "plans.full.aliases", []string{"small"})
	_, err := Parse("dev", v)
	require.ErrorContains(t, err, `onedoor:batch.nightly.tickets.tenant: got "labs", want a tenant whose plan sells alias "chat"; plan "full" does not`)
}

// A deadline that Azure's window may miss is legal: most jobs end much sooner.
func TestDeadlinesThatAzureMayMissAreSaid(t *testing.T) {
	t.Parallel()
	warnings := func(deadline string, items int) []string {
		v := values(t, "dev")
		set(t, v, "batch.nightly.tickets.deadline", deadline)
		set(t, v, "batch.nightly.tickets.items", items)
		cfg, err := Parse("dev", v)
		require.NoError(t, err)
		return cfg.Warnings
	}
	assert.Empty(t, warnings("24h", 1250), "1250 x 800 tokens are all that may be enqueued")
	assert.Equal(t, []string{"onedoor:batch.nightly.tickets.deadline: 23h0m0s is shorter than what Azure may take: 1250 items in files of 1250 lines (at most 100000 lines, 200000000 bytes and 1000000 enqueued tokens) = 1 jobs, 1 at once x 1000000 tokens; 1 after one another x 24h0m0s = 24h0m0s"}, warnings("23h", 1250))
	assert.Contains(t, strings.Join(warnings("47h", 1251), "\n"), "47h0m0s is shorter than what Azure may take: 1251 items in files of 1250 lines")
	assert.Empty(t, warnings("48h", 1251))
}

func TestSettingsAreWhatTheConfigurationSays(t *testing.T) {
	t.Parallel()
	cfg, err := Parse("prod", values(t, "prod"))
	require.NoError(t, err)
	s := cfg.batchSettings()
	assert.Equal(t, map[string]settings.Alias{
		"chat":   {Deployment: "chat", Model: "gpt-5.1", SKU: "GlobalBatch", Residency: "global", EnqueuedTokens: 200_000_000},
		"reason": {Deployment: "reason", Model: "gpt-5.4", SKU: "GlobalBatch", Residency: "global", EnqueuedTokens: 100_000_000},
	}, s.Aliases)
	assert.Equal(t, settings.Intake{ContentType: "application/vnd.onedoor.text+json", Payloads: "payloads-text", Results: "results-text", Alias: "small", PriceAs: "gpt-5-mini/DataZoneStandard", TimeToLiveSeconds: 24*3600 + 10*60}, s.Queues["text"])
	assert.Equal(t, "chat", s.Queues["image"].Alias, "the intake takes what its workers work on")
	assert.Equal(t, "gpt-5.1/Standard", s.Queues["image"].PriceAs, "and counts it as they do: they call the gateway")
	assert.Equal(t, settings.Nightly{Schedule: "0 1 * * *", Tenant: "labs", Alias: "chat", Source: "nightly/tickets/", DeadlineSeconds: 26 * 3600}, s.NightlyJobs["tickets"])
	assert.Equal(t, []int{1_209_600, 60, 86_400}, []int{s.OutputExpirySeconds, s.PollSeconds, s.DeadlineSeconds})
	assert.Len(t, s.Tenants, len(cfg.Tenants))
}

// The door lets in whom the table of flows names, and nobody else.
func TestCallersOfTheDoor(t *testing.T) {
	t.Parallel()
	for stack, want := range map[string][]string{
		"dev":  {"10.40.0.0/23", "10.40.9.128/27"},
		"prod": {"10.0.0.0/16", "10.48.0.0/23", "10.48.9.128/27"},
	} {
		cfg, err := Parse(stack, values(t, stack))
		require.NoError(t, err)
		var got []string
		for _, prefix := range cfg.callers(kube.Batch) {
			got = append(got, prefix.String())
		}
		assert.Equal(t, want, got, "%s: peers, workers and the runner", stack)
	}
}

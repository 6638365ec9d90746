package prices

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryRowHasAPriceAndALink(t *testing.T) {
	t.Parallel()
	table, err := Load()
	require.NoError(t, err)
	assert.Regexp(t, `^\d{4}-\d\d-\d\d$`, table.AsOf())
	require.NotEmpty(t, table.AllTokens())
	for _, row := range table.AllTokens() {
		assert.Positive(t, row.Input, "%s %s", row.Model, row.SKU)
		assert.LessOrEqual(t, row.Cached, row.Input, "%s %s: a cache makes nothing dearer", row.Model, row.SKU)
		assert.True(t, strings.HasPrefix(row.Source, "https://"), "%s %s", row.Model, row.SKU)
		for _, amount := range []USD{row.Input, row.Cached, row.Output} {
			assert.Zero(t, amount%1e6, "%s %s: the price of one token is whole", row.Model, row.SKU)
		}
		again, ok := table.Tokens(row.Model, row.SKU)
		assert.True(t, ok)
		assert.Equal(t, row, again)
	}
	for _, prices := range []map[string]Price{table.provisioned, table.vms, table.metered} {
		require.NotEmpty(t, prices)
		for key, price := range prices {
			assert.Positive(t, price.USD, key)
			assert.True(t, strings.HasPrefix(price.Source, "https://"), key)
		}
	}
	for _, kind := range []struct {
		kind Kind
		sku  string
	}{{AKS, "Standard"}, {Bus, "Premium"}, {Bus, "Standard"}, {DNSZone, ""}, {Gateway, "Developer"}, {Gateway, "Premium"}, {LoadBalancer, ""}, {NATGateway, ""}, {PrivateEndpoint, ""}, {PublicAddress, ""}, {Registry, "Premium"}} {
		price, ok := table.Fixed(kind.kind, kind.sku)
		assert.True(t, ok && price.USD > 0, "%v", kind)
	}
	_, ok := table.Fixed(Gateway, "Isolated")
	assert.False(t, ok)
	_, ok = table.VM("Standard_ND96isr_H200_v5")
	assert.False(t, ok, "nothing is made up")
	assert.Len(t, table.VMs(), len(table.vms))
}

// The batch door is half the price of the same zone.
func TestBatchCostsHalf(t *testing.T) {
	t.Parallel()
	table, err := Load()
	require.NoError(t, err)
	batches := 0
	for _, row := range table.AllTokens() {
		zone, batch := strings.CutSuffix(row.SKU, "Batch")
		if !batch {
			continue
		}
		batches++
		full, ok := table.Tokens(row.Model, zone+"Standard")
		require.True(t, ok, "%s %s", row.Model, zone)
		assert.Equal(t, full.Input, row.Input*2, "%s %s", row.Model, row.SKU)
		assert.Equal(t, full.Output, row.Output*2, "%s %s", row.Model, row.SKU)
		assert.Equal(t, row.Input, row.Cached, "%s %s", row.Model, row.SKU)
	}
	assert.Positive(t, batches)
}

func TestCost(t *testing.T) {
	t.Parallel()
	table, err := Load()
	require.NoError(t, err)
	price, ok := table.Tokens("gpt-5.1", "GlobalStandard")
	require.True(t, ok)
	for name, c := range map[string]struct {
		input, cached, output int64
		want                  string
	}{
		"nothing":          {0, 0, 0, "0.000000"},
		"a million in":     {1e6, 0, 0, "1.250000"},
		"all of it cached": {1e6, 1e6, 0, "0.125000"},
		"some of it":       {1e6, 400e3, 0, "0.800000"},
		"a million out":    {0, 0, 1e6, "10.000000"},
		"one cached token": {1, 1, 0, "0.000000"},
		"a usual call":     {1200, 200, 300, "0.004275"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, price.Cost(c.input, c.cached, c.output).String())
		})
	}
	// A million calls of one cached token cost what a million tokens cost.
	var sum USD
	for range int(1e6) {
		sum = sum.Plus(price.Cost(1, 1, 0))
	}
	assert.Equal(t, price.Cost(1e6, 1e6, 0), sum)
}

func TestAmountsStayWithinTheirRange(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "-1.250000", Dollars(-1).Plus(USD(-25e10)).String())
	assert.Equal(t, USD(math.MaxInt64), Dollars(1e10), "as much as there is room for")
	assert.Equal(t, USD(math.MinInt64), Dollars(-1e10))
	assert.Equal(t, USD(math.MaxInt64), USD(math.MaxInt64).Plus(1))
	assert.Equal(t, USD(math.MinInt64), USD(math.MinInt64).Plus(-1))
	assert.Equal(t, USD(math.MinInt64), USD(math.MinInt64).Times(1))
	assert.Equal(t, USD(math.MaxInt64), USD(math.MinInt64).Times(-1))
	assert.Equal(t, int64(1), USD(500000).Micro())
	assert.Equal(t, int64(0), USD(499999).Micro())
	assert.InDelta(t, 2.5, Dollars(5).Times(1).Float()/2, 1e-12)
}

func TestAmountsAreShownInWholeDollars(t *testing.T) {
	t.Parallel()
	for want, usd := range map[string]USD{"0": Dollars(0), "1": dollar / 2, "999": Dollars(999), "1,000": Dollars(1000), "1,234,568": Dollars(1234567).Plus(dollar / 2)} {
		assert.Equal(t, want, usd.Whole())
	}
	assert.Equal(t, []string{"-999", "-1,000", "12,345,678"}, []string{Grouped(-999), Grouped(-1000), Grouped(12345678)})
}

func TestAWrongTableIsRefused(t *testing.T) {
	t.Parallel()
	sound := "asOf: \"2026-01-01\"\ncurrency: USD\nsources: {a: {url: \"https://a\", read: true}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"a float":        {"vms: [{size: S, perHour: \"1e3\", source: a}]", `"1e3"`},
		"too exact":      {"vms: [{size: S, perHour: \"1.1234567\", source: a}]", "six digits"},
		"negative":       {"vms: [{size: S, perHour: \"-1\", source: a}]", `"-1"`},
		"nothing":        {"vms: [{size: S, perHour: \"\", source: a}]", `""`},
		"too dear":       {"vms: [{size: S, perHour: \"9999999999\", source: a}]", "9999999999"},
		"no source":      {"vms: [{size: S, perHour: \"1\", source: b}]", `no source "b"`},
		"twice":          {"vms: [{size: S, perHour: \"1\", source: a}, {size: S, perHour: \"2\", source: a}]", "S: twice"},
		"unsorted":       {"tokens: [{model: b, sku: S, input: \"1\", source: a}, {model: a, sku: S, input: \"1\", source: a}]", "out of order"},
		"an unknown key": {"vms: [{size: S, perMonth: \"1\", source: a}]", "perMonth"},
		"another coin":   {"currency: EUR", "currency"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := sound
			if strings.HasPrefix(c.text, "currency") {
				text = strings.Replace(sound, "currency: USD\n", "", 1)
			}
			_, err := read([]byte(text + c.text))
			assert.ErrorContains(t, err, c.want)
		})
	}
	table, err := read([]byte(sound + "vms: [{size: S, perHour: \"1.123456\", source: a}]"))
	require.NoError(t, err)
	price, _ := table.VM("S")
	assert.Equal(t, "1.123456", price.USD.String())
}

package az

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func scope() Scope {
	return Scope{
		Project: "onedoor", Stack: "dev", Environment: Dev, SubscriptionID: "11111111-2222-3333-4444-555555555555",
		Location: "swedencentral", Generation: 1, Owner: "platform@example.com", CostCentre: "cc-1",
	}
}

func TestNamesSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	s := scope()
	next := s
	next.Generation = 2
	elsewhere := s
	elsewhere.SubscriptionID = "99999999-2222-3333-4444-555555555555"
	assert.Equal(t, "rg-onedoor-dev-platform", s.Name(ResourceGroup, "platform"))
	assert.Equal(t, "rg-onedoor-dev-platform-g2", next.Name(ResourceGroup, "platform"))
	assert.Equal(t, "snet-onedoor-dev-gpu-nodes-a100", s.Name(Subnet, "GPU nodes", "a100"))
	assert.Regexp(t, `^apim-onedoor-dev-[0-9a-f]{6}$`, s.Name(APIManagement))
	assert.NotEqual(t, s.Name(APIManagement), elsewhere.Name(APIManagement), "a globally unique name must differ between subscriptions")
	assert.NotEqual(t, s.Name(APIManagement), next.Name(APIManagement), "a new generation must give a new name")
	assert.Equal(t, s.Name(VirtualNetwork), elsewhere.Name(VirtualNetwork), "other names need no hash")
}

// Whatever the parts, a name fits its rule, and names of distinct parts stay
// distinct where their sanitized forms are.
func FuzzName(f *testing.F) {
	f.Add("gpu", "a100", 1)
	f.Add(strings.Repeat("very-long-", 20), "x", 3)
	f.Add("", "--", 9)
	legal := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	f.Fuzz(func(t *testing.T, a, b string, generation int) {
		s := scope()
		s.Generation = generation
		for _, rule := range []Rule{VirtualNetwork, APIManagement, {Prefix: "st", Max: 24, Unique: true, NoHyphen: true}} {
			got := s.Name(rule, a, b)
			require.LessOrEqual(t, len(got), rule.Max, got)
			require.Regexp(t, legal, got)
			require.Equal(t, got, s.Name(rule, a, b))
			if rule.NoHyphen {
				require.NotContains(t, got, "-")
			}
			if x := s.Name(rule, a+"x", b); sanitize(a) != "" {
				require.NotEqual(t, got, x, "cut names must keep a hash of the whole")
			}
		}
	})
}

func TestIDsRoundTrip(t *testing.T) {
	t.Parallel()
	s := scope()
	const subnet = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
	assert.Equal(t, subnet, s.ResourceID("rg", "Microsoft.Network/virtualNetworks/subnets", "v", "s"))
	for _, want := range []string{subnet, s.GroupID("rg")} {
		id, err := ParseID(want)
		require.NoError(t, err)
		assert.Equal(t, want, id.String())
	}
	id, err := ParseID(subnet)
	require.NoError(t, err)
	assert.Equal(t, "s", id.Name())
}

func TestMalformedIDsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	const head = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg"
	for in, why := range map[string]string{
		"":                                "must start with /subscriptions",
		"vnet":                            "must start with /subscriptions",
		head[1:]:                          "must start with /subscriptions",
		head + "/x":                       "must go on with /providers",
		head[:15] + "x/resourceGroups/rg": "not a subscription GUID",
		head + "/providers/Microsoft.Network/virtualNetworks":  "must go on with /providers",
		head + "/providers/Microsoft.Network/virtualNetworks/": "a name is empty",
	} {
		_, err := ParseID(in)
		assert.ErrorContains(t, err, why, in)
	}
}

func TestTagsNameTheirComponent(t *testing.T) {
	t.Parallel()
	tags := scope().Tags("network")
	assert.Equal(t, pulumi.String("network"), tags[TagComponent])
	assert.Equal(t, pulumi.String("onedoor/dev"), tags[TagStack])
	assert.Len(t, tags, 6)
}

func TestDurationsAreISO8601(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"PT0S": 0, "PT30S": 30 * time.Second, "PT5M": 5 * time.Minute, "PT1H40M": 100 * time.Minute,
		"P1D": 24 * time.Hour, "P1DT50M": 24*time.Hour + 50*time.Minute, "P14DT1S": 14*24*time.Hour + time.Second,
	} {
		assert.Equal(t, want, Duration(d))
	}
}

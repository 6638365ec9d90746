package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMaintenanceIsAWeeklyWindow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path         string
		wrong, right any
		want         string
	}{
		"NoWeekday":    {"cluster.maintenance.day", "sunday", "Monday", `got "sunday", want one of Monday, Tuesday`},
		"NoTime":       {"cluster.maintenance.start", "24:00", "23:59", `got "24:00", want a time of day, 00:00 to 23:59`},
		"NoOffset":     {"cluster.maintenance.utcOffset", "CET", "+14:00", `got "CET", want an offset from UTC`},
		"TooShort":     {"cluster.maintenance.hours", 3, 4, `got 3, want 4 to 24 hours`},
		"TooLong":      {"cluster.maintenance.hours", 25, 24, `got 25, want 4 to 24 hours`},
		"LoginUnknown": {"cluster.login", "devicecode", "workloadidentity", `got "devicecode", want one of azurecli, workloadidentity, msi, azurepipelines`},
		"HalfInside":   {"cluster.inCluster", "maybe", "skip", `got "maybe", want one of apply, skip`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := values(t, "dev")
			set(t, v, c.path, c.wrong)
			_, err := Parse("dev", v)
			require.ErrorContains(t, err, "onedoor:"+c.path+": "+c.want)
			set(t, v, c.path, c.right)
			_, err = Parse("dev", v)
			assert.NoError(t, err, "the legal neighbour")
		})
	}
}

// Two replicas of the batch door on nodes of one zone are one.
func TestProdSpreadsTheBatchDoorOverZones(t *testing.T) {
	t.Parallel()
	v := values(t, "prod")
	set(t, v, "cluster.pools.batch.zones", []string{"1"})
	_, err := Parse("prod", v)
	require.ErrorContains(t, err, `onedoor:cluster.pools.batch.zones: got "1", want at least two`)
	set(t, v, "cluster.pools.batch.zones", []string{"2", "3"})
	_, err = Parse("prod", v)
	assert.NoError(t, err)
}

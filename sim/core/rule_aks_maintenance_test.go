package core

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Maintenance windows have names that AKS knows (A435) and schedules that fit them
// (A436).
func TestMaintenanceWindows(t *testing.T) {
	t.Parallel()
	const configs = aksID + "/maintenanceConfigurations/"
	window := func(schedule string) string {
		return `{'properties':{'maintenanceWindow':{'durationHours':4,'startTime':'02:00','utcOffset':'+00:00','schedule':{` + schedule + `}}}}`
	}
	const weekly, daily = `'weekly':{'dayOfWeek':'Sunday','intervalWeeks':1}`, `'daily':{'intervalDays':1}`
	for name, c := range map[string]struct {
		reason, id, body string
		want             Code
		text             string
	}{
		"A435 other name":       {reason: "three names are known", id: "weekends", body: window(weekly), want: InvalidParameter, text: nodeWindow},
		"A435 nodes":            {reason: "neighbour", id: nodeWindow, body: window(weekly)},
		"A436 three hours":      {reason: "4..24", id: nodeWindow, body: `{'properties':{'maintenanceWindow':{'durationHours':3,'startTime':'02:00','schedule':{` + weekly + `}}}}`, want: InvalidRequestContent, text: "4"},
		"A436 no window":        {reason: "an upgrade needs one", id: upgradeWindow, body: `{'properties':{'timeInWeek':[{'day':'Sunday','hourSlots':[1]}]}}`, want: InvalidParameter, text: "default"},
		"A436 hours of default": {reason: "neighbour", id: weeklyReleases, body: `{'properties':{'timeInWeek':[{'day':'Sunday','hourSlots':[1]}]}}`},
		"A436 both":             {reason: "hours or a window", id: weeklyReleases, body: `{'properties':{'timeInWeek':[{'day':'Sunday','hourSlots':[1]}],'maintenanceWindow':{'durationHours':4,'startTime':'02:00','schedule':{` + weekly + `}}}}`, want: InvalidParameter, text: "timeInWeek"},
		"A436 two schedules":    {reason: "one", id: nodeWindow, body: window(weekly + "," + daily), want: InvalidParameter, text: "daily, weekly"},
		"A436 no schedule":      {reason: "one", id: nodeWindow, body: window(""), want: InvalidParameter},
		"A436 daily upgrades":   {reason: "for nodes alone", id: upgradeWindow, body: window(daily), want: InvalidParameter, text: nodeWindow},
		"A436 daily nodes":      {reason: "neighbour", id: nodeWindow, body: window(daily)},
		"A436 daily releases":   {reason: "weekly alone", id: weeklyReleases, body: window(daily), want: InvalidParameter, text: "weekly"},
		"A436 weekly releases":  {reason: "neighbour", id: weeklyReleases, body: window(weekly)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := Apply(aksWorld(t), Op{Method: Put, ID: configs + c.id, Body: j(t, c.body), Instant: true})
			if c.want == "" {
				require.Nil(t, a.Error, c.reason)
				assert.NotContains(t, a.Body["properties"], "provisioningState")
				return
			}
			require.NotNil(t, a.Error, c.reason)
			assert.Equal(t, c.want, a.Error.Code, c.reason)
			assert.Contains(t, a.Error.Message, c.text, c.reason)
		})
	}
}

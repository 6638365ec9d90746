package settings_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/settings"
)

func TestSettingsThatAzureWouldRefuse(t *testing.T) {
	t.Parallel()
	good := settings.Settings{PollSeconds: 60, OutputExpirySeconds: 14 * settings.SecondsOfADay, OutputContainer: "batch-output"}
	assert.Empty(t, good.Check())
	for days, want := range map[int]int{1: 15, 15: 15, 16: 16, 3650: 3650} {
		good.ForgetSeconds = settings.Forget(days)
		assert.Equal(t, want*settings.SecondsOfADay, good.ForgetSeconds)
		assert.Empty(t, good.Check())
	}
	for want, change := range map[string]func(*settings.Settings){
		"59 s between polls, want at least 60":                                                func(s *settings.Settings) { s.PollSeconds = 59 },
		"outputs expire after 1209601 s, want whole days":                                     func(s *settings.Settings) { s.OutputExpirySeconds++ },
		"outputs expire after 13 days, want 14 to 30":                                         func(s *settings.Settings) { s.OutputExpirySeconds -= settings.SecondsOfADay },
		"jobs are forgotten 1295999 s after their end, want 0 for never, or at least 1296000": func(s *settings.Settings) { s.ForgetSeconds = 15*settings.SecondsOfADay - 1 },
		"no container of outputs: they would be gone when Azure deletes its files":            func(s *settings.Settings) { s.OutputContainer = "" },
	} {
		s := good
		change(&s)
		assert.ErrorContains(t, errors.Join(s.Check()...), want)
	}
}

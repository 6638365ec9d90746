package verify

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az"
	"onedoor/internal/az/rights"
)

// Roles of other makers list operations that run models which the gateway does not offer.
func TestWhateverRunsAModelCallsIt(t *testing.T) {
	t.Parallel()
	const openAI = "Microsoft.CognitiveServices/accounts/OpenAI/"
	for operation, want := range map[string][]Power{
		openAI + "deployments/chat/completions/action":             {Calls},
		openAI + "deployments/extensions/chat/completions/action":  {Calls},
		openAI + "deployments/realtime/action":                     {Calls},
		openAI + "deployments/audio/action":                        {Calls},
		openAI + "images/generations/action":                       {Calls},
		openAI + "engines/completions/action":                      {Calls},
		openAI + "assistants/threads/runs/write":                   {Calls},
		"Microsoft.CognitiveServices/accounts/AIServices/agents/*": {Calls},
		openAI + "batch-jobs/write":                                {Submits},
		openAI + "files/read":                                      {Submits},
		openAI + "models/read":                                     nil,
		openAI + "deployments/read":                                nil,
	} {
		assert.Equal(t, want, powersOf(rights.Role{DataActions: []string{operation}}, nil), operation)
		assert.Empty(t, powersOf(rights.Role{DataActions: []string{operation}}, []rights.Role{{DataActions: []string{"*"}}}), "%s, denied", operation)
	}
}

func TestRolesOfTheDoorsGiveWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, rights.Sync, az.SyncOnly.DataActions)
	assert.Subset(t, slices.Concat(rights.Batch, rights.Stored), az.BatchSubmitter.DataActions)
	assert.Equal(t, []Power{Calls}, powersOf(rights.Role{DataActions: az.SyncOnly.DataActions}, nil))
	assert.Equal(t, []Power{Submits}, powersOf(rights.Role{DataActions: az.BatchSubmitter.DataActions}, nil))
}

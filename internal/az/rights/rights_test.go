package rights_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/rights"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	const batch = "Microsoft.CognitiveServices/accounts/OpenAI/batch-jobs/write"
	for name, c := range map[string]struct {
		role rights.Role
		data bool
		op   string
		want bool
	}{
		"TheOperationItself":        {rights.Role{DataActions: []string{batch}}, true, batch, true},
		"AnotherLetterCase":         {rights.Role{DataActions: []string{"microsoft.cognitiveservices/accounts/openai/BATCH-JOBS/write"}}, true, batch, true},
		"AnotherOperation":          {rights.Role{DataActions: []string{batch + "r"}}, true, batch, false},
		"EverythingOfTheProvider":   {rights.Role{DataActions: []string{"Microsoft.CognitiveServices/*"}}, true, batch, true},
		"TheStarCrossesSlashes":     {rights.Role{DataActions: []string{"*/write"}}, true, batch, true},
		"TwoStars":                  {rights.Role{DataActions: []string{"Microsoft.*/OpenAI/*"}}, true, batch, true},
		"StarsInAnotherOrder":       {rights.Role{DataActions: []string{"*/write/*/OpenAI"}}, true, batch, false},
		"AStarDoesNotEndEarly":      {rights.Role{DataActions: []string{"*/batch-jobs"}}, true, batch, false},
		"AllButThis":                {rights.Role{DataActions: []string{"*"}, NotDataActions: []string{"*/batch-jobs/*"}}, true, batch, false},
		"AllButSomethingElse":       {rights.Role{DataActions: []string{"*"}, NotDataActions: []string{"*/files/*"}}, true, batch, true},
		"ActionsAreNoDataActions":   {rights.Role{Actions: []string{"*"}}, true, batch, false},
		"DataActionsAreNoActions":   {rights.Role{DataActions: []string{"*"}}, false, rights.ListKeys, false},
		"ManagementPlane":           {rights.Role{Actions: []string{"*"}}, false, rights.ListKeys, true},
		"ContributorGrantsNoRoles":  {rights.BuiltIn["b24988ac-6180-42a0-ab88-20f7382dd24c"], false, rights.AssignRole, false},
		"ContributorListsKeys":      {rights.BuiltIn["b24988ac-6180-42a0-ab88-20f7382dd24c"], false, rights.ListKeys, true},
		"OpenAIUserSubmitsNoBatch":  {rights.BuiltIn["5e0bd9bd-7b93-4f28-af87-19fc36ad61bd"], true, batch, false},
		"OpenAIContributorDoes":     {rights.BuiltIn["a001fd3d-188f-4b5d-821b-7da978bf7442"], true, batch, true},
		"ReaderListsNoKeys":         {rights.BuiltIn["acdd72a7-3385-48ef-bd42-f606fba81ae7"], false, rights.ListKeys, false},
		"NothingAllowsNothing":      {rights.Role{}, true, batch, false},
		"APatternWithoutAStarIsAll": {rights.Role{Actions: []string{""}}, false, rights.ListKeys, false},
	} {
		assert.Equal(t, c.want, c.role.Allows(c.op, c.data), name)
	}
	assert.Equal(t, rights.Sync[0], rights.Roles{{DataActions: []string{"*"}}}.First(rights.Sync))
	assert.Empty(t, rights.Roles{{Actions: []string{"*"}}}.First(rights.Sync))
}

// Azure has more operations that run models than any list here, and adds some: whatever
// does more than read counts.
func TestWhatDoesMoreThanReadIsBeyondReading(t *testing.T) {
	t.Parallel()
	const accounts, openAI = "Microsoft.CognitiveServices/accounts/", "Microsoft.CognitiveServices/accounts/OpenAI/"
	writing := []string{openAI + "*/write", openAI + "*/delete", openAI + "*/action"}
	for name, c := range map[string]struct {
		action string
		off    []string
		want   bool
	}{
		"Chat":                       {openAI + "deployments/chat/completions/action", nil, true},
		"ChatWithExtensions":         {openAI + "deployments/extensions/chat/completions/action", nil, true},
		"Realtime":                   {openAI + "deployments/realtime/action", nil, true},
		"Audio":                      {openAI + "deployments/audio/action", nil, true},
		"Images":                     {openAI + "images/generations/action", nil, true},
		"Engines":                    {openAI + "engines/completions/action", nil, true},
		"RunsOfAssistants":           {openAI + "assistants/threads/runs/write", nil, true},
		"AnotherFamily":              {accounts + "AIServices/responses/write", nil, true},
		"AnotherLetterCase":          {"microsoft.cognitiveservices/ACCOUNTS/openai/deployments/realtime/ACTION", nil, true},
		"Reading":                    {openAI + "models/read", nil, false},
		"ReadingEverything":          {"*/read", nil, false},
		"Everything":                 {"*", nil, true},
		"EveryAction":                {"*/action", nil, true},
		"APartOfTheProvidersName":    {"Microsoft.Cog*", nil, true},
		"AnotherProvider":            {"Microsoft.Storage/*", nil, false},
		"AnotherProvidersAction":     {"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write", nil, false},
		"TakenOff":                   {openAI + "deployments/audio/action", []string{openAI + "deployments/*"}, false},
		"AWildcardTakenOff":          {openAI + "deployments/*", []string{openAI + "*"}, false},
		"AWildcardTakenOffInPart":    {openAI + "*", []string{openAI + "deployments/*"}, true},
		"EverythingButModels":        {"*", []string{"Microsoft.CognitiveServices/*"}, false},
		"EverythingButAFamily":       {"*", []string{openAI + "*"}, true},
		"AllThatWritesTakenOff":      {openAI + "*", writing, false},
		"AllThatWritesBelowANounOff": {openAI + "responses/*", []string{openAI + "responses/*/write", openAI + "*/delete", openAI + "*/action"}, true},
	} {
		role := rights.Role{DataActions: []string{c.action}, NotDataActions: c.off}
		var want []string
		if c.want {
			want = []string{c.action}
		}
		assert.Equal(t, want, role.Beyond(rights.Read), name)
	}
	assert.Empty(t, rights.Role{Actions: []string{"*"}}.Beyond(), "actions are no data actions")
	assert.Empty(t, rights.Role{DataActions: rights.Sync}.Beyond(rights.Sync...))
	assert.Equal(t, []string{openAI + "models/read"}, rights.Role{DataActions: []string{openAI + "models/read"}}.Beyond(rights.Sync...))
}

// What one permission takes off another gives.
func TestPermissionsOfADefinitionAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	role := rights.Roles{{NotDataActions: []string{"*"}, NotActions: []string{"*"}}, {DataActions: rights.Sync, Actions: []string{rights.ListKeys}}}
	assert.Equal(t, rights.Sync[0], role.First(rights.Sync))
	assert.Equal(t, rights.Sync, role.Beyond(rights.Read))
	assert.True(t, role.Allows(rights.ListKeys, false))
}

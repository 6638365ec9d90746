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
	assert.Equal(t, rights.Sync[0], rights.Role{DataActions: []string{"*"}}.First(rights.Sync))
	assert.Empty(t, rights.Role{Actions: []string{"*"}}.First(rights.Sync))
}

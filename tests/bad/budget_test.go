package bad_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/tests/bad/replay"
)

// A program that leaves its budget out, or raises it by itself, is judged by the
// stack's configuration, which the engine hands to the packs.
func TestAProgramDoesNotMakeItsOwnBudget(t *testing.T) {
	t.Parallel()
	const tag = `tags["budget-monthly-floor-usd"]`
	for reason, edit := range map[string]replay.Edit{
		"left out": {Drop: []string{tag}},
		"raised":   {Set: map[string]any{tag: "900000"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			group := replay.Selector{Type: "azure-native:resources:ResourceGroup", Name: "base-platform"}
			got := failures(t, replay.Project{Dir: "../..", Packs: packs}.Preview(t, prod(t), replay.Mutation{Change: []replay.Change{{Selector: group, Edit: edit}}}))
			assert.Contains(t, got, failure{"CAP-09", "base-platform"})
		})
	}
}

package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
)

// A lost answer is a success that nobody was told of: the resource is there, can be found by
// what was asked for, and stands in the way of a second creation. One that was never asked for
// is not found.
func TestALostAnswerLeavesTheResource(t *testing.T) {
	t.Parallel()
	e := open(t)
	in := props(groupIn)
	var struck []sim.Strike
	e.cloud.Inject(sim.Fault{Type: groupToken, When: sim.AnswerLost, Struck: func(s sim.Strike) { struck = append(struck, s) }})
	_, err := e.create(groupToken, "group", in, false)
	require.ErrorContains(t, err, "connection reset by peer")
	require.Len(t, struck, 1)

	id, err := e.cloud.Landed(groupToken, groupIn, subscription)
	require.NoError(t, err)
	assert.Equal(t, struck[0].ID, id)
	other, err := e.cloud.Landed(groupToken, with(groupIn, m{"resourceGroupName": "another"}), subscription)
	require.NoError(t, err)
	assert.Empty(t, other)
	_, err = e.create(groupToken, "group", in, false)
	require.ErrorContains(t, err, "cannot create already existing resource '"+id+"'")
}

package faults

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

// passing are the refusals that a stack sits out by itself, as Azure words them.
var passing = []struct {
	code    core.Code
	message string
}{
	{core.OperationNotAllowed, "Operation is not allowed: another operation is in progress."},
	{core.RequestConflict, "Another operation is being performed on the parent resource."},
	{core.AccountProvisioningInvalid, "The account is in state Accepted."},
	{"ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", "Too many writes."},
	{core.PrincipalNotFound, "Principal does not exist in the directory."},
	{"LinkedAuthorizationFailed", "The client does not have permission on the linked scope."},
	{"CustomPrivateDNSZoneMissingPermissionError", "Missing permission on the private DNS zone."},
	{"Forbidden", "User does not have access to the resource in Azure. Update role assignment to allow access."},
	{core.PessimisticConcurrency, "Operation on the API is in progress."},
	{core.ReferencedResourceNotProvisioned, "The referenced resource is not provisioned."},
}

// One update has each of its operations refused once, before it starts or at its end, and
// comes to the same stack without anybody's help.
func TestAnUpdateSitsOutEveryPassingRefusal(t *testing.T) {
	t.Parallel()
	ref := undisturbed(t, "dev")
	s := session(t, "dev")
	seen := strikes{urns: map[string]bool{}}
	s.Prepare = func(cloud *sim.Cloud) {
		for i, urn := range ref.order {
			refusal := passing[i%len(passing)]
			cloud.Inject(sim.Fault{
				URN: urn, Method: core.Put, When: []sim.When{sim.BeforeStart, sim.AfterApply}[i/len(passing)%2],
				Code: refusal.code, Message: refusal.message, Struck: seen.note,
			})
		}
	}
	_, err := s.Up(t.Context())
	s.Prepare = nil
	if met := madeByAzure(err, nil, nil); len(met) > 0 {
		requireFailed(t, err, nil, met)
		takeOver(t, s, err, met)
		_, err = s.Up(t.Context())
	}
	require.NoError(t, err)
	assert.Len(t, seen.urns, len(ref.order))
	requireSettled(t, s, ref)
}

// A refusal that does not pass ends the update, and the message says what was waited for and
// what to do.
func TestARefusalThatStaysIsTold(t *testing.T) {
	t.Parallel()
	ref := undisturbed(t, "dev")
	group := firsts(ref.order)[0]
	s := session(t, "dev")
	s.Prepare = func(cloud *sim.Cloud) {
		cloud.Inject(sim.Fault{URN: group, Method: core.Put, Code: "LinkedAuthorizationFailed", Times: -1})
	}
	_, err := s.Up(t.Context())
	require.ErrorContains(t, err, "was refused 9 times, at last with LinkedAuthorizationFailed: Azure has not spread the role yet. Run again when that is over.")
}

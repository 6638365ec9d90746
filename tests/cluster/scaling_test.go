package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/internal/kube"
	"onedoor/sim"
	"onedoor/tests/kit"
)

// scaling is what Azure and its cluster were asked that has to do with KEDA.
type scaling struct {
	credentials map[string]sim.LogEntry // of the operator, by the id of their identity
	identities  map[string]string       // id by client id
	auths       map[string]sim.LogEntry // TriggerAuthentications by name
	scaled      []sim.LogEntry          // ScaledObjects and ScaledJobs
	bodies      map[string]any          // of objects, by id
}

// over lets w watch s.
func (w *scaling) over(s *embedded.Session) *embedded.Session {
	s.Inspect = func(cloud *sim.Cloud) {
		*w = scaling{credentials: map[string]sim.LogEntry{}, identities: map[string]string{}, auths: map[string]sim.LogEntry{}, bodies: map[string]any{}}
		for _, object := range cloud.State().Objects {
			w.bodies[object.Cluster+"/objects/"+object.Name] = object.Body
		}
		for _, r := range cloud.State().Resources {
			if client, ok := at(r.Body, "properties", "clientId").(string); ok && r.Type == "Microsoft.ManagedIdentity/userAssignedIdentities" {
				w.identities[client] = r.ID
			}
		}
		for _, entry := range cloud.Log() {
			identity, _, credential := strings.Cut(entry.ID, "/federatedIdentityCredentials/")
			switch {
			case credential && at(entry.Body, "properties", "subject") == kube.KEDA.String():
				w.credentials[identity] = entry
			case strings.Contains(entry.ID, "/objects/keda.sh/TriggerAuthentication/"):
				w.auths[entry.ID[strings.LastIndex(entry.ID, "/")+1:]] = entry
			case strings.Contains(entry.ID, "/objects/keda.sh/Scaled"):
				w.scaled = append(w.scaled, entry)
			}
		}
	}
	return s
}

// An operator that may not act as the scaler reports an error at its first look at
// the queue, and a ScaledObject that is not ready holds up the update.
func TestTheOperatorMayActAsTheScalerBeforeItScales(t *testing.T) {
	t.Parallel()
	for _, stack := range []string{"dev", "prod"} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			var seen scaling
			_, err := seen.over(kit.Session(t, stack, kit.StackFiles()[stack])).Up(t.Context())
			require.NoError(t, err)
			require.Len(t, seen.scaled, 5, "a scaler for each queue")
			for _, scaled := range seen.scaled {
				triggers, _ := at(seen.bodies[scaled.ID], "spec", "triggers").([]any)
				require.NotEmpty(t, triggers, scaled.ID)
				for _, trigger := range triggers {
					name, _ := at(trigger, "authenticationRef", "name").(string)
					auth, made := seen.auths[name]
					require.True(t, made, "%s names the authentication %q", scaled.ID, name)
					client, _ := at(seen.bodies[auth.ID], "spec", "podIdentity", "identityId").(string)
					credential, trusted := seen.credentials[seen.identities[client]]
					require.True(t, trusted, "%s: no identity with client id %q trusts %s", scaled.ID, client, kube.KEDA)
					assert.Less(t, credential.Seq, scaled.Seq, scaled.ID)
					assert.LessOrEqual(t, credential.End, auth.Start, "the credential must stand before anything names its identity")
					assert.LessOrEqual(t, auth.End, scaled.Start, scaled.ID)
				}
			}
		})
	}
}

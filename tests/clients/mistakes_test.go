package clients

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/sim"
	"onedoor/sim/core"
)

// mistake is one wrong input, sent by Microsoft's client.
type mistake struct {
	// after are the lives, by of, that were made before.
	after []string
	// first is what else comes before it; may be nil.
	first func(ctx context.Context, a *azure) error
	send  func(ctx context.Context, a *azure) error
	// What the answer says: status, code, the property or resource at fault, and words
	// that a person needs: what is wrong, and what is allowed.
	status int
	code   core.Code
	target string
	says   []string
}

func mistakes() map[string]mistake {
	all := map[string]mistake{}
	for _, each := range []map[string]mistake{busMistakes, storageMistakes, networkMistakes, identityMistakes, modelMistakes, clusterMistakes, gatewayMistakes} {
		maps.Copy(all, each)
	}
	return all
}

// Every planted mistake is refused with ARM's code and target, and a message that
// names the property and what it may be, why, and how to mend it.
func TestMistakesAreRefused(t *testing.T) {
	t.Parallel()
	made := map[string]life{}
	for _, l := range lives() {
		made[l.of] = l
	}
	all := mistakes()
	require.GreaterOrEqual(t, len(all), 40)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud, err := sim.Open("", sim.WithQuiet(0))
			require.NoError(t, err)
			a, ctx := serve(t, cloud, subscription), t.Context()
			require.NoError(t, a.put(ctx, place, "2024-03-01", `{"location":"swedencentral"}`))
			for _, of := range m.after {
				require.NoError(t, made[of].write(ctx, a, false), of)
				require.NoError(t, cloud.Sleep(ctx, time.Hour))
			}
			if m.first != nil {
				require.NoError(t, m.first(ctx, a))
			}
			before := len(cloud.State().Resources)
			status, code, target, message := told(t, m.send(ctx, a))
			assert.Equal(t, m.status, status, message)
			assert.Equal(t, m.code, code, message)
			assert.Equal(t, m.target, target, message)
			for _, words := range slices.Concat(m.says, []string{"got ", "want ", "fix: "}) {
				assert.Contains(t, message, words)
			}
			assert.Len(t, cloud.State().Resources, before, "nothing was made or deleted")
		})
	}
}

// otherGroup makes a second group.
func otherGroup(ctx context.Context, a *azure) error {
	return a.put(ctx, "/subscriptions/"+subscription+"/resourceGroups/other", "2024-03-01", `{"location":"swedencentral"}`)
}

// told takes a refusal apart.
func told(t *testing.T, err error) (status int, code core.Code, target, message string) {
	t.Helper()
	require.Error(t, err, "it was taken")
	refused := refusal(t, err)
	text, err := runtime.Payload(refused.RawResponse)
	require.NoError(t, err)
	var body struct {
		Error core.Error `json:"error"`
	}
	require.NoError(t, json.Unmarshal(text, &body))
	assert.Equal(t, refused.ErrorCode, string(body.Error.Code), "the header says what the body says")
	assert.NotEqual(t, http.StatusOK, refused.StatusCode)
	return refused.StatusCode, body.Error.Code, body.Error.Target, body.Error.Message
}

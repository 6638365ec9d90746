package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/services/controlplane/blobs"
	"onedoor/services/controlplane/intake"
	"onedoor/services/internal/claim"
	"onedoor/services/internal/ring"
	"onedoor/sim/openai"
	"onedoor/sim/openai/core"
)

// What the control plane posts, workers do; what they cannot do, it finds among the
// dead letters, and may send again.
func TestItemsOfTheControlPlane(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	bus, err := intake.NewServiceBus(p.bus.Client(t), "ingest")
	require.NoError(t, err)
	in := intake.Intake{Bus: bus, Keys: ring.Ring(p.keys()), Signing: "2"}
	kind := intake.Item{ContentType: "application/vnd.onedoor.text+json", TimeToLive: time.Hour}
	item := kind
	item.Message = claim.Message{Tenant: "contoso", Modality: "text", Alias: "small", Job: "job", Item: "1", Correlation: "c", Type: "application/json"}
	put, err := p.container("payloads").NewBlockBlobClient(item.Path()).UploadBuffer(t.Context(), fmt.Appendf(nil, chatBody, "one"), &blockblob.UploadBufferOptions{})
	require.NoError(t, err)
	for range 4 {
		p.sim.Inject(openai.Fault{Operation: core.Chat, Status: http.StatusInternalServerError})
	}
	require.NoError(t, in.Post(t.Context(), item, blobs.Info{Name: item.Path(), ETag: string(*put.ETag)}))
	w := p.start(nil)
	require.Eventually(t, func() bool { return len(p.bus.Dead("text")) == 1 }, 20*time.Second, 20*time.Millisecond, "%s", w.out)
	letters, err := in.Letters(t.Context(), "text", "contoso", 0, 10)
	require.NoError(t, err)
	require.Len(t, letters, 1)
	assert.Equal(t, []string{"retries_exhausted", "tried 4 times, at last: status: 500 without a code", "1"}, []string{letters[0].Reason, letters[0].Detail, letters[0].Item})
	require.NoError(t, in.Redrive(t.Context(), "text", "contoso", letters[0].Sequence, kind))
	require.Eventually(t, func() bool { return p.results()["1"] == "answered" }, 20*time.Second, 20*time.Millisecond, "%s", w.out)
	assert.Equal(t, exitDone, w.stop(t), "%s", w.out)
	assert.Empty(t, p.bus.Dead("text"))
}

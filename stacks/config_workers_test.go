package stacks

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/capacity"
	"onedoor/internal/prices"
)

// alone are the values of dev without what is built on them: a test that changes
// the models, say, is not about the workers that use them. path is what it changes.
func alone(t *testing.T, path string) map[string]string {
	t.Helper()
	v := values(t, "dev")
	if root, _, _ := strings.Cut(path, "."); root != "workers" && root != "batch" {
		delete(v, "workers")
		set(t, v, "batch.nightly", nil)
	}
	return v
}

// plainWork is valid work on dev's queue "text".
var plainWork = entry{"alias": "small", "parallel": 5, "itemTime": "15s", "tokensPerItem": 1500}

func TestWorkersAreChecked(t *testing.T) {
	t.Parallel()
	const text = "workers.queues.text"
	job := with(with(plainWork, "shape", "job"), "parallel", 1)
	refuse(t, map[string]refusal{
		"TooFewAtOnce":      {text, with(plainWork, "parallel", 4), plainWork, `onedoor:workers.queues.text.parallel: got 4, want 5 to 10 items at once`},
		"TooManyAtOnce":     {text, with(plainWork, "parallel", 11), with(with(with(plainWork, "parallel", 10), "itemTime", "20s"), "tokensPerItem", 1000), `got 11, want 5 to 10 items at once`},
		"JobOfMany":         {text, with(job, "parallel", 2), job, `onedoor:workers.queues.text.parallel: got 2, want 1: a job has one message`},
		"ShapeUnknown":      {text, with(plainWork, "shape", "pod"), with(plainWork, "shape", "deployment"), `onedoor:workers.queues.text.shape: got "pod", want one of deployment, job`},
		"AliasUnknown":      {text, with(plainWork, "alias", "smal"), plainWork, `onedoor:workers.queues.text.alias: got "smal", want the name of an alias below onedoor:models, nearest is "small"`},
		"ItemIsNoTime":      {text, with(plainWork, "itemTime", 15), plainWork, `onedoor:workers.queues.text.itemTime: got 15, want a duration`},
		"ItemTakesNoTime":   {text, with(plainWork, "itemTime", "50ms"), plainWork, `onedoor:workers.queues.text.itemTime: got 50ms, want 100ms to 1h0m0s`},
		"ItemAboveP99":      {text, with(plainWork, "itemTime", "21s"), with(plainWork, "itemTime", "20s"), `onedoor:workers.queues.text.itemTime: got 21s, want at most 20s, the 99th percentile of the queue`},
		"NoTokens":          {text, with(plainWork, "tokensPerItem", 0), plainWork, `onedoor:workers.queues.text.tokensPerItem: got 0, want 1 to 2000000 tokens`},
		"CallsNegative":     {text, with(plainWork, "callsPerItem", -1), with(plainWork, "callsPerItem", 1), `onedoor:workers.queues.text.callsPerItem: got -1, want 0 to 100 calls`},
		"WeightTooLarge":    {text, with(plainWork, "weight", 101), with(plainWork, "weight", 1), `onedoor:workers.queues.text.weight: got 101, want 0 to 100 parts`},
		"PayloadTooLarge":   {text, with(plainWork, "payloadMiB", 101), with(plainWork, "payloadMiB", 100), `onedoor:workers.queues.text.payloadMiB: got 101, want 0 to 100 MiB`},
		"WaitTooLong":       {text, with(plainWork, "wait", "337h"), with(plainWork, "wait", "336h"), `onedoor:workers.queues.text.wait: got 337h0m0s, want a time of at most 336h`},
		"ReplicasNegative":  {text, with(plainWork, "maxReplicas", -1), with(plainWork, "maxReplicas", 1), `onedoor:workers.queues.text.maxReplicas: got -1, want a number of replicas`},
		"QueueUnknown":      {"workers.queues.txt", plainWork, nil, `onedoor:workers.queues.txt: want the name of a queue below onedoor:queue.queues, nearest is "text"`},
		"KeyUnknown":        {text, with(plainWork, "parallell", 5), plainWork, `onedoor:workers.queues.text.parallell: unknown key`},
		"ImageLatest":       {"workers.image", entry{"repository": "onedoor/worker", "tag": "latest"}, entry{"repository": "onedoor/worker", "tag": "1"}, `onedoor:workers.image.tag: got "latest", want a version, other than latest`},
		"ImageWithoutTag":   {"workers.image", entry{"repository": "onedoor/worker"}, entry{"repository": "onedoor/worker", "tag": "1"}, `onedoor:workers.image.tag: got "", want a version, or a digest`},
		"OneReplicaTooMuch": {text, with(plainWork, "tokensPerItem", 1501), plainWork, `onedoor:workers.queues.text.tokensPerItem: got 1501, want work of which the quota takes at least one replica: oai-onedoor-dev-swedencentral-3a77db/small-zone takes 100000 tokens a minute - 40000 kept for people = 60000 x weight 1 of 2 = 30000; a replica uses 5 at once x 60 s / 15s = 20 items a minute x 1501 tokens = 30020 tokens a minute: 30000 / 30020 = 0 replicas`},
		"TooManyReplicas":   {text, with(plainWork, "maxReplicas", 2), with(plainWork, "maxReplicas", 1), `onedoor:workers.queues.text.maxReplicas: got 2, want at most 1, or the queues and what is kept for people exceed the deployment: oai-onedoor-dev-swedencentral-3a77db/small-zone takes`},
	})
}

func TestImagesOfProdAreDigests(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"workers", "batch"} {
		v := values(t, "prod")
		set(t, v, root+".image", entry{"repository": "onedoor/x", "tag": "1.0.0"})
		_, err := Parse("prod", v)
		require.ErrorContains(t, err, "onedoor:"+root+`.image.digest: got "", want the image's digest`)
		require.ErrorContains(t, err, "is wrong in 1 place")
		set(t, v, root+".image", entry{"repository": "onedoor/x", "digest": "sha256:" + strings.Repeat("a", 64)})
		_, err = Parse("prod", v)
		require.NoError(t, err)
	}
}

// Bought throughput hands on what it cannot take, so it does not bound replicas.
func TestSharesFollowFromTheDeploymentsThatHaveAQuota(t *testing.T) {
	t.Parallel()
	cfg, err := Parse("prod", values(t, "prod"))
	require.NoError(t, err)
	var names []string
	for _, d := range cfg.limits("chat") {
		_, name, _ := strings.Cut(d.Name, "/")
		names = append(names, name)
	}
	assert.Equal(t, []string{"chat-elsewhere", "chat-regional", "chat-zone"}, names, "without chat-reserved")
	shares := cfg.shares()
	assert.Equal(t, capacity.Load{Parallel: 5, Item: 30 * time.Second, Tokens: 1500, Calls: 1}, cfg.Workers.Queues["image"].load())
	assert.Contains(t, shares["image"].Why, "chat-regional takes 150000 tokens a minute - 50000 kept for people = 100000 x weight 3 of 6 = 50000")
	assert.Equal(t, 3, shares["image"].Replicas)
	quotas := cfg.quotas()
	assert.Equal(t, 2, len(cfg.poolRules())-3)
	assert.Equal(t, map[string]int{"nvidia.com/gpu": 4*2 + 8*2}, quotas["onedoor-serving"].Devices, "4 nodes with two slices and 8 with two GPUs")
	assert.Equal(t, 3, quotas["onedoor-batch"].Pods, "two replicas, and one more while they are replaced")
}

func TestAQueueThatNobodyEmptiesIsSaid(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "workers.queues.audio", nil)
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Equal(t, []string{"onedoor:queue.queues.audio: nothing empties this queue: there is no workers.queues.audio"}, cfg.Warnings)
}

func TestQueuesAndTenantsTogetherAreCompared(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "plans.starter.tokensPerMinute", 30_000)
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Empty(t, cfg.Warnings, "100000 is just enough")
	set(t, v, "plans.starter.tokensPerMinute", 30_001)
	cfg, err = Parse("dev", v)
	require.NoError(t, err)
	assert.Equal(t, []string{"onedoor:models.chat: queues and tenants together may use more than there is, and will see 429: queue audio 1 replicas x 10000 + queue image 1 replicas x 15000 + queue video 1 replicas x 5000 + 2 tenants of plan full 40000 + 1 tenants of plan starter 30001 = 100001 tokens a minute of the 100000 that its deployments take"}, cfg.Warnings)
}

func TestReceiversOfAllQueuesAreCounted(t *testing.T) {
	t.Parallel()
	v := values(t, "prod")
	change(t, v, "models.small.deployments", entry{"zone": entry{"sku": "DataZoneStandard", "region": "swedencentral", "capacity": 60_000}})
	set(t, v, "workers.queues.text.weight", 100)
	_, err := Parse("prod", v)
	require.ErrorContains(t, err, "want fewer than 5000 receivers on the namespace: audio 3 x 5 + document")
	set(t, v, "workers.queues.text.maxReplicas", 400)
	set(t, v, "workers.queues.document.maxReplicas", 18)
	_, err = Parse("prod", v)
	require.NoError(t, err)
}

// What a worker cannot find in the price table it would refuse to start with.
func TestItemsAreCountedByTheDearestDeploymentThatHasAPrice(t *testing.T) {
	t.Parallel()
	table, err := prices.Load()
	require.NoError(t, err)
	zone, global, bought := Deployment{SKU: "DataZoneStandard"}, Deployment{SKU: "GlobalStandard"}, Deployment{SKU: "GlobalProvisionedManaged"}
	assert.Equal(t, "gpt-5.1/DataZoneStandard", priceAs(table, Model{Model: "gpt-5.1", Deployments: map[string]Deployment{"a": global, "b": zone, "c": bought}}))
	assert.Equal(t, "gpt-5.1/GlobalStandard", priceAs(table, Model{Model: "gpt-5.1", Deployments: map[string]Deployment{"a": global, "c": bought}}))
	assert.Empty(t, priceAs(table, Model{Model: "not-in-the-table", Deployments: map[string]Deployment{"a": global}}))
	assert.Empty(t, priceAs(table, Model{}))
}

package core

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	clusterRuns = "currentKubernetesVersion"
	poolRuns    = "currentOrchestratorVersion"
)

func property(t testing.TB, s State, id, name string) string {
	t.Helper()
	return show(t, s, id).get("properties." + name).text()
}

func version(v string) string { return aksProps(`'kubernetesVersion':'` + v + `'`) }

// A minor version runs as a full one (A430), which Azure moves on by itself without
// a change of what was declared; a full one is moved (A431).
func TestPatchUpgrade(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	require.Equal(t, "1.33.5", property(t, s, aksID, clusterRuns))
	require.Equal(t, "1.33.5", property(t, s, gpuPool, poolRuns))
	before := show(t, s, aksID).get("eTag").text()
	s, err := UpgradePatch(s, aksID)
	require.Nil(t, err)
	assert.Equal(t, "1.33.6", property(t, s, aksID, clusterRuns))
	for _, pool := range []string{systemPool, gpuPool} {
		assert.Equal(t, "1.33.6", property(t, s, pool, poolRuns), pool)
		assert.Equal(t, "1.33", property(t, s, pool, "orchestratorVersion"), pool)
	}
	assert.Equal(t, "1.33", property(t, s, aksID, "kubernetesVersion"), "what was declared stays")
	assert.NotEqual(t, before, show(t, s, aksID).get("eTag").text())

	s = must(t, s, aksID, aksCluster(`{'tags':{'a':'b'}}`))
	assert.Equal(t, "1.33.6", property(t, s, aksID, clusterRuns), "a later write does not go back")
	s = must(t, s, gpuPool, aksPool(aksProps(`'maxCount':3`)))
	assert.Equal(t, "1.33.6", property(t, s, gpuPool, poolRuns))
	s = must(t, s, aksID+"/agentPools/more", aksPool())
	assert.Equal(t, "1.33.6", property(t, s, aksID+"/agentPools/more", poolRuns), "a new pool runs what the control plane does")

	full, err := UpgradePatch(must(t, aksLand(t), aksID, aksCluster(version("1.33.2"))), aksID)
	require.Nil(t, err)
	assert.Equal(t, "1.33.3", property(t, full, aksID, clusterRuns))
	assert.Equal(t, "1.33.3", property(t, full, aksID, "kubernetesVersion"), "a patch that was declared is moved")
	_, a := Apply(full, Op{Method: Put, ID: aksID, Body: j(t, aksCluster(version("1.33.2"))), Instant: true})
	require.NotNil(t, a.Error, "and cannot be had back")
	assert.Equal(t, OperationNotAllowed, a.Error.Code)
	assert.Equal(t, http.StatusBadRequest, a.Status, "which is no conflict")

	off := must(t, aksLand(t), aksID, aksCluster(aksProps(`'autoUpgradeProfile':{'upgradeChannel':'none'}`)))
	same, err := UpgradePatch(off, aksID)
	require.NotNil(t, err, "without a channel Azure does nothing")
	assert.Equal(t, OperationNotAllowed, err.Code)
	assert.Equal(t, "1.33.5", property(t, same, aksID, clusterRuns))
	_, err = UpgradePatch(platform(t), aksID)
	require.NotNil(t, err)
	assert.Equal(t, ResourceNotFound, err.Code)
}

// Versions go up one minor at a time, the control plane first (A432); a pool is not
// newer, nor more than two minors older (A433).
func TestVersionRules(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	orchestrator := func(v string) string { return aksPool(aksProps(`'orchestratorVersion':'` + v + `'`)) }
	plane := func(v string) write { return write{aksID, aksCluster(version(v))} }
	try(t, s, map[string]ruleCase{
		"A432 next minor":       {reason: "up", id: aksID, body: aksCluster(version("1.34"))},
		"A432 skipped":          {reason: "one at a time", id: aksID, body: aksCluster(version("1.35")), want: OperationNotAllowed, text: "1.33.5"},
		"A432 back":             {reason: "nothing goes back", id: aksID, body: aksCluster(version("1.32")), want: OperationNotAllowed},
		"A432 patch back":       {reason: "nothing goes back", id: aksID, body: aksCluster(version("1.33.4")), want: OperationNotAllowed},
		"A432 patch":            {reason: "up", id: aksID, body: aksCluster(version("1.33.7"))},
		"A432 no version":       {reason: "it must be one", id: aksID, body: aksCluster(version("newest")), want: InvalidParameter, text: "1.33.2"},
		"A432 pool back":        {reason: "nothing goes back", id: gpuPool, body: orchestrator("1.32"), want: OperationNotAllowed},
		"A433 pool first":       {reason: "the control plane comes first", id: gpuPool, body: orchestrator("1.34"), want: NodePoolVersionIncompatible, text: "orchestratorVersion of pool gpu"},
		"A433 pool patch first": {reason: "patches too", id: gpuPool, body: orchestrator("1.33.6"), want: NodePoolVersionIncompatible},
		"A433 pool second":      {reason: "neighbour", id: gpuPool, body: orchestrator("1.34"), before: []write{plane("1.34")}},
		"A433 new pool too old": {reason: "three behind", id: aksID + "/agentPools/old", body: orchestrator("1.30"), want: NodePoolVersionIncompatible},
		"A433 new pool old":     {reason: "two behind", id: aksID + "/agentPools/old", body: orchestrator("1.31")},
		"A433 left behind":      {reason: "gpu would be three behind", id: aksID, body: aksCluster(version("1.36")), before: []write{plane("1.34"), plane("1.35")}, want: NodePoolVersionIncompatible, text: "pool gpu"},
		"A433 taken along":      {reason: "it was upgraded between", id: aksID, body: aksCluster(version("1.36")), before: []write{plane("1.34"), plane("1.35"), {gpuPool, orchestrator("1.34")}}},
	})
}

// A pool that the write to the cluster lists follows the control plane, unless it
// says otherwise; others stay where they are (A434).
func TestInlinePoolFollows(t *testing.T) {
	t.Parallel()
	s := aksWorld(t)
	up := must(t, s, aksID, aksCluster(version("1.34")))
	assert.Equal(t, "1.34.5", property(t, up, aksID, clusterRuns))
	assert.Equal(t, "1.34.5", property(t, up, systemPool, poolRuns))
	assert.Equal(t, "1.34", property(t, up, systemPool, "orchestratorVersion"))
	assert.Equal(t, "1.33.5", property(t, up, gpuPool, poolRuns), "a pool of its own")
	again := must(t, up, gpuPool, aksPool(aksProps(`'maxCount':3`)))
	assert.Equal(t, "1.33.5", property(t, again, gpuPool, poolRuns), "nor with a write that says nothing of versions")
	held := must(t, s, aksID, aksCluster(version("1.34"), aksProps(`'agentPoolProfiles':[`+inline(`,'orchestratorVersion':'1.33'`)+`]`)))
	assert.Equal(t, "1.33.5", property(t, held, systemPool, poolRuns), "it says otherwise")
	assert.Equal(t, "1.33.5", property(t, must(t, held, aksID, aksCluster(version("1.34"))), systemPool, poolRuns), "and stays until the next upgrade")
	lifted := must(t, must(t, up, aksID, aksCluster(version("1.35"))), gpuPool, aksPool(aksProps(`'orchestratorVersion':'1.34'`)))
	assert.Equal(t, "1.34.5", property(t, lifted, gpuPool, poolRuns), "the newest patch of a minor that the control plane has left")
}

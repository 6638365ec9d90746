package capacity

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/aks"
)

func TestFleetsTakeNodes(t *testing.T) {
	t.Parallel()
	slices := aks.Pool{Name: "a100", Size: "Standard_NC24ads_A100_v4", MIG: aks.MIG3g, Strategy: aks.StrategySingle}
	whole := aks.Pool{Name: "h100", Size: "Standard_ND96isr_H100_v5"}
	for name, c := range map[string]struct {
		fleet Fleet
		pool  aks.Pool
		nodes int
		why   string
	}{
		"OneSlice":      {Fleet{GPUs: 1, Pods: 1, Replicas: 1}, slices, 1, "1 replicas x 1 pods = 1 pods of 1 nvidia.com/gpu, 2 on a node = 1 nodes"},
		"ThreeSlices":   {Fleet{GPUs: 1, Pods: 1, Replicas: 3}, slices, 2, "3 pods of 1 nvidia.com/gpu, 2 on a node = 2 nodes"},
		"Twice":         {Fleet{GPUs: 1, Pods: 1, Replicas: 3, Twice: true}, slices, 3, "x 2 while a change is rolled out = 6 pods"},
		"AcrossNodes":   {Fleet{GPUs: 8, Pods: 2, Replicas: 2}, whole, 4, "2 replicas x 2 pods = 4 pods of 8 nvidia.com/gpu, 1 on a node = 4 nodes"},
		"Remainder":     {Fleet{GPUs: 4, Pods: 1, Replicas: 3}, whole, 2, "2 on a node = 2 nodes"},
		"LargerThanOne": {Fleet{GPUs: 3, Pods: 1, Replicas: 1}, slices, 0, "a pod takes 3, a node of a100 offers 2 nvidia.com/gpu"},
		"NoGPUs":        {Fleet{GPUs: 1, Pods: 1, Replicas: 1}, aks.Pool{Name: "worker", Size: "Standard_D4s_v5"}, 0, "a node of worker offers 0"},
	} {
		nodes, why := c.fleet.Nodes(c.pool)
		assert.Equal(t, c.nodes, nodes, name)
		assert.Contains(t, why, c.why, name)
	}
}

// All pods of a node together ask for less than it has, or the last one, and with it
// the node, would never come.
func TestSharesFitTheNode(t *testing.T) {
	t.Parallel()
	for _, pool := range []aks.Pool{
		{Size: "Standard_NC24ads_A100_v4", MIG: aks.MIG1g, Strategy: aks.StrategySingle},
		{Size: "Standard_NC24ads_A100_v4", MIG: aks.MIG3g, Strategy: aks.StrategySingle},
		{Size: "Standard_ND96isr_H100_v5"}, {Size: "Standard_NC80adis_H100_v5"}, {Size: "Standard_NC4as_T4_v3"},
	} {
		size, _ := aks.Lookup(pool.Size)
		_, perNode := pool.Offers()
		vcpus, memory := Fleet{GPUs: 1}.Share(pool)
		assert.LessOrEqual(t, vcpus*perNode, size.VCPUs-2, pool.Size)
		assert.Less(t, float64(memory*perNode), float64(size.MemoryGB)*0.931-4, pool.Size)
		assert.Positive(t, vcpus)
		assert.Positive(t, memory)
	}
	vcpus, memory := Fleet{GPUs: 1}.Share(aks.Pool{Size: "Standard_D4s_v5"})
	assert.Zero(t, vcpus+memory)
}

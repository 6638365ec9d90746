package cluster

import (
	"maps"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20250101"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/az/aks"
	"onedoor/internal/ref"
	armpatch "onedoor/plugins/armpatch/sdk"
)

// Pool is one pool of nodes. Everything but its subnet is plain.
type Pool struct {
	Name     string // 1 to 12 lower-case letters and digits
	Subnet   ref.Subnet
	Size     string   // VM size, as in "Standard_D4s_v5"
	Min, Max int      // nodes; the autoscaler chooses between them
	Zones    []string // availability zones, sorted; none leaves the choice to Azure
	MaxPods  int      // 10 to 250, per node
	DiskGB   int      // of the operating system
	Labels   map[string]string
	Taints   []string // as in "sku=gpu:NoSchedule", sorted
	GPU      bool     // install NVIDIA's driver
	MIG      string   // profile that each GPU is cut into, as in "MIG1g"; "" for whole GPUs
	Spot     bool     // preemptible, at up to the on-demand price
}

// maxSurge is how many nodes above the maximum an upgrade adds; the address plan
// counts on it.
const maxSurge = "33%"

// onDemand lets a spot node cost as much as one on demand.
const onDemand = -1

// inline is the system pool as part of the cluster. It is never removed or
// renamed: Azure keeps a pool that leaves this list, and then refuses every
// later write to the cluster.
// https://github.com/pulumi/pulumi-azure-native/issues/2719
func (p Pool) inline(a Args) containerservice.ManagedClusterAgentPoolProfileArgs {
	return containerservice.ManagedClusterAgentPoolProfileArgs{
		Name:              pulumi.String(p.Name),
		Mode:              pulumi.String("System"),
		Type:              pulumi.String("VirtualMachineScaleSets"),
		OsType:            pulumi.String("Linux"),
		OsSKU:             pulumi.String("Ubuntu"),
		OsDiskType:        pulumi.String("Managed"),
		OsDiskSizeGB:      pulumi.Int(p.DiskGB),
		VmSize:            pulumi.String(p.Size),
		VnetSubnetID:      p.Subnet.ID,
		AvailabilityZones: pulumi.ToStringArray(p.Zones),
		EnableAutoScaling: pulumi.Bool(true),
		Count:             pulumi.Int(p.Min),
		MinCount:          pulumi.Int(p.Min),
		MaxCount:          pulumi.Int(p.Max),
		MaxPods:           pulumi.Int(p.MaxPods),
		NodeLabels:        pulumi.ToStringMap(p.Labels),
		NodeTaints:        pulumi.ToStringArray(p.Taints),
		UpgradeSettings:   containerservice.AgentPoolUpgradeSettingsArgs{MaxSurge: pulumi.String(maxSurge)},
		Tags:              a.Scope.Tags(component),
	}
}

// system keeps the system pool as it is declared. The cluster is made with it and
// ignores it from then on, so its later changes are made on the pool itself, after
// the write called after: an upgrade takes the control plane first, then this pool,
// then the others. Its size and place cannot change: it can be neither replaced nor
// removed.
func (a Args) system(ctx *pulumi.Context, name, cluster string, parent, after pulumi.Resource, in pulumi.ResourceOption) (*armpatch.Patch, error) {
	p := a.System
	fixed := pulumi.Map{
		"/properties/vmSize":       pulumi.String(p.Size),
		"/properties/maxPods":      pulumi.Int(p.MaxPods),
		"/properties/osDiskSizeGB": pulumi.Int(p.DiskGB),
	}
	if len(p.Zones) > 0 { // else Azure says nothing of any
		fixed["/properties/availabilityZones"] = pulumi.ToStringArray(p.Zones)
	}
	return armpatch.NewPatch(ctx, name+"-"+p.Name, &armpatch.PatchArgs{
		ResourceID: pulumi.String(cluster + "/agentPools/" + p.Name),
		APIVersion: pulumi.String(apiVersion),
		Properties: pulumi.Map{"properties": pulumi.Map{
			"minCount":            pulumi.Int(p.Min),
			"maxCount":            pulumi.Int(p.Max),
			"orchestratorVersion": pulumi.String(a.Version),
			"nodeLabels":          pulumi.ToStringMap(p.Labels),
			"tags":                a.Scope.Tags(component),
		}},
		Preconditions: fixed,
		Triggers:      pulumi.StringMap{"cluster": pulumi.String(a.written())},
		OnDelete:      pulumi.String(armpatch.Keep), // it goes with the cluster
	}, in, pulumi.DependsOn([]pulumi.Resource{after}), pulumi.DeletedWith(parent))
}

// declare declares a user pool, after the write to the cluster that is called
// after.
func (p Pool) declare(ctx *pulumi.Context, name string, a Args, cluster string, parent, after pulumi.Resource, in pulumi.ResourceOption) (*containerservice.AgentPool, error) {
	labels, taints := map[string]string{}, append([]string(nil), p.Taints...)
	maps.Copy(labels, p.Labels)
	args := &containerservice.AgentPoolArgs{
		AgentPoolName:     pulumi.String(p.Name),
		ResourceName:      ref.After(pulumi.String(cluster), parent),
		ResourceGroupName: a.Group.Name,
		Mode:              pulumi.String("User"),
		Type:              pulumi.String("VirtualMachineScaleSets"),
		OsType:            pulumi.String("Linux"),
		OsSKU:             pulumi.String("Ubuntu"),
		OsDiskType:        pulumi.String("Managed"),
		OsDiskSizeGB:      pulumi.Int(p.DiskGB),
		VmSize:            pulumi.String(p.Size),
		// A minor version, as the cluster's; without it a pool would stay behind.
		OrchestratorVersion: pulumi.String(a.Version),
		VnetSubnetID:        p.Subnet.ID,
		AvailabilityZones:   pulumi.ToStringArray(p.Zones),
		EnableAutoScaling:   pulumi.Bool(true),
		Count:               pulumi.Int(p.Min),
		MinCount:            pulumi.Int(p.Min),
		MaxCount:            pulumi.Int(p.Max),
		MaxPods:             pulumi.Int(p.MaxPods),
		ScaleDownMode:       pulumi.String("Delete"),
		ScaleSetPriority:    pulumi.String("Regular"),
		Tags:                a.Scope.Tags(component),
	}
	if p.GPU {
		args.GpuProfile = containerservice.GPUProfileArgs{Driver: pulumi.String("Install")}
	}
	if p.MIG != "" {
		args.GpuInstanceProfile = pulumi.String(p.MIG)
	}
	if p.Spot {
		args.ScaleSetPriority = pulumi.String("Spot")
		args.ScaleSetEvictionPolicy = pulumi.String("Delete")
		args.SpotMaxPrice = pulumi.Float64(onDemand)
		// Azure adds both by itself; declared, they are no drift.
		labels[aks.SpotTaint.Key] = aks.SpotTaint.Value
		taints = append(taints, aks.SpotTaint.String())
	} else { // a spot pool takes no surge
		args.UpgradeSettings = containerservice.AgentPoolUpgradeSettingsArgs{MaxSurge: pulumi.String(maxSurge)}
	}
	args.NodeLabels, args.NodeTaints = pulumi.ToStringMap(labels), pulumi.ToStringArray(taints)
	return containerservice.NewAgentPool(ctx, name+"-"+p.Name, args, in,
		pulumi.DependsOn([]pulumi.Resource{after}), // no value flows between writes that only must not overlap
		pulumi.DeletedWith(parent),
		pulumi.IgnoreChanges([]string{"count"}), // the autoscaler's
		pulumi.ReplaceOnChanges(aks.ReplaceOnChanges(aks.PoolImmutables)),
		pulumi.DeleteBeforeReplace(true)) // names are fixed
}

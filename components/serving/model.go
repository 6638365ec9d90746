package serving

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
	"onedoor/internal/rayserve"
)

// patience is how long a model may take until it serves: a node is made, an image
// of many GB is pulled, and weights are loaded.
const patience = "60m"

// drainSeconds is how long the old cluster stays when a new one serves: as long as
// the longest call.
const drainSeconds = 600

// The strategies of a change to a RayService.
// https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/rayservice.html
const (
	newCluster = "NewCluster" // a second cluster beside the first, then the first goes
	inPlace    = "None"       // pods keep what they have until they are deleted
)

// model declares what one model needs, and returns its RayService.
func (b *builder) model(m Model, shared shared, operator pulumi.Resource) (pulumi.Resource, error) {
	name := b.name + "-" + m.Name
	wall, err := b.wall(name, m)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if err := b.budget(name, m); err != nil {
		return nil, fmt.Errorf("disruption budget: %w", err)
	}
	strategy := inPlace
	if m.Fleet.Twice {
		strategy = newCluster
	}
	_, nodes := m.Fleet.Nodes(m.Pool)
	metadata := b.metadata(m.Name)
	metadata.Annotations = pulumi.ToStringMap(map[string]string{
		kube.WaitFor:          "condition=Ready",
		"onedoor/gpu-plan":    fmt.Sprintf("%s on %s: %s", m.Plan.Verdict, m.Plan.GPU, strings.Join(m.Plan.Arithmetic, "; ")),
		"onedoor/gpu-nodes":   nodes,
		"onedoor/gpu-replica": fmt.Sprintf("%d x %d GPUs", m.Fleet.Pods, m.Fleet.GPUs),
	})
	return apiextensions.NewCustomResource(b.ctx, name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String("ray.io/v1"), Kind: pulumi.String("RayService"), Metadata: metadata,
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
			"serveConfigV2":                  pulumi.String(b.config(m).Text()),
			"upgradeStrategy":                pulumi.StringMap{"type": pulumi.String(strategy)},
			"excludeHeadPodFromServeSvc":     pulumi.Bool(true),
			"rayClusterDeletionDelaySeconds": pulumi.Int(drainSeconds),
			"rayClusterConfig":               b.cluster(m, shared),
		}},
	}, append(slices.Clip(b.in), pulumi.DependsOn([]pulumi.Resource{operator, wall}), // its kind, and what holds its pods
		pulumi.Timeouts(&pulumi.CustomTimeouts{Create: patience, Update: patience}))...)
}

// Limits of the ingress, which only hands calls on.
const (
	ingressOngoing = 1000 // calls of one ingress at once
	upscaleDelay   = 30   // seconds
	downscaleDelay = 600  // seconds: a model takes minutes to load again
)

// ingressResource is what nodes of Ray without GPUs are given, so that ingresses run
// on them and the GPUs can go.
const ingressResource = "ingress"

// config is the configuration of Ray Serve.
func (b *builder) config(m Model) rayserve.Config {
	llm := func(of Replicas) rayserve.LLM {
		one := rayserve.LLM{
			Loading: rayserve.Loading{ID: m.Name, Source: m.path(m.Model.Name)},
			Deployment: rayserve.Deployment{
				Autoscaling: rayserve.Autoscaling{Min: of.Min, Max: of.Max, Target: m.Target, UpscaleDelay: upscaleDelay, DownscaleDelay: downscaleDelay},
				MaxOngoing:  min(2*m.Target, m.Plan.Engine.MaxNumSeqs), // what is above the target waits here while a replica starts
			},
			Metrics: true,
		}
		draft := ""
		if d := m.Plan.Engine.Draft; d != nil {
			draft = m.path(d.Model.Name)
		}
		one.Engine = rayserve.EngineOf(m.Model, m.Plan.Engine, draft)
		if m.disaggregated() {
			one.Engine.Transfer = &rayserve.Nixl
		}
		return one
	}
	app := rayserve.Application{
		Name: m.Name, ImportPath: rayserve.Builder, RoutePrefix: "/",
		Args: rayserve.Args{Ingress: rayserve.Deployment{
			Autoscaling: rayserve.Autoscaling{Min: b.args.Ingresses, Max: b.args.Ingresses, Target: ingressOngoing, UpscaleDelay: upscaleDelay, DownscaleDelay: downscaleDelay},
			MaxOngoing:  ingressOngoing,
			Actor:       &rayserve.Actor{CPUs: 1, Resources: map[string]float64{ingressResource: 1}},
		}},
	}
	if m.disaggregated() {
		prefill, decode := llm(m.Prefill), llm(Replicas{m.Min, m.Max})
		app.ImportPath, app.Args.Prefill, app.Args.Decode = rayserve.DisaggregatedBuilder, &prefill, &decode
	} else {
		app.Args.Models = []rayserve.LLM{llm(Replicas{m.Min, m.Max})}
	}
	return rayserve.Config{Applications: []rayserve.Application{app}}
}

// path is where the pods find a model.
func (m Model) path(model string) string {
	if m.Source == HuggingFace {
		return model
	}
	return weightsPath + "/" + model
}

// own selects the pods of the model's Ray cluster.
func (m Model) own() metav1.LabelSelectorArgs {
	return metav1.LabelSelectorArgs{MatchLabels: pulumi.StringMap{Label: pulumi.String(m.Name)}}
}

// wall lets the parts of the model's Ray cluster reach one another, and those of no
// other: whoever reaches a head runs what he likes on the cluster.
// https://docs.ray.io/en/latest/ray-security/index.html
func (b *builder) wall(name string, m Model) (pulumi.Resource, error) {
	peers := networkingv1.NetworkPolicyPeerArray{networkingv1.NetworkPolicyPeerArgs{PodSelector: m.own()}}
	return networkingv1.NewNetworkPolicy(b.ctx, name+"-within", &networkingv1.NetworkPolicyArgs{
		Metadata: b.metadata("within-" + m.Name),
		Spec: networkingv1.NetworkPolicySpecArgs{
			PodSelector: m.own(), PolicyTypes: pulumi.ToStringArray([]string{"Ingress", "Egress"}),
			Ingress: networkingv1.NetworkPolicyIngressRuleArray{networkingv1.NetworkPolicyIngressRuleArgs{From: peers}},
			Egress:  networkingv1.NetworkPolicyEgressRuleArray{networkingv1.NetworkPolicyEgressRuleArgs{To: peers}},
		},
	}, b.in...)
}

// budget lets nodes be drained one pod at a time. It counts pods that must stay,
// since Kubernetes knows no number of replicas of a Ray cluster that it could
// subtract from; and a model whose one replica it held would stop every upgrade of
// nodes, so such a model has none.
// https://kubernetes.io/docs/tasks/run-application/configure-pdb/#arbitrary-controllers-and-selectors
func (b *builder) budget(name string, m Model) error {
	stay := m.pods().Min - 1
	if stay < 1 {
		return nil
	}
	selector := m.own()
	selector.MatchLabels = pulumi.StringMap{Label: pulumi.String(m.Name), groupLabel: pulumi.String(gpuGroup)}
	_, err := policyv1.NewPodDisruptionBudget(b.ctx, name+"-disruptions", &policyv1.PodDisruptionBudgetArgs{
		Metadata: b.metadata(m.Name),
		Spec:     policyv1.PodDisruptionBudgetSpecArgs{MinAvailable: pulumi.Int(stay), Selector: selector},
	}, b.in...)
	return err
}

// monitor declares where the metrics of all Ray clusters are collected: those of
// Ray, and under its names those of vLLM.
// https://learn.microsoft.com/azure/azure-monitor/containers/prometheus-metrics-scrape-crd
func (b *builder) monitor() error {
	if len(b.args.Models) == 0 {
		return nil
	}
	_, err := apiextensions.NewCustomResource(b.ctx, b.name+"-monitor", &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String("azmonitoring.coreos.com/v1"), Kind: pulumi.String("PodMonitor"), Metadata: b.metadata(app),
		OtherFields: kubernetes.UntypedArgs{"spec": map[string]any{
			"selector":            map[string]any{"matchExpressions": []any{map[string]any{"key": Label, "operator": "Exists"}}},
			"podMetricsEndpoints": []any{map[string]any{"port": metricsPort, "interval": "30s"}},
			"podTargetLabels":     []any{Label, groupLabel},
		}},
	}, b.in...)
	return err
}

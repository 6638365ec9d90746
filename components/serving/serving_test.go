package serving_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/serving"
	"onedoor/internal/az"
	"onedoor/internal/az/aks"
	"onedoor/internal/capacity"
	"onedoor/internal/capacity/gpu"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
	"onedoor/internal/rayserve"
	"onedoor/internal/ref"
)

// slices is a pool whose GPUs are cut in two, whole one of two GPUs a node.
var (
	slices = pool("a100", "Standard_NC24ads_A100_v4", aks.MIG3g, 4)
	whole  = pool("h100", "Standard_NC80adis_H100_v5", "", 8)
)

func pool(name, size string, profile aks.Profile, most int) aks.Pool {
	p := aks.Pool{Name: name, Size: size, MIG: profile, AutoScale: true, Max: &most, Taints: []string{"sku=gpu:NoSchedule"}, Labels: map[string]string{"pool": name}}
	if profile != "" {
		p.Strategy = aks.StrategySingle
	}
	return p
}

// model is a model of that name on a pool, as planned.
func model(t *testing.T, name, of string, on aks.Pool, change ...func(*serving.Model, *gpu.Request)) serving.Model {
	t.Helper()
	known, ok := gpu.LookupModel(of)
	require.True(t, ok)
	size, _ := aks.Lookup(on.Size)
	req := gpu.Request{Model: known, Size: size, Profile: on.MIG, Concurrency: 4, Engine: gpu.Engine{Version: rayserve.VLLMVersion, MaxModelLen: 16384, MaxNumSeqs: 256}}
	m := serving.Model{Name: name, Model: known, Pool: on, Source: serving.Volume, Min: 2, Max: 4, Target: 16}
	for _, c := range change {
		c(&m, &req)
	}
	var err error
	m.Plan, err = gpu.Make(req)
	require.NoError(t, err)
	m.Fleet = capacity.Fleet{GPUs: m.Plan.TensorParallel, Pods: m.Plan.PipelineParallel, Replicas: m.Max + m.Prefill.Max, Twice: true}
	return m
}

func args(models ...serving.Model) serving.Args {
	return serving.Args{
		Scope: fake.Scope(az.Prod), TenantID: "66666666-7777-8888-9999-000000000000", Namespace: pulumi.String(kube.Serving), Operators: pulumi.String(kube.KubeRay),
		Registry: pulumi.String("cr.azurecr.io").ToStringOutput(), Image: pulumi.String("cr.azurecr.io/rayproject/ray-llm:2@sha256:1").ToStringOutput(), ClientID: pulumi.String("serving-client"), Identity: fake.Identity("serving"),
		Heads: map[string]string{"pool": "system"}, Ingresses: 2,
		Weights: serving.Weights{Group: "rg", Account: pulumi.String("stonedoor"), Container: "weights"},
		Token:   serving.Token{Vault: ref.Ready(fake.GroupID + "/providers/Microsoft.KeyVault/vaults/kv-gateway"), Secret: "hugging-face"},
		Models:  models,
	}
}

func program(a serving.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		var cluster struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
			return err
		}
		a.Cluster = &cluster
		_, err := serving.New(ctx, "serving", a)
		return err
	}
}

// at is the value at a path of keys and indices.
func at(v any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	return v
}

// service is the spec of the RayService of a model.
func service(t *testing.T, plan *fake.Plan, name string) map[string]any {
	t.Helper()
	return plan.Get(t, "serving-"+name).Input("spec").(map[string]any)
}

// config is the configuration of Ray Serve in it.
func config(t *testing.T, plan *fake.Plan, name string) rayserve.Application {
	t.Helper()
	c, err := rayserve.Parse(service(t, plan, name)["serveConfigV2"].(string))
	require.NoError(t, err)
	require.Len(t, c.Applications, 1)
	return c.Applications[0]
}

func TestObjectsAreLegal(t *testing.T) {
	t.Parallel()
	fetched := model(t, "llama-hub", "Llama-3.1-8B-Instruct", slices, func(m *serving.Model, _ *gpu.Request) { m.Source, m.Min = serving.HuggingFace, 0 })
	a := args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices), model(t, "llama-70b", "Llama-3.3-70B-Instruct", whole), fetched)
	for _, mode := range fake.Modes {
		n := 0
		for _, r := range fake.Run(t, mode, program(a)).Resources {
			if !strings.HasPrefix(r.Type, "kubernetes:") || strings.HasSuffix(r.Type, ":Release") {
				continue
			}
			object := map[string]any{}
			for key := range r.Inputs {
				object[string(key)] = r.Input(string(key))
			}
			assert.Empty(t, manifest.Check(object), r.Name)
			assert.Equal(t, "aks", r.Options.DeletedWith, r.Name)
			n++
		}
		assert.Equal(t, 3*2+2+4, n, "a RayService and its policy each, budgets of two, a volume with its claim, a mount and a monitor")
	}
}

// What is planned is what vLLM is told: a default of its own would undo the plan.
func TestEnginesDoWhatWasPlanned(t *testing.T) {
	t.Parallel()
	m := model(t, "llama-70b", "Llama-3.3-70B-Instruct", whole, func(_ *serving.Model, r *gpu.Request) {
		draft, _ := gpu.LookupModel("Llama-3.1-8B-Instruct")
		r.Engine.Draft = &gpu.Draft{Model: draft, Tokens: 5}
		r.Engine.KVCacheDtype, r.Engine.Quantization, r.Engine.GPUMemoryUtilization = gpu.KVFP8, gpu.FP8, 0.85
	})
	plan := fake.Run(t, fake.Preview, program(args(m)))
	app := config(t, plan, "llama-70b")
	require.Len(t, app.Args.Models, 1)
	llm := app.Args.Models[0]
	assert.Equal(t, rayserve.Builder, app.ImportPath)
	assert.Equal(t, rayserve.Loading{ID: "llama-70b", Source: "/weights/meta-llama/Llama-3.3-70B-Instruct"}, llm.Loading)
	assert.Equal(t, "Llama-3.3-70B-Instruct", llm.Loading.Model())
	e := llm.Engine
	assert.InDelta(t, 0.85, e.GPUMemoryUtilization, 0)
	assert.Equal(t, gpu.FP8, e.Quantization)
	assert.Equal(t, gpu.KVFP8, e.KVCacheDtype)
	assert.Equal(t, 2, e.TensorParallel, "one GPU has no room for the draft model beside it")
	assert.Equal(t, 256, e.MaxNumSeqs)
	assert.Equal(t, 8192, e.MaxNumBatchedTokens, "the planner's default for this GPU, spelt out")
	assert.True(t, e.PrefixCaching)
	assert.True(t, e.ChunkedPrefill)
	assert.Equal(t, &rayserve.Speculative{Method: "draft_model", Model: "/weights/meta-llama/Llama-3.1-8B-Instruct", Tokens: 5, TensorParallel: 1}, e.Speculative)
	assert.Nil(t, e.Transfer)
	assert.Equal(t, m.Plan.Engine, e.Plan(m.Model.Format), "read back it is the engine that was planned, so that a policy judges the same")
}

// Without a target there is never another replica: Ray Serve LLM's own is 10^9.
func TestReplicasFollowCalls(t *testing.T) {
	t.Parallel()
	app := config(t, fake.Run(t, fake.Preview, program(args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices)))), "llama-8b")
	assert.Equal(t, rayserve.Deployment{
		Autoscaling: rayserve.Autoscaling{Min: 2, Max: 4, Target: 16, UpscaleDelay: 30, DownscaleDelay: 600}, MaxOngoing: 32,
	}, app.Args.Models[0].Deployment)
	assert.Nil(t, app.Args.Models[0].Deployment.Actor, "GPUs of an actor would come on top of those of its ranks")
	assert.Equal(t, 2, app.Args.Ingress.Autoscaling.Min)
	assert.Equal(t, 2, app.Args.Ingress.Autoscaling.Max)
	assert.Equal(t, map[string]float64{"ingress": 1}, app.Args.Ingress.Actor.Resources, "on pods without GPUs, or the last GPU never goes")
}

func TestPodsAskForWhatTheirPoolOffers(t *testing.T) {
	t.Parallel()
	most := 4
	mixed := slices
	mixed.Strategy, mixed.Max = aks.StrategyMixed, &most
	for name, c := range map[string]struct {
		pool     aks.Pool
		of       string
		resource string
		count    string
		cpu      string
	}{
		"Slice":      {slices, "Llama-3.1-8B-Instruct", "nvidia.com/gpu", "1", "11"},
		"NamedSlice": {mixed, "Llama-3.1-8B-Instruct", "nvidia.com/mig-3g.40gb", "1", "11"},
		"Whole":      {whole, "Llama-3.3-70B-Instruct", "nvidia.com/gpu", "2", "78"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := service(t, fake.Run(t, fake.Preview, program(args(model(t, "llama", c.of, c.pool)))), "llama")
			group := at(spec, "rayClusterConfig", "workerGroupSpecs", 1).(map[string]any)
			assert.Equal(t, "models", group["groupName"])
			assert.Equal(t, c.count, at(group, "rayStartParams", "num-gpus"), "the operator knows no resource that it did not expect")
			limits := at(group, "template", "spec", "containers", 0, "resources", "limits").(map[string]any)
			assert.Equal(t, c.count, limits[c.resource])
			assert.Equal(t, c.cpu, limits["cpu"])
			assert.Len(t, limits, 3, "one kind of GPU, or the operator sees the wrong one")
			assert.Equal(t, map[string]any{"pool": c.pool.Name}, at(group, "template", "spec", "nodeSelector"))
			assert.Equal(t, "gpu", at(group, "template", "spec", "tolerations", 0, "value"))
			assert.Equal(t, 2.0, group["minReplicas"])
			assert.Equal(t, 4.0, group["maxReplicas"])
		})
	}
}

// A lost head takes the model along: it runs no replica and takes no call.
func TestHeadsOnlyKeepState(t *testing.T) {
	t.Parallel()
	spec := service(t, fake.Run(t, fake.Preview, program(args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices)))), "llama-8b")
	assert.Equal(t, true, spec["excludeHeadPodFromServeSvc"])
	head := at(spec, "rayClusterConfig", "headGroupSpec").(map[string]any)
	assert.Equal(t, "0", at(head, "rayStartParams", "num-cpus"))
	assert.Equal(t, map[string]any{"pool": "system"}, at(head, "template", "spec", "nodeSelector"))
	for _, template := range []any{at(head, "template"), at(spec, "rayClusterConfig", "workerGroupSpecs", 0, "template"), at(spec, "rayClusterConfig", "workerGroupSpecs", 1, "template")} {
		assert.Equal(t, false, at(template, "spec", "automountServiceAccountToken"))
		assert.Equal(t, "llama-8b", at(template, "metadata", "labels", serving.Label))
		assert.NotContains(t, at(template, "spec", "containers", 0), "command")
		for _, mount := range mounts(at(template, "spec", "containers", 0)) {
			assert.NotContains(t, mount, "serviceaccount", "the autoscaler alone asks the API server")
		}
	}
	assert.Equal(t, "/var/run/secrets/kubernetes.io/serviceaccount", at(spec, "rayClusterConfig", "autoscalerOptions", "volumeMounts", 0, "mountPath"))
}

func mounts(container any) []string {
	list, _ := container.(map[string]any)["volumeMounts"].([]any)
	var out []string
	for _, m := range list {
		out = append(out, at(m, "mountPath").(string))
	}
	return out
}

func TestUpgradesSayWhatTheyCost(t *testing.T) {
	t.Parallel()
	beside := model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices)
	inPlace := beside
	inPlace.Name, inPlace.Fleet.Twice = "llama-b", false
	plan := fake.Run(t, fake.Preview, program(args(beside, inPlace)))
	assert.Equal(t, map[string]any{"type": "NewCluster"}, service(t, plan, "llama-8b")["upgradeStrategy"])
	assert.Equal(t, map[string]any{"type": "None"}, service(t, plan, "llama-b")["upgradeStrategy"])
	nodes := func(name string) any {
		return at(plan.Get(t, "serving-"+name).Input("metadata"), "annotations", "onedoor/gpu-nodes")
	}
	assert.Equal(t, "4 replicas x 1 pods x 2 while a change is rolled out = 8 pods of 1 nvidia.com/gpu, 2 on a node = 4 nodes", nodes("llama-8b"))
	assert.Equal(t, "4 replicas x 1 pods = 4 pods of 1 nvidia.com/gpu, 2 on a node = 2 nodes", nodes("llama-b"))
}

func TestWeightsAreReadByIdentity(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices))))
	spec := plan.Get(t, "serving-weights").Input("spec").(map[string]any)
	assert.Equal(t, "Retain", spec["persistentVolumeReclaimPolicy"])
	assert.Equal(t, true, at(spec, "csi", "readOnly"))
	attributes := at(spec, "csi", "volumeAttributes").(map[string]any)
	assert.Equal(t, "serving-client", attributes["clientID"])
	assert.Equal(t, "true", attributes["mountWithWorkloadIdentityToken"], "the account has no keys")
	worker := at(service(t, plan, "llama-8b"), "rayClusterConfig", "workerGroupSpecs", 1, "template", "spec").(map[string]any)
	assert.Equal(t, map[string]any{"claimName": "model-servers", "readOnly": true}, at(worker, "volumes", 0, "persistentVolumeClaim"))
	assert.Empty(t, plan.Names(":Secret"), "nobody fetches anything")
	assert.Contains(t, at(worker, "containers", 0, "env"), map[string]any{"name": "HF_HUB_OFFLINE", "value": "1"})
}

func TestTheTokenNeverLeavesItsFile(t *testing.T) {
	t.Parallel()
	m := model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices, func(m *serving.Model, _ *gpu.Request) { m.Source = serving.HuggingFace })
	plan := fake.Run(t, fake.Update, program(args(m)))
	assert.Empty(t, plan.Names(":PersistentVolume"))
	assert.Equal(t, []string{"serving-principal " + az.SecretsUser.GUID + " at secrets/hugging-face"}, plan.Grants())
	assert.Equal(t, []string{"properties", "tags"}, plan.Get(t, "serving-token").Options.Ignore)
	worker := at(service(t, plan, "llama-8b"), "rayClusterConfig", "workerGroupSpecs", 1, "template", "spec").(map[string]any)
	assert.Contains(t, at(worker, "containers", 0, "env"), map[string]any{"name": "HF_TOKEN_PATH", "value": "/var/run/onedoor/hugging-face/token"})
	assert.Equal(t, "hugging-face", at(worker, "volumes", 0, "csi", "volumeAttributes", "secretProviderClass"))
	assert.Equal(t, "meta-llama/Llama-3.1-8B-Instruct", config(t, plan, "llama-8b").Args.Models[0].Loading.Source)
}

func TestPrefillAndDecodeApart(t *testing.T) {
	t.Parallel()
	m := model(t, "llama-70b", "Llama-3.3-70B-Instruct", whole, func(m *serving.Model, _ *gpu.Request) {
		m.Min, m.Max, m.Prefill = 1, 2, serving.Replicas{Min: 1, Max: 2}
	})
	plan := fake.Run(t, fake.Preview, program(args(m)))
	app := config(t, plan, "llama-70b")
	assert.Equal(t, rayserve.DisaggregatedBuilder, app.ImportPath)
	assert.Empty(t, app.Args.Models)
	require.NotNil(t, app.Args.Prefill)
	require.NotNil(t, app.Args.Decode)
	for _, part := range app.LLMs() {
		assert.Equal(t, &rayserve.Nixl, part.Engine.Transfer)
		assert.Equal(t, "llama-70b", part.Loading.ID)
	}
	group := at(service(t, plan, "llama-70b"), "rayClusterConfig", "workerGroupSpecs", 1).(map[string]any)
	assert.Equal(t, 4.0, group["maxReplicas"], "both sides")
	env := at(group, "template", "spec", "containers", 0, "env").([]any)
	assert.Contains(t, env, map[string]any{"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "status.podIP"}}})
}

// Whoever reaches the head of a Ray cluster runs what he likes on it.
func TestRayClustersAreShutOffFromOneAnother(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices))))
	own := map[string]any{"matchLabels": map[string]any{serving.Label: "llama-8b"}}
	peers := []any{map[string]any{"podSelector": own}}
	assert.Equal(t, map[string]any{
		"podSelector": own, "policyTypes": []any{"Ingress", "Egress"},
		"ingress": []any{map[string]any{"from": peers}}, "egress": []any{map[string]any{"to": peers}},
	}, plan.Get(t, "serving-llama-8b-within").Input("spec"))
	assert.Contains(t, plan.Get(t, "serving-llama-8b").DependsOn, "serving-llama-8b-within")
}

// A budget that holds a model's one replica would stop every upgrade of nodes.
func TestBudgetsLetNodesGo(t *testing.T) {
	t.Parallel()
	one := model(t, "one", "Llama-3.1-8B-Instruct", slices, func(m *serving.Model, _ *gpu.Request) { m.Min = 1 })
	plan := fake.Run(t, fake.Preview, program(args(one, model(t, "two", "Llama-3.1-8B-Instruct", slices))))
	assert.Equal(t, []string{"serving-two-disruptions"}, plan.Names(":PodDisruptionBudget"))
	spec := plan.Get(t, "serving-two-disruptions").Input("spec")
	assert.Equal(t, 1.0, at(spec, "minAvailable"))
	assert.NotContains(t, spec, "maxUnavailable", "Kubernetes knows no number of replicas of a Ray cluster")
}

func TestTheOperatorSeesOneNamespace(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices))))
	release := plan.Get(t, "serving-operator")
	assert.Equal(t, "oci://cr.azurecr.io/aks/ai-runtime/helm/kuberay-operator", release.Input("chart"))
	assert.Equal(t, "1.6.1", release.Input("version"))
	values := release.Input("values").(map[string]any)
	assert.Equal(t, []any{kube.Serving}, values["watchNamespace"])
	assert.Equal(t, true, values["singleNamespaceInstall"])
	assert.Equal(t, map[string]any{"repository": "cr.azurecr.io/oss/v2/kuberay/operator", "tag": "v1.6.1"}, values["image"])
	assert.Contains(t, plan.Get(t, "serving-llama-8b").DependsOn, "serving-operator")
}

func TestWhatWouldNeverStartIsRefused(t *testing.T) {
	t.Parallel()
	small := pool("a100", "Standard_NC24ads_A100_v4", aks.MIG1g, 4)
	for name, c := range map[string]struct {
		args serving.Args
		want string
	}{
		"NoFit":   {args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", small)), `model "llama-8b" does not fit`},
		"TooMany": {args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices, func(m *serving.Model, _ *gpu.Request) { m.Max = 5 })), "pool a100 has at most 4 nodes: 5 replicas x 1 pods x 2 while a change is rolled out = 10 pods"},
		"NoHeads": {func() serving.Args { a := args(); a.Heads = nil; return a }(), "no node selector of heads"},
		"NoSecret": {func() serving.Args {
			a := args(model(t, "llama-8b", "Llama-3.1-8B-Instruct", slices, func(m *serving.Model, _ *gpu.Request) { m.Source = serving.HuggingFace }))
			a.Token.Secret = ""
			return a
		}(), "no secret with the token of Hugging Face"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fake.Try(fake.Preview, program(c.args))
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Until the cloud is registered there is nothing that its operator could serve.
func TestAnyscaleGetsWhatItNeeds(t *testing.T) {
	t.Parallel()
	run := func(registration string) *fake.Plan {
		return fake.Run(t, fake.Update, func(ctx *pulumi.Context) error {
			var cluster struct{ pulumi.CustomResourceState }
			if err := ctx.RegisterResource("test:index:Cluster", "aks", pulumi.Map{}, &cluster); err != nil {
				return err
			}
			_, err := serving.NewAnyscale(ctx, "anyscale", serving.AnyscaleArgs{
				Scope: fake.Scope(az.Prod), Cluster: &cluster, ClientID: pulumi.String("serving-client"), Identity: fake.Identity("serving"), Group: fake.Group(),
				Storage: ref.Ready(fake.GroupID + "/providers/Microsoft.Storage/storageAccounts/stonedoor"), Heads: map[string]string{"pool": "system"}, Registration: registration,
			})
			return err
		})
	}
	before := run("")
	assert.Empty(t, before.Names(":Release"))
	assert.Equal(t, []string{"serving-principal " + az.BlobContributor.GUID + " at containers/anyscale-operator"}, before.Grants())
	after := run("cldrsrc_abc")
	values := after.Get(t, "anyscale-operator").Input("values").(map[string]any)
	assert.Equal(t, "cldrsrc_abc", at(values, "global", "cloudDeploymentId"))
	assert.Equal(t, "serving-client", at(values, "global", "auth", "iamIdentity"))
	assert.Subset(t, after.Get(t, "anyscale-operator").DependsOn, []string{"anyscale-deny-all", "anyscale-own", "anyscale-writes"})
	for _, name := range after.Names(":NetworkPolicy") {
		policy := after.Get(t, name)
		assert.Empty(t, manifest.Check(map[string]any{"apiVersion": policy.Input("apiVersion"), "kind": policy.Input("kind"), "metadata": policy.Input("metadata"), "spec": policy.Input("spec")}), name)
	}
}

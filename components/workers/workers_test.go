package workers_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/workers"
	"onedoor/internal/capacity"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/manifest"
	"onedoor/internal/ref"
)

// queue is a valid queue of 4 replicas.
func queue(t *testing.T, p99 time.Duration, parallel int) workers.Queue {
	t.Helper()
	load := capacity.Load{Parallel: parallel, Item: 10 * time.Second, Tokens: 1000, Calls: 1}
	hold, err := capacity.HoldFor(p99, 1)
	require.NoError(t, err)
	share := capacity.Shares([]capacity.Limits{{Name: "oai/chat-zone", Tokens: 4 * load.Rate().Tokens, Requests: 1000}}, []capacity.Claim{{Load: load, Weight: 1}})[0]
	return workers.Queue{
		ClientID: pulumi.String("worker-client"), Payloads: "payloads-x", Results: "results-x", Alias: "chat",
		Load: load, Share: share, Hold: hold, P99: p99, Batch: 1, Backlog: 12, PayloadMiB: 4, PriceAs: "gpt-5.1/GlobalStandard",
	}
}

// program declares a deployment and jobs; change makes the arguments wrong. What
// they need are resources of their own, so that a test sees what waits for what.
func program(t *testing.T, change func(*workers.Args)) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		made := map[string]pulumi.Resource{}
		for _, name := range []string{"aks", "keda-restarted", "operator-credential", "queue-role", "key-role"} {
			var r struct{ pulumi.CustomResourceState }
			if err := ctx.RegisterResource("test:index:Thing", name, pulumi.Map{}, &r); err != nil {
				return err
			}
			made[name] = &r
		}
		text, video := queue(t, 20*time.Second, 5), queue(t, 10*time.Minute, 1)
		text.Queue = ref.Queue{Name: "text", Resource: ref.Ready("/queues/text", made["queue-role"])}
		video.Queue, video.Jobs = ref.Queue{Name: "video", Resource: ref.Ready("/queues/video", made["queue-role"])}, true
		args := workers.Args{
			Cluster: made["aks"], Namespace: pulumi.String(kube.Workers), Scaling: made["keda-restarted"],
			Scaler: ref.After(pulumi.String("scaler-client"), made["operator-credential"]),
			Image:  pulumi.String("cr.azurecr.io/onedoor/worker:1"), NodeSelector: map[string]string{"pool": "worker"},
			Bus: "sb-test", BusHost: pulumi.String("sb-test.servicebus.windows.net"), Blobs: pulumi.String("https://st.blob.core.windows.net/"),
			Gateway: pulumi.String("https://apim/openai/v1"), Audience: "api://onedoor", ControlPlane: pulumi.String("https://batch.internal"), Authority: "PEM",
			Keys: ref.Keys{Vault: "kv", Tenant: "tenant", Signing: "1", Secrets: map[string]pulumi.StringOutput{
				"0": pulumi.String("mac-key-0").ToStringOutput(), "1": ref.After(pulumi.String("mac-key-1"), made["key-role"]),
			}},
			Queues: map[string]workers.Queue{"text": text, "video": video},
		}
		if change != nil {
			change(&args)
		}
		_, err := workers.New(ctx, "workers", args)
		return err
	}
}

// object is what the API server gets of a resource.
func object(r fake.Resource) map[string]any {
	out := map[string]any{}
	for key := range r.Inputs {
		out[string(key)] = r.Input(string(key))
	}
	return out
}

func spec(t *testing.T, plan *fake.Plan, name string) map[string]any {
	t.Helper()
	return plan.Get(t, name).Input("spec").(map[string]any)
}

// at is the value at path in v.
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

func TestObjectsAreLegalAndGoWithTheCluster(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		count := 0
		for _, r := range fake.Run(t, mode, program(t, nil)).Resources {
			if !strings.HasPrefix(r.Type, "kubernetes:") {
				continue
			}
			count++
			assert.Empty(t, manifest.Check(object(r)), r.Name)
			assert.Equal(t, "aks", r.Options.DeletedWith, r.Name)
			assert.Equal(t, "workers", r.Parent, r.Name)
			assert.Equal(t, kube.Workers, at(object(r), "metadata", "namespace"), r.Name)
		}
		assert.Equal(t, 7, count, "authentication; for each queue keys and scaler; a deployment with its budget")
	}
}

func TestScalersAskForTheQueueAsTheScaler(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(t, nil))
		assert.Equal(t, map[string]any{"podIdentity": map[string]any{"provider": "azure-workload", "identityId": "scaler-client"}}, spec(t, plan, "workers-scaler"))
		s := spec(t, plan, "workers-text-scaler")
		assert.Equal(t, []any{map[string]any{
			"type": "azure-servicebus", "metadata": map[string]any{"namespace": "sb-test", "queueName": "text", "messageCount": "12"}, "authenticationRef": map[string]any{"name": "scaler"},
		}}, s["triggers"])
		assert.Equal(t, []any{0.0, 4.0, 15.0, 120.0}, []any{s["minReplicaCount"], s["maxReplicaCount"], s["pollingInterval"], s["cooldownPeriod"]})
		assert.Equal(t, map[string]any{"failureThreshold": 3.0, "replicas": 1.0}, s["fallback"])
		assert.Equal(t, map[string]any{
			"pulumi.com/waitFor": "condition=Ready", "onedoor.io/deployment": "oai/chat-zone", "onedoor.io/tokens-per-minute": "30000", "onedoor.io/receivers": "5",
			"onedoor.io/p99": "20s", "onedoor.io/batch": "1", "onedoor.io/renew": "0s",
			"onedoor.io/max-replicas": "oai/chat-zone takes 120000 tokens a minute - 0 kept for people = 120000; a replica uses 5 at once x 60 s / 10s = 30 items a minute x 1000 tokens = 30000 tokens a minute: 120000 / 30000 = 4 replicas",
		}, at(object(plan.Get(t, "workers-text-scaler")), "metadata", "annotations"))
	}
}

// Whatever KEDA reads must be there first: what it does not find it never looks
// for again.
func TestNothingScalesBeforeItCan(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		plan := fake.Run(t, mode, program(t, nil))
		assert.Equal(t, []string{"keda-restarted", "operator-credential"}, plan.Get(t, "workers-scaler").DependsOn)
		assert.Equal(t, []string{"queue-role", "workers-scaler", "workers-text"}, plan.Get(t, "workers-text-scaler").DependsOn)
		jobs := plan.Get(t, "workers-video-scaler").DependsOn
		for _, needed := range []string{"queue-role", "workers-scaler", "workers-worker-video-keys"} {
			assert.Contains(t, jobs, needed)
		}
		assert.Contains(t, plan.Get(t, "workers-worker-text-keys").DependsOn, "key-role", "pods that cannot read their keys do not start")
	}
}

func TestDeploymentsLeaveTheNumberToTheScaler(t *testing.T) {
	t.Parallel()
	s := spec(t, fake.Run(t, fake.Update, program(t, nil)), "workers-text")
	assert.NotContains(t, s, "replicas")
	pod := at(s, "template", "spec").(map[string]any)
	assert.Equal(t, "worker-text", pod["serviceAccountName"])
	assert.Equal(t, false, pod["automountServiceAccountToken"])
	assert.Equal(t, 50.0, pod["terminationGracePeriodSeconds"], "p99 and 30 s to settle")
	assert.Equal(t, map[string]any{"pool": "worker"}, pod["nodeSelector"])
	assert.Equal(t, "true", at(s, "template", "metadata", "labels", kube.UseLabel), "without the label no pod gets a token")
	container := at(pod, "containers", 0).(map[string]any)
	assert.Equal(t, map[string]any{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}}}, container["securityContext"])
	assert.Equal(t, map[string]any{"cpu": "1000m", "memory": "188Mi"}, at(container, "resources", "limits"), "128 + 5 x 3 x 4")
	env := map[string]any{}
	for _, v := range container["env"].([]any) {
		env[at(v, "name").(string)] = at(v, "value")
	}
	for name, want := range map[string]string{
		"ONEDOOR_QUEUE": "text", "ONEDOOR_TOKENS_PER_MINUTE": "30000", "ONEDOOR_PARALLEL": "5", "ONEDOOR_ATTEMPTS": "4", "ONEDOOR_BACKOFF": "1s,2s,4s",
		"ONEDOOR_CHECKPOINT_ITEMS": "25", "ONEDOOR_LOCK_RENEW": "0s", "ONEDOOR_GIVE_UP": "1m0s", "ONEDOOR_MESSAGES": "many", "ONEDOOR_BUS_HOST": "sb-test.servicebus.windows.net", "ONEDOOR_PAYLOAD_MIB": "4", "ONEDOOR_PRICE_AS": "gpt-5.1/GlobalStandard",
	} {
		assert.Equal(t, want, env[name], name)
	}
}

// Scaling in chooses a pod without regard to what it does; a job it lets be.
func TestJobsRunUntilNobodyHoldsTheirMessage(t *testing.T) {
	t.Parallel()
	s := spec(t, fake.Run(t, fake.Update, program(t, nil)), "workers-video-scaler")
	assert.Equal(t, "1", at(s, "triggers", 0, "metadata", "messageCount"))
	assert.Equal(t, 3600.0+630, at(s, "jobTargetRef", "activeDeadlineSeconds"), "the longest hold and the grace")
	assert.Equal(t, 0.0, at(s, "jobTargetRef", "backoffLimit"))
	assert.Equal(t, "Never", at(s, "jobTargetRef", "template", "spec", "restartPolicy"))
	assert.NotContains(t, s, "fallback", "jobs have none")
}

func TestKeysAreMountedAndNeverStored(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(t, nil))
	s := spec(t, plan, "workers-worker-text-keys")
	assert.NotContains(t, s, "secretObjects", "which would copy them into Secrets of Kubernetes")
	assert.Equal(t, map[string]any{
		"usePodIdentity": "false", "keyvaultName": "kv", "tenantId": "tenant", "clientID": "worker-client",
		"objects": "array:\n  - |\n    objectName: mac-key-0\n    objectType: secret\n    objectAlias: \"0\"\n  - |\n    objectName: mac-key-1\n    objectType: secret\n    objectAlias: \"1\"\n",
	}, s["parameters"])
	assert.Empty(t, plan.Names(":Secret"))
}

func TestWrongWorkIsRefusedAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := fake.Try(fake.Preview, program(t, func(a *workers.Args) {
		a.Keys.Secrets = nil
		text, video := a.Queues["text"], a.Queues["video"]
		text.Load.Parallel, text.Backlog, text.Share.Replicas = 11, 0, 0
		video.Load.Parallel = 2
		a.Queues["text"], a.Queues["video"] = text, video
	}))
	for _, want := range []string{
		"no keys", "queue text: 11 items at once, want 1 to 10", "queue text: a backlog of 0", "queue text: no replica: oai/chat-zone takes",
		"queue video: 2 items at once, want 1: a job has one message",
	} {
		assert.ErrorContains(t, err, want)
	}
}

// The contract is what the authors of the program read.
func TestTheContractNamesWhatAWorkerIsTold(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile("../../docs/contracts/worker.md")
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`ONEDOOR_[A-Z_]+`).FindAllString(string(contract), -1) {
		documented[name] = true
	}
	told := map[string]bool{}
	for _, v := range at(spec(t, fake.Run(t, fake.Update, program(t, nil)), "workers-text"), "template", "spec", "containers", 0, "env").([]any) {
		told[at(v, "name").(string)] = true
	}
	assert.Equal(t, told, documented)
}

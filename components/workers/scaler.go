package workers

import (
	"fmt"
	"strconv"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apiextensions"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/capacity"
	"onedoor/internal/kube"
	"onedoor/internal/policypack/annotations"
	"onedoor/internal/ref"
)

// kedaVersion is the version of all kinds of KEDA.
const kedaVersion = "keda.sh/v1alpha1"

// How KEDA scales.
// https://keda.sh/docs/latest/reference/scaledobject-spec/
const (
	pollSeconds     = 15  // between two looks at an empty queue: what the first message waits for at most
	cooldownSeconds = 120 // without a message before the last replica goes
	settleSeconds   = 300 // a lower need must last so long before replicas go, one a minute: whoever goes is chosen without regard to what it does
	// When KEDA cannot read the queue three times in a row it keeps one replica of
	// those that run. It starts none where there is none: the queue then waits.
	// https://github.com/kedacore/keda/issues/7239
	fallbackFailures, fallbackReplicas = 3, 1
	keptJobs                           = 5 // that are done, of each outcome, to look at
)

// authentication declares how KEDA's operator proves itself to the bus, for all
// queues: as the scaler. It returns its name. The operator must have its own
// identity before anything refers to this.
func (b *builder) authentication() (pulumi.StringInput, error) {
	const name = "scaler"
	made, err := apiextensions.NewCustomResource(b.ctx, b.name+"-"+name, &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String(kedaVersion), Kind: pulumi.String("TriggerAuthentication"),
		Metadata: metav1.ObjectMetaArgs{
			Name: pulumi.String(name), Namespace: ref.After(b.args.Namespace, b.args.Scaling), Labels: pulumi.ToStringMap(kube.Labels(name)),
		},
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{"podIdentity": pulumi.Map{
			"provider": pulumi.String("azure-workload"), "identityId": b.args.Scaler,
		}}},
	}, b.in...)
	if err != nil {
		return nil, fmt.Errorf("authentication of the scaler: %w", err)
	}
	return ref.After(pulumi.String(name), made), nil
}

// scaler declares what scales a deployment: from nothing to what the quota has
// room for.
func (b *builder) scaler(modality, app string, q Queue, deployment pulumi.Resource, auth pulumi.StringInput) error {
	_, err := apiextensions.NewCustomResource(b.ctx, b.name+"-"+modality+"-scaler", &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String(kedaVersion), Kind: pulumi.String("ScaledObject"), Metadata: b.scaled(app, q),
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
			"scaleTargetRef":  pulumi.Map{"name": ref.After(pulumi.String(app), deployment)},
			"pollingInterval": pulumi.Int(pollSeconds),
			"cooldownPeriod":  pulumi.Int(cooldownSeconds),
			"minReplicaCount": pulumi.Int(0),
			"maxReplicaCount": pulumi.Int(q.Share.Replicas),
			"fallback":        pulumi.Map{"failureThreshold": pulumi.Int(fallbackFailures), "replicas": pulumi.Int(fallbackReplicas)},
			"advanced": pulumi.Map{"horizontalPodAutoscalerConfig": pulumi.Map{"behavior": pulumi.Map{"scaleDown": pulumi.Map{
				"stabilizationWindowSeconds": pulumi.Int(settleSeconds),
				"policies":                   pulumi.Array{pulumi.Map{"type": pulumi.String("Pods"), "value": pulumi.Int(1), "periodSeconds": pulumi.Int(60)}},
			}}}},
			"triggers": b.triggers(q, q.Backlog, auth),
		}},
	}, b.in...)
	if err != nil {
		return fmt.Errorf("scaler: %w", err)
	}
	return nil
}

// job declares what starts a job for each message. Scaling in never ends one: it
// runs until it is done, or until nobody can hold its message any more, which is
// later than GiveUp where there are many items or little quota.
func (b *builder) job(modality, app string, q Queue, class, auth pulumi.StringInput) error {
	_, err := apiextensions.NewCustomResource(b.ctx, b.name+"-"+modality+"-scaler", &apiextensions.CustomResourceArgs{
		ApiVersion: pulumi.String(kedaVersion), Kind: pulumi.String("ScaledJob"), Metadata: b.scaled(app, q),
		OtherFields: kubernetes.UntypedArgs{"spec": pulumi.Map{
			"jobTargetRef": pulumi.Map{
				"parallelism": pulumi.Int(1), "completions": pulumi.Int(1),
				"backoffLimit":          pulumi.Int(0), // the message comes again, and with it another job
				"activeDeadlineSeconds": pulumi.Int(seconds(capacity.MaxHold + q.Hold.Grace)),
				"template":              b.template(modality, app, q, class, "Never"),
			},
			"pollingInterval": pulumi.Int(pollSeconds),
			"minReplicaCount": pulumi.Int(0),
			"maxReplicaCount": pulumi.Int(q.Share.Replicas),
			// The length of a queue counts the messages that jobs hold; this strategy
			// takes the jobs that run off it.
			"scalingStrategy":            pulumi.Map{"strategy": pulumi.String("default")},
			"successfulJobsHistoryLimit": pulumi.Int(keptJobs),
			"failedJobsHistoryLimit":     pulumi.Int(keptJobs),
			"triggers":                   b.triggers(q, 1, auth),
		}},
	}, b.in...)
	if err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// scaled is the metadata of what KEDA scales, with the figures that no other
// property holds.
func (b *builder) scaled(app string, q Queue) metav1.ObjectMetaArgs {
	return metav1.ObjectMetaArgs{
		Name: pulumi.String(app), Namespace: b.args.Namespace, Labels: pulumi.ToStringMap(kube.Labels(app)),
		Annotations: pulumi.ToStringMap(map[string]string{
			kube.WaitFor:                "condition=Ready",
			annotations.Deployment:      q.Share.Deployment,
			annotations.TokensPerMinute: strconv.Itoa(q.Share.Rate.Tokens),
			annotations.Receivers:       strconv.Itoa(capacity.Receivers(q.Load.Parallel, q.Batch)),
			annotations.P99:             q.P99.String(),
			annotations.Batch:           strconv.Itoa(q.Batch),
			annotations.Renew:           q.Hold.Renew.String(),
			whyAnnotation:               q.Share.Why,
		}),
	}
}

// whyAnnotation is the arithmetic of the most replicas.
const whyAnnotation = "onedoor.io/max-replicas"

// triggers is the length of the queue, with messages for each replica.
func (b *builder) triggers(q Queue, messages int, auth pulumi.StringInput) pulumi.Array {
	return pulumi.Array{pulumi.Map{
		"type": pulumi.String("azure-servicebus"),
		"metadata": pulumi.Map{
			"namespace": pulumi.String(b.args.Bus), "queueName": q.Queue.Ready(), "messageCount": pulumi.String(strconv.Itoa(messages)),
		},
		"authenticationRef": pulumi.Map{"name": auth},
	}}
}

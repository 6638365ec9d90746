package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// object reads an object; "?" as a value stands for what is not known yet.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return unknowns(out).(map[string]any)
}

func unknowns(v any) any {
	switch v := v.(type) {
	case string:
		if v == "?" {
			return Unknown{}
		}
	case map[string]any:
		for key, item := range v {
			v[key] = unknowns(item)
		}
	case []any:
		for i, item := range v {
			v[i] = unknowns(item)
		}
	}
	return v
}

func lines(problems []Problem) string {
	var out strings.Builder
	for _, p := range problems {
		out.WriteString(p.String() + "\n")
	}
	return out.String()
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: batch, labels: {app.kubernetes.io/name: worker}, annotations: {onedoor/why: "because"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: worker}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      serviceAccountName: worker
      nodeSelector: {agentpool: gpu}
      initContainers:
      - {name: fetch, image: fetch:1, restartPolicy: Always}
      containers:
      - name: worker
        image: worker:1
        imagePullPolicy: Always
        env: [{name: A, value: a}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
        ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]
        resources: {limits: {cpu: "2", memory: 4Gi, nvidia.com/gpu: 1}, requests: {cpu: 500m, memory: 4Gi}}
        readinessProbe: {httpGet: {path: /, port: http}}
        volumeMounts: [{name: scratch, mountPath: /scratch}]
      volumes: [{name: scratch, emptyDir: {sizeLimit: 1Gi}}]
`

const service = `
apiVersion: v1
kind: Service
metadata: {name: door, namespace: batch}
spec:
  type: LoadBalancer
  selector: {app: worker}
  ports: [{name: https, port: 443, targetPort: https}, {name: metrics, port: 9090}]
  loadBalancerSourceRanges: [10.0.0.0/16]
`

const networkPolicy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: egress, namespace: batch}
spec:
  podSelector: {}
  policyTypes: [Egress]
  egress:
  - to: [{ipBlock: {cidr: 10.0.0.0/16, except: [10.0.1.0/24]}}]
    ports: [{protocol: TCP, port: 443}, {port: 1000, endPort: 2000}]
`

const scaledObject = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: worker, namespace: batch}
spec:
  minReplicaCount: 0
  maxReplicaCount: 4
  scaleTargetRef: {name: worker}
  triggers:
  - {type: azure-servicebus, name: a, metadata: {queueName: q, namespace: bus, messageCount: "5"}, authenticationRef: {name: bus}}
`

const rayService = `
apiVersion: ray.io/v1
kind: RayService
metadata: {name: llm, namespace: serving}
spec:
  upgradeStrategy: {type: None}
  serveConfigV2: |
    applications: [{name: llm, import_path: "ray.serve.llm:build_openai_app"}]
  rayClusterConfig:
    rayVersion: 2.46.0
    headGroupSpec:
      rayStartParams: {num-cpus: "0"}
      template: {spec: {containers: [{name: ray, image: "ray:1", ports: [{name: serve, containerPort: 8000}]}]}}
    workerGroupSpecs:
    - groupName: cpu # the least number of replicas has a default
      maxReplicas: 1
      template: {spec: {containers: [{name: ray, image: "ray:1"}]}}
    - groupName: gpu
      minReplicas: 1
      maxReplicas: 2
      template: {spec: {containers: [{name: ray, image: "ray:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
`

const job = `
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: batch}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}
`

const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "system:reader", namespace: batch}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`

const binding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: batch}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: worker, namespace: batch}]
`

const authentication = `
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata: {name: bus, namespace: batch}
spec: {podIdentity: {provider: azure-workload, identityId: 11111111-1111-1111-1111-111111111111}}
`

const cilium = `
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: egress, namespace: batch}
spec:
  endpointSelector: {matchLabels: {app: worker}}
  egress: [{toFQDNs: [{matchName: example.org}], toPorts: [{ports: [{port: "443", protocol: TCP}]}]}]
`

const provider = `
apiVersion: secrets-store.csi.x-k8s.io/v1
kind: SecretProviderClass
metadata: {name: tls, namespace: batch}
spec: {provider: azure, parameters: {keyvaultName: kv, tenantId: t}}
`

const monitor = `
apiVersion: azmonitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: vllm, namespace: serving}
spec: {selector: {matchLabels: {app: vllm}}, podMetricsEndpoints: [{port: metrics, interval: 30s}]}
`

const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: worker, namespace: batch}
spec: {minAvailable: 1, selector: {matchLabels: {app: worker}}}
`

const autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: worker, namespace: batch}
spec: {minReplicas: 1, maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}}
`

const cronJob = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: batch}
spec: {schedule: "0 3 * * *", timeZone: Etc/UTC, jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure, containers: [{name: a, image: "a:1"}]}}}}}
`

const secret = `
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: batch}
data: {key: b3BlbnNlc2FtZQ==}
`

const namespace = `
apiVersion: v1
kind: Namespace
metadata: {name: batch, labels: {pod-security.kubernetes.io/enforce: restricted}}
`

const admission = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-bypass}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}]}
  validations: [{expression: "true", message: "no"}]
`

// legal are objects that the API server takes.
var legal = map[string]string{
	"admission": admission, "authentication": authentication, "autoscaler": autoscaler, "binding": binding, "budget": budget, "cilium": cilium,
	"cronJob": cronJob, "deployment": deployment, "job": job, "monitor": monitor, "namespace": namespace, "networkPolicy": networkPolicy,
	"provider": provider, "rayService": rayService, "role": role, "scaledObject": scaledObject, "secret": secret, "service": service,
}

func TestCheckLetsLegalObjectsPass(t *testing.T) {
	t.Parallel()
	for name, text := range legal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, lines(Check(object(t, text))))
		})
	}
}

// Each edit of a legal object is refused at a path, for a reason.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of       string
		old, new string
		path     string // of the one problem
		text     string // in it
	}{
		"an unknown kind":                  {namespace, "kind: Namespace", "kind: Namespac", "kind", "did you mean Namespace?"},
		"a kind of another version":        {deployment, "apps/v1", "v1", "apiVersion", "the version of Deployment: apps/v1"},
		"a version that is not known":      {deployment, "apps/v1", "extensions/v1beta1", "apiVersion", "the version of Deployment: apps/v1"},
		"an older version of a definition": {scaledObject, "keda.sh/v1alpha1", "keda.sh/v1", "apiVersion", "the version of ScaledObject: keda.sh/v1alpha1"},

		"an unknown field":                               {deployment, "replicas: 2", "replica: 2", "spec.replica", "did you mean replicas?"},
		"an unknown field deep down":                     {deployment, "imagePullPolicy", "imagePulPolicy", "spec.template.spec.containers[0].imagePulPolicy", "did you mean imagePullPolicy?"},
		"an unknown field of a pod in a custom resource": {rayService, "image: \"ray:1\", ports", "imagge: \"ray:1\", ports", "spec.rayClusterConfig.headGroupSpec.template.spec.containers[0].imagge", "did you mean image?"},
		"an unknown field of a custom resource":          {scaledObject, "maxReplicaCount", "maxReplicas", "spec.maxReplicas", "did you mean"},
		"an unknown field of metadata":                   {scaledObject, "name: worker, namespace: batch", "name: worker, namespac: batch", "metadata.namespac", "did you mean namespace?"},
		"a status":                                       {namespace, "kind: Namespace", "kind: Namespace\nstatus: {phase: Active}", "status", "the cluster writes the status"},
		"a wrong type":                                   {deployment, "replicas: 2", `replicas: "2"`, "spec.replicas", `got "2", want a whole number`},
		"a wrong type in a custom resource":              {scaledObject, "maxReplicaCount: 4", `maxReplicaCount: "4"`, "spec.maxReplicaCount", "a whole number"},
		"a number where text belongs":                    {deployment, "value: a}", "value: 1}", "spec.template.spec.containers[0].env[0].value", "a string"},
		"a fraction":                                     {deployment, "replicas: 2", "replicas: 2.5", "spec.replicas", "a whole number"},
		"a number too large":                             {deployment, "replicas: 2", "replicas: 4000000000", "spec.replicas", "2147483647"},
		"a missing field":                                {deployment, "selector: {matchLabels: {app: worker}}", "paused: false", "spec.selector", "it is required"},
		"a missing field of a custom resource":           {scaledObject, "scaleTargetRef: {name: worker}", "scaleTargetRef: {kind: Deployment}", "spec.scaleTargetRef.name", "it is required"},
		"not of an enumeration":                          {deployment, "imagePullPolicy: Always", "imagePullPolicy: always", "spec.template.spec.containers[0].imagePullPolicy", "write Always"},
		"not of an enumeration of a custom resource":     {cilium, "protocol: TCP", "protocol: tcp", "spec.egress[0].toPorts[0].ports[0].protocol", "one of TCP"},
		"a quantity":                                     {deployment, "memory: 4Gi, nvidia.com/gpu", "memory: 4GB, nvidia.com/gpu", `spec.template.spec.containers[0].resources.limits.memory`, "a quantity"},
		"two of one key":                                 {deployment, "name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}", "name: A, value: b", "spec.template.spec.containers[0].env[1]", "name no other element"},
		"base64":                                         {secret, "b3BlbnNlc2FtZQ==", "opensesame!", "data.key", "got [secret], want base64"},
		"an alternative":                                 {cilium, "endpointSelector: {matchLabels: {app: worker}}", "description: x", "spec", "endpointSelector"},

		"a name":                       {deployment, "name: worker, namespace", "name: Worker, namespace", "metadata.name", "lower case"},
		"no name":                      {namespace, "name: batch, ", "", "metadata.name", "names are explicit"},
		"the name of a service":        {service, "name: door", "name: 1door", "metadata.name", "start with an alphabetic"},
		"the name of a RayService":     {rayService, "name: llm, namespace", "name: l" + strings.Repeat("x", 47) + ", namespace", "metadata.name", "no more than 47"},
		"a namespace":                  {deployment, "namespace: batch", "namespace: batch.x", "metadata.namespace", "must not contain dots"},
		"a namespace where none fits":  {namespace, "name: batch, labels", "name: batch, namespace: x, labels", "metadata.namespace", "belongs to the whole cluster"},
		"the key of a label":           {namespace, "pod-security.kubernetes.io/enforce", "pod security", `metadata.labels["pod security"]`, "alphanumeric"},
		"the value of a label":         {namespace, "restricted", "re/stricted", `metadata.labels["pod-security.kubernetes.io/enforce"]`, "alphanumeric"},
		"the label of a pod":           {job, "template: {spec", "template: {metadata: {labels: {a: b/c}}, spec", "spec.template.metadata.labels.a", "alphanumeric"},
		"the key of an annotation":     {deployment, "onedoor/why", "one door", `metadata.annotations["one door"]`, "alphanumeric"},
		"annotations that are too big": {deployment, "because", strings.Repeat("x", maxAnnotations), "metadata.annotations", "at most 262144 bytes"},

		"a selector of others":         {deployment, "selector: {matchLabels: {app: worker}}", "selector: {matchLabels: {app: other}}", "spec.template.metadata.labels", "app=other"},
		"a selector by expression":     {deployment, "selector: {matchLabels: {app: worker}}", "selector: {matchExpressions: [{key: tier, operator: Exists}]}", "spec.template.metadata.labels", "tier"},
		"a selector of everything":     {deployment, "selector: {matchLabels: {app: worker}}", "selector: {}", "spec.selector", "selects everything"},
		"a rollout that cannot move":   {deployment, "maxSurge: 25%", "maxSurge: 0", "spec.strategy.rollingUpdate.maxUnavailable", "no pod could ever be replaced"},
		"parameters of Recreate":       {deployment, "type: RollingUpdate", "type: Recreate", "spec.strategy.rollingUpdate", "the type is Recreate"},
		"a workload that ends":         {deployment, "serviceAccountName: worker", "restartPolicy: Never", "spec.template.spec.restartPolicy", "want Always"},
		"a job that says nothing":      {job, "restartPolicy: Never, ", "", "spec.template.spec.restartPolicy", "one of Never, OnFailure"},
		"a schedule":                   {cronJob, "0 3 * * *", "0 3 * *", "spec.schedule", "five fields"},
		"an hour that is none":         {cronJob, "0 3 * * *", "0 25 * * *", "spec.schedule", "five fields"},
		"a zone within the schedule":   {cronJob, "0 3 * * *", "CRON_TZ=Etc/UTC 0 3 * * *", "spec.schedule", "five fields"},
		"a zone of time that is none":  {cronJob, "timeZone: Etc/UTC", "timeZone: Mars/Base", "spec.timeZone", "a name of the time zone database"},
		"no image":                     {cronJob, `, image: "a:1"`, "", "spec.jobTemplate.spec.template.spec.containers[0].image", "an image"},
		"two containers of one name":   {deployment, "name: fetch", "name: worker", "spec.template.spec.containers[0].name", "no other container"},
		"the name of a container":      {deployment, "name: fetch", "name: Fetch", "spec.template.spec.initContainers[0].name", "lower case"},
		"a port":                       {deployment, "containerPort: 9090", "containerPort: 99090", "spec.template.spec.containers[0].ports[1].containerPort", "65535"},
		"the name of a port":           {deployment, "name: metrics", "name: metrics-of-the-worker", "spec.template.spec.containers[0].ports[1].name", "15 characters"},
		"a variable":                   {deployment, "name: A, value", "name: A=B, value", "spec.template.spec.containers[0].env[0].name", "environment variable"},
		"a variable from two places":   {deployment, "name: B, valueFrom", "name: B, value: b, valueFrom", "spec.template.spec.containers[0].env[1].valueFrom", "value is set"},
		"a volume that is not there":   {deployment, "volumeMounts: [{name: scratch", "volumeMounts: [{name: scrap", "spec.template.spec.containers[0].volumeMounts[0].name", "a volume of the pod: scratch"},
		"a volume of two sources":      {deployment, "emptyDir: {sizeLimit: 1Gi}", "emptyDir: {}, hostPath: {path: /}", "spec.template.spec.volumes[0]", "one source"},
		"a probe of two kinds":         {deployment, "readinessProbe: {httpGet", "readinessProbe: {exec: {command: [a]}, httpGet", "spec.template.spec.containers[0].readinessProbe", "exactly one of"},
		"a request above the limit":    {deployment, "cpu: 500m", "cpu: 3", "spec.template.spec.containers[0].resources.requests.cpu", "at most the limit, 2"},
		"half a device":                {deployment, "nvidia.com/gpu: 1", "nvidia.com/gpu: 500m", `spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]`, "a whole number"},
		"a device without limit":       {deployment, "memory: 4Gi, nvidia.com/gpu: 1}, requests: {", "memory: 4Gi}, requests: {nvidia.com/gpu: 1, ", `spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]`, "a limit equal to the request"},
		"a device with another limit":  {deployment, "requests: {", "requests: {nvidia.com/gpu: 2, ", `spec.template.spec.containers[0].resources.requests["nvidia.com/gpu"]`, "the same as the limit"},
		"an unnamed port of a service": {service, "name: metrics, ", "", "spec.ports[1].name", "several ports"},
		"a service without ports":      {service, "ports: [{name: https, port: 443, targetPort: https}, {name: metrics, port: 9090}]", "ports: []", "spec.ports", "at least one port"},
		"a headless load balancer":     {service, "type: LoadBalancer", "type: LoadBalancer\n  clusterIP: None", "spec.type", "clusterIP is None"},
		"a range of addresses":         {service, "10.0.0.0/16", "10.0.0.1/16", "spec.loadBalancerSourceRanges[0]", "10.0.0.0/16"},
		"a configuration key":          {secret, "key: b3", `"a/b": b3`, `data["a/b"]`, "alphanumeric"},

		"an exception outside":          {networkPolicy, "10.0.1.0/24", "10.1.1.0/24", "spec.egress[0].to[0].ipBlock.except[0]", "a part of 10.0.0.0/16"},
		"a block and a selector":        {networkPolicy, "{ipBlock", "{podSelector: {}, ipBlock", "spec.egress[0].to[0]", "one of them"},
		"an end before the start":       {networkPolicy, "endPort: 2000", "endPort: 999", "spec.egress[0].ports[1].endPort", "at least port, 1000"},
		"rules of a type not listed":    {networkPolicy, "policyTypes: [Egress]", "policyTypes: [Ingress]", "spec.policyTypes", "spec.egress do nothing"},
		"a budget of two minds":         {budget, "minAvailable: 1", "minAvailable: 1, maxUnavailable: 1", "spec.maxUnavailable", "minAvailable is set"},
		"an autoscaler upside down":     {autoscaler, "maxReplicas: 4", "maxReplicas: 0", "spec.maxReplicas", "at least"},
		"a rule without verbs":          {role, "verbs: [get]", "verbs: []", "rules[0].verbs", "at least one verb"},
		"a rule without groups":         {role, `apiGroups: [""], `, "", "rules[0].apiGroups", "core group"},
		"a URL in a role":               {role, "verbs", "nonResourceURLs: [/x], verbs", "rules[0].nonResourceURLs", "only a ClusterRole"},
		"a role of another kind":        {binding, "kind: Role,", "kind: Rol,", "roleRef.kind", "one of Role, ClusterRole"},
		"an account without namespace":  {binding, ", namespace: batch}]", "}]", "subjects[0].namespace", "the namespace of the service account"},
		"a subject of another kind":     {binding, "kind: ServiceAccount", "kind: Robot", "subjects[0].kind", "ServiceAccount, User or Group"},
		"a scaler's name":               {scaledObject, "name: worker, namespace", "name: w" + strings.Repeat("x", 54) + ", namespace", "metadata.name", "keda-hpa-w"},
		"a scaler upside down":          {scaledObject, "minReplicaCount: 0", "minReplicaCount: 5", "spec.minReplicaCount", "at most maxReplicaCount, 4"},
		"idle like busy":                {scaledObject, "minReplicaCount: 0", "minReplicaCount: 1\n  idleReplicaCount: 1", "spec.idleReplicaCount", "less than minReplicaCount"},
		"CPU at zero":                   {scaledObject, "type: azure-servicebus, name: a, metadata: {queueName: q, namespace: bus, messageCount: \"5\"}", "type: cpu, metricType: Utilization, metadata: {value: \"50\"}", "spec.minReplicaCount", "at least 1"},
		"two triggers of one name":      {scaledObject, "authenticationRef: {name: bus}}", "authenticationRef: {name: bus}}\n  - {type: cron, name: a, metadata: {start: x}}", "spec.triggers[1].name", "no other trigger"},
		"cached metrics of cron":        {scaledObject, "authenticationRef: {name: bus}}", "authenticationRef: {name: bus}}\n  - {type: cron, useCachedMetrics: true, metadata: {start: x}}", "spec.triggers[1].useCachedMetrics", "false"},
		"credentials of another kind":   {scaledObject, "{name: bus}", "{name: bus, kind: Secret}", "spec.triggers[0].authenticationRef.kind", "ClusterTriggerAuthentication"},
		"a queue by a wrong name":       {scaledObject, "messageCount", "messagesCount", "spec.triggers[0].metadata.messagesCount", "did you mean messageCount?"},
		"no queue":                      {scaledObject, "queueName: q, ", "", "spec.triggers[0].metadata.queueName", "the name of a queue"},
		"a queue and a topic":           {scaledObject, "queueName: q", "queueName: q, topicName: t, subscriptionName: s", "spec.triggers[0].metadata.queueName", "a topic is given"},
		"a topic alone":                 {scaledObject, "queueName: q", "topicName: t", "spec.triggers[0].metadata.subscriptionName", "a subscription"},
		"a namespace with its suffix":   {scaledObject, "namespace: bus,", "namespace: bus.servicebus.windows.net,", "spec.triggers[0].metadata.namespace", "write bus"},
		"a count in words":              {scaledObject, `"5"`, `five`, "spec.triggers[0].metadata.messageCount", "a whole number in quotes"},
		"an empty identity":             {authentication, "11111111-1111-1111-1111-111111111111", `""`, "spec.podIdentity.identityId", "leave it out"},
		"an authority without a tenant": {authentication, "provider: azure-workload", "identityAuthorityHost: https://x, provider: azure-workload", "spec.podIdentity.identityTenantId", "an authority host is given"},

		"a group's resources twice":      {rayService, "groupName: gpu", "groupName: gpu\n      resources: {CPU: \"1\"}\n      rayStartParams: {num-cpus: \"1\"}", `spec.rayClusterConfig.workerGroupSpecs[1].rayStartParams["num-cpus"]`, "the group has resources"},
		"workers upside down":            {rayService, "minReplicas: 1", "minReplicas: 3", "spec.rayClusterConfig.workerGroupSpecs[1].minReplicas", "at most maxReplicas"},
		"a head without a serve port":    {rayService, "name: serve, ", "name: http, ", "spec.rayClusterConfig.headGroupSpec.template.spec.containers[0].ports", "named serve"},
		"an upgrade without a type":      {rayService, "{type: None}", "{clusterUpgradeOptions: {gatewayClassName: x}}", "spec.upgradeStrategy.type", "a type"},
		"applications that are no list":  {rayService, "applications: [{name: llm, import_path: \"ray.serve.llm:build_openai_app\"}]", "application: x", "spec.serveConfigV2", "a list of applications"},
		"serve configuration of no YAML": {rayService, "applications: [{name: llm, import_path: \"ray.serve.llm:build_openai_app\"}]", "applications: [", "spec.serveConfigV2", "no YAML"},
		"a vault without a name":         {provider, "keyvaultName: kv, ", "", "spec.parameters.keyvaultName", "requires it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, 1, strings.Count(c.of, c.old), "the edit must fit once")
			problems := Check(object(t, strings.Replace(c.of, c.old, c.new, 1)))
			found := false
			for _, p := range problems {
				found = found || p.Path == c.path && strings.Contains(p.String(), c.text)
			}
			assert.True(t, found, "want a problem at %s about %q, got:\n%s", c.path, c.text, lines(problems))
		})
	}
}

package manifest

// rules are what the API server and the admission of operators check beyond the
// schema, by version and kind. What is common to all kinds is in metadata.go,
// what is common to all that make pods in pods.go.
var rules = map[string][]func(*checker){
	"apps/v1/Deployment":  {(*checker).selector, always, (*checker).rollout},
	"apps/v1/ReplicaSet":  {(*checker).selector, always},
	"apps/v1/StatefulSet": {(*checker).selector, always},
	"apps/v1/DaemonSet":   {(*checker).selector, always},
	"batch/v1/Job":        {func(c *checker) { c.restarts("spec.template", "Never", "OnFailure") }},
	"batch/v1/CronJob":    {func(c *checker) { c.restarts("spec.jobTemplate.spec.template", "Never", "OnFailure") }, (*checker).schedule},

	"v1/Service":   {(*checker).service},
	"v1/ConfigMap": {func(c *checker) { c.contents("data", "binaryData") }},
	"v1/Secret":    {func(c *checker) { c.contents("data", "stringData") }},

	"networking.k8s.io/v1/NetworkPolicy":              {(*checker).networkPolicy},
	"policy/v1/PodDisruptionBudget":                   {(*checker).disruptionBudget},
	"autoscaling/v2/HorizontalPodAutoscaler":          {(*checker).autoscaler},
	"rbac.authorization.k8s.io/v1/Role":               {(*checker).role},
	"rbac.authorization.k8s.io/v1/ClusterRole":        {(*checker).role},
	"rbac.authorization.k8s.io/v1/RoleBinding":        {func(c *checker) { c.binding("Role", "ClusterRole") }},
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding": {func(c *checker) { c.binding("ClusterRole") }},

	"keda.sh/v1alpha1/ScaledObject":                 {(*checker).scaledObject, (*checker).triggers},
	"keda.sh/v1alpha1/ScaledJob":                    {(*checker).scaledJob, (*checker).triggers},
	"keda.sh/v1alpha1/TriggerAuthentication":        {(*checker).triggerAuthentication},
	"keda.sh/v1alpha1/ClusterTriggerAuthentication": {(*checker).triggerAuthentication},

	"ray.io/v1/RayCluster": {func(c *checker) { c.rayCluster("spec") }},
	"ray.io/v1/RayService": {func(c *checker) { c.rayCluster("spec.rayClusterConfig") }, (*checker).rayService},
	"ray.io/v1/RayJob":     {func(c *checker) { c.rayCluster("spec.rayClusterSpec") }},

	"secrets-store.csi.x-k8s.io/v1/SecretProviderClass": {(*checker).secretProvider},
}

// always: the pods of a workload start again when they end.
func always(c *checker) { c.restarts("spec.template", "Always") }

package walls

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	admissionv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/admissionregistration/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/internal/kube"
)

// admissionRule is one admission policy. Its rules are asked of every object that
// is about to be written, and a rule that is false refuses the object.
// https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
type admissionRule struct {
	name       string
	why        string
	group      string // of the API, "" for the core
	versions   []string
	resource   string
	selector   metav1.LabelSelectorPtrInput // of namespaces; nil means all
	conditions []condition
}

// condition is an expression that must be true, and what to say when it is not.
type condition struct{ expression, message string }

// admissionRules are the admission policies. taint is the key of the taint of the
// nodes that only the batch control plane may run on, value its value.
func admissionRules(taint, value string) []admissionRule {
	return []admissionRule{
		{
			name: "onedoor-batch-nodes", why: "the network lets whatever runs on these nodes reach the batch account",
			versions: []string{"v1"}, resource: "pods", selector: except(kube.Batch, kube.System),
			conditions: []condition{
				{
					fmt.Sprintf("!has(object.spec.tolerations) || !object.spec.tolerations.exists(t, "+
						"(!has(t.effect) || t.effect in ['', 'NoSchedule']) && "+
						"(!has(t.key) || t.key in ['', %[1]s]) && "+
						"(has(t.operator) && t.operator == 'Exists' || has(t.value) && t.value == %[2]s))", quote(taint), quote(value)),
					fmt.Sprintf("pods outside %s may not tolerate the taint %s, by name or with a toleration of everything; leave the toleration out", kube.Batch, taint),
				},
				{
					// Whoever names the node goes past the scheduler, and taints are its affair.
					"request.operation != 'CREATE' || !has(object.spec.nodeName) || object.spec.nodeName == ''",
					"pods may not name their node: the scheduler alone keeps them off nodes that are not theirs; use a node selector",
				},
			},
		},
		{
			name: "onedoor-one-autoscaler", why: "two autoscalers of one workload undo each other's work, and the other one knows no quota",
			group: "autoscaling", versions: []string{"v1", "v2"}, resource: "horizontalpodautoscalers", selector: only(kube.Workers),
			conditions: []condition{{
				"request.userInfo.username == " + quote(kube.KEDA.String()),
				"workloads in " + kube.Workers + " are scaled by KEDA, which makes their autoscalers itself; change the ScaledObject",
			}},
		},
		{
			name: "onedoor-one-external-metrics", why: "a cluster has one provider of external metrics, and another one in its place would blind KEDA",
			group: "apiregistration.k8s.io", versions: []string{"v1"}, resource: "apiservices",
			conditions: []condition{{
				"!has(object.spec.group) || object.spec.group != 'external.metrics.k8s.io' || " +
					"has(object.spec.service) && object.spec.service.namespace == " + quote(kube.KEDA.Namespace) + " && object.spec.service.name == 'keda-operator-metrics-apiserver'",
				"external metrics are KEDA's, and a cluster has one provider of them; remove the other adapter",
			}},
		},
	}
}

// quote writes a text as CEL does. What is quoted here are names of Kubernetes',
// which need no escapes.
func quote(text string) string { return "'" + text + "'" }

// taint takes a taint apart.
func taint(text string) (key, value string, err error) {
	pair, effect, found := strings.Cut(text, ":")
	key, value, _ = strings.Cut(pair, "=")
	if !found || key == "" || value == "" || effect != "NoSchedule" || strings.ContainsAny(text, `'\`) {
		return "", "", fmt.Errorf("taint of the batch nodes: got %s, want key=value:NoSchedule, or other pods could run there", strconv.Quote(text))
	}
	return key, value, nil
}

// except selects all namespaces but some.
func except(namespaces ...string) metav1.LabelSelectorPtrInput { return selects("NotIn", namespaces) }

// only selects some namespaces.
func only(namespaces ...string) metav1.LabelSelectorPtrInput { return selects("In", namespaces) }

func selects(operator string, namespaces []string) metav1.LabelSelectorPtrInput {
	return metav1.LabelSelectorArgs{MatchExpressions: metav1.LabelSelectorRequirementArray{metav1.LabelSelectorRequirementArgs{
		Key: pulumi.String(namespaceLabel), Operator: pulumi.String(operator), Values: pulumi.ToStringArray(slices.Sorted(slices.Values(namespaces))),
	}}}
}

// admission declares the admission policies, each with its binding, without which
// it does nothing.
func (b *builder) admission() ([]pulumi.Resource, error) {
	key, value, err := taint(b.args.BatchTaint)
	if err != nil {
		return nil, err
	}
	var made []pulumi.Resource
	for _, rule := range admissionRules(key, value) {
		metadata := metav1.ObjectMetaArgs{
			Name:        pulumi.String(rule.name),
			Labels:      pulumi.StringMap{partOf: pulumi.String("onedoor")},
			Annotations: pulumi.StringMap{"onedoor/why": pulumi.String(rule.why)},
		}
		policy, err := admissionv1.NewValidatingAdmissionPolicy(b.ctx, b.name+"-"+rule.name, &admissionv1.ValidatingAdmissionPolicyArgs{
			Metadata: metadata, Spec: rule.spec(),
		}, b.in...)
		if err != nil {
			return nil, fmt.Errorf("admission policy %s: %w", rule.name, err)
		}
		binding, err := admissionv1.NewValidatingAdmissionPolicyBinding(b.ctx, b.name+"-"+rule.name+"-binding", &admissionv1.ValidatingAdmissionPolicyBindingArgs{
			Metadata: metadata,
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpecArgs{
				PolicyName: pulumi.String(rule.name), ValidationActions: pulumi.ToStringArray([]string{"Deny"}),
			},
		}, append(slices.Clone(b.in), pulumi.DependsOn([]pulumi.Resource{policy}))...) // it names a policy that must exist
		if err != nil {
			return nil, fmt.Errorf("binding of admission policy %s: %w", rule.name, err)
		}
		made = append(made, binding)
	}
	return made, nil
}

// spec is the policy as the API has it.
func (r admissionRule) spec() admissionv1.ValidatingAdmissionPolicySpecArgs {
	validations := admissionv1.ValidationArray{}
	for _, c := range r.conditions {
		validations = append(validations, admissionv1.ValidationArgs{Expression: pulumi.String(c.expression), Message: pulumi.String(c.message), Reason: pulumi.String("Forbidden")})
	}
	return admissionv1.ValidatingAdmissionPolicySpecArgs{
		FailurePolicy: pulumi.String("Fail"), // what cannot be judged is refused
		MatchConstraints: admissionv1.MatchResourcesArgs{
			NamespaceSelector: r.selector,
			ResourceRules: admissionv1.NamedRuleWithOperationsArray{admissionv1.NamedRuleWithOperationsArgs{
				ApiGroups: pulumi.ToStringArray([]string{r.group}), ApiVersions: pulumi.ToStringArray(r.versions),
				Operations: pulumi.ToStringArray([]string{"CREATE", "UPDATE"}), Resources: pulumi.ToStringArray([]string{r.resource}),
			}},
		},
		Validations: validations,
	}
}

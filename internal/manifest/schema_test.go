package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/yaml"
)

// goTypes are the published Go types of built-in kinds.
var goTypes = map[string]any{
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy":        admissionv1.ValidatingAdmissionPolicy{},
	"admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": admissionv1.ValidatingAdmissionPolicyBinding{},
	"apps/v1/DaemonSet":                        appsv1.DaemonSet{},
	"apps/v1/Deployment":                       appsv1.Deployment{},
	"apps/v1/StatefulSet":                      appsv1.StatefulSet{},
	"autoscaling/v2/HorizontalPodAutoscaler":   autoscalingv2.HorizontalPodAutoscaler{},
	"batch/v1/CronJob":                         batchv1.CronJob{},
	"batch/v1/Job":                             batchv1.Job{},
	"networking.k8s.io/v1/NetworkPolicy":       networkingv1.NetworkPolicy{},
	"node.k8s.io/v1/RuntimeClass":              nodev1.RuntimeClass{},
	"policy/v1/PodDisruptionBudget":            policyv1.PodDisruptionBudget{},
	"rbac.authorization.k8s.io/v1/ClusterRole": rbacv1.ClusterRole{},
	"rbac.authorization.k8s.io/v1/Role":        rbacv1.Role{},
	"rbac.authorization.k8s.io/v1/RoleBinding": rbacv1.RoleBinding{},
	"scheduling.k8s.io/v1/PriorityClass":       schedulingv1.PriorityClass{},
	"storage.k8s.io/v1/StorageClass":           storagev1.StorageClass{},
	"v1/ConfigMap":                             corev1.ConfigMap{},
	"v1/LimitRange":                            corev1.LimitRange{},
	"v1/Namespace":                             corev1.Namespace{},
	"v1/PersistentVolumeClaim":                 corev1.PersistentVolumeClaim{},
	"v1/Pod":                                   corev1.Pod{},
	"v1/ResourceQuota":                         corev1.ResourceQuota{},
	"v1/Secret":                                corev1.Secret{},
	"v1/Service":                               corev1.Service{},
	"v1/ServiceAccount":                        corev1.ServiceAccount{},
}

// The generated schemas have exactly the fields that the published Go types have,
// at every depth.
func TestSchemasHaveTheFieldsOfTheTypes(t *testing.T) {
	t.Parallel()
	for name, value := range goTypes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := load().kinds[name]
			require.NotNil(t, kind)
			compareFields(t, "", kind.schema, reflect.TypeOf(value), map[reflect.Type]bool{})
		})
	}
}

// leaves are types with a form of their own.
var leaves = []string{"Quantity", "IntOrString", "Time", "MicroTime", "FieldsV1", "RawExtension", "ObjectMeta"}

func compareFields(t *testing.T, path, schemaURL string, typ reflect.Type, seen map[reflect.Type]bool) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || slices.Contains(leaves, typ.Name()) || seen[typ] {
		return
	}
	seen[typ] = true
	schema, url := resolve(t, schemaURL)
	properties, _ := schema["properties"].(map[string]any)
	var want []string
	for name, field := range jsonFields(typ) {
		if name == "status" && path == "" || name == "status" && properties["status"] == nil && properties["kind"] != nil {
			continue
		}
		want = append(want, name)
		if properties[name] == nil {
			continue
		}
		next := url + "/properties/" + name
		if field.Kind() == reflect.Slice {
			next += "/items"
		}
		if field.Kind() != reflect.Map && !(path == "" && name == "metadata") {
			compareFields(t, join(path, name), next, field, seen)
		}
	}
	slices.Sort(want)
	assert.Equal(t, want, load().properties(url), "fields of %s (%s)", typ.Name(), path)
	assert.Equal(t, false, schema["additionalProperties"], "%s takes any field", path)
}

// jsonFields returns the types of the fields of a struct, by their JSON names.
func jsonFields(typ reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous:
			maps.Copy(out, jsonFields(field.Type))
		default:
			out[name] = field.Type
		}
	}
	return out
}

// resolve follows references; it returns the schema and its URL.
func resolve(t *testing.T, url string) (map[string]any, string) {
	t.Helper()
	for {
		v := load().at(url)
		schema, ok := v.(map[string]any)
		require.True(t, ok, "no schema at %s", url)
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema, url
		}
		file, _, _ := strings.Cut(url, "#")
		url = file + ref
	}
}

// What is legal here also decodes strictly into the published types.
func TestLegalObjectsDecodeStrictly(t *testing.T) {
	t.Parallel()
	decoded := 0
	for name, text := range legal {
		key := Key(object(t, text))
		value, ok := goTypes[key.APIVersion+"/"+key.Kind]
		if !ok {
			continue
		}
		decoded++
		assert.NoError(t, yaml.UnmarshalStrict([]byte(text), reflect.New(reflect.TypeOf(value)).Interface()), name)
	}
	assert.GreaterOrEqual(t, decoded, 12)
}

// Every schema compiles, and custom resources are closed as built-in kinds are.
func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	origins := map[Origin]int{}
	for _, kind := range Kinds() {
		_, err := load().compile(kind.schema)
		require.NoError(t, err, kind.Name)
		assert.NotEmpty(t, kind.Plural)
		origins[kind.Origin]++
		body := map[string]any{"apiVersion": kind.APIVersion, "kind": kind.Name, "metadata": map[string]any{"name": "x"}, "bogusField": true}
		assert.Contains(t, lines(Check(body)), "bogusField: got an unknown field", "%s is open", kind.Name)
	}
	assert.Equal(t, map[Origin]int{Builtin: 47, KEDA: 4, KubeRay: 3, Cilium: 2, SecretsStore: 1, AzMonitoring: 2}, origins)
}

// Whether a kind is in namespaces is what Kubernetes says.
func TestLookupKnowsScopes(t *testing.T) {
	t.Parallel()
	for name, namespaced := range map[string]bool{
		"v1/Namespace": false, "v1/Pod": true, "v1/PersistentVolume": false, "rbac.authorization.k8s.io/v1/ClusterRole": false,
		"keda.sh/v1alpha1/ScaledObject": true, "keda.sh/v1alpha1/ClusterTriggerAuthentication": false,
		"cilium.io/v2/CiliumClusterwideNetworkPolicy": false, "secrets-store.csi.x-k8s.io/v1/SecretProviderClass": true,
	} {
		version, kind := name[:strings.LastIndexByte(name, '/')], name[strings.LastIndexByte(name, '/')+1:]
		found, ok := Lookup(version, kind)
		assert.True(t, ok, name)
		assert.Equal(t, namespaced, found.Namespaced, name)
	}
	_, ok := Lookup("v1", "Deployment")
	assert.False(t, ok)
}

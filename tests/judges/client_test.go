//go:build judges

package judges

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// client speaks to an API server as one user.
type client struct {
	config  *rest.Config
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newClient(t *testing.T, config *rest.Config) client {
	t.Helper()
	objects, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	discovered, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	return client{config, objects, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discovered))}
}

// as is the client of somebody else.
func (c client) as(t *testing.T, user string) client {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	return newClient(t, config)
}

// at is where objects of the kind of an object are.
func (c client) at(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == "root" {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

// apply writes an object by server-side apply. Unknown and doubled fields are
// refused.
func (c client) apply(ctx context.Context, object *unstructured.Unstructured) error {
	at, err := c.at(object)
	if err != nil {
		return err
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	force := true
	_, err = at.Patch(ctx, object.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{
		FieldManager: "judges", FieldValidation: metav1.FieldValidationStrict, Force: &force,
	})
	return err
}

// create makes an object and does not change one that is there; dryRun goes all the
// way but the last step.
func (c client) create(ctx context.Context, object *unstructured.Unstructured, dryRun ...string) error {
	at, err := c.at(object)
	if err != nil {
		return err
	}
	_, err = at.Create(ctx, object, metav1.CreateOptions{FieldManager: "judges", FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
	return err
}

// dryRun asks what the server would say to a new object.
func dryRun(ctx context.Context, c client, object *unstructured.Unstructured) error {
	return c.create(ctx, object, metav1.DryRunAll)
}

// get reads the object that is named like this one.
func (c client) get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	at, err := c.at(object)
	if err != nil {
		return nil, err
	}
	return at.Get(ctx, object.GetName(), metav1.GetOptions{})
}

// parse reads an object of YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := map[string]any{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &object))
	raw, err := yaml.Marshal(object)
	require.NoError(t, err)
	js, err := yaml.YAMLToJSON(raw)
	require.NoError(t, err)
	out := &unstructured.Unstructured{}
	require.NoError(t, out.UnmarshalJSON(js)) // with whole numbers as such
	return out
}

// install installs custom resource definitions and waits until they are served.
func (c *cluster) install(t *testing.T, files []string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		definition := parse(t, string(text))
		require.NoError(t, c.apply(t.Context(), definition), file)
		eventually(t, definition.GetName()+" is served", func(ctx context.Context) (bool, error) {
			live, err := c.get(ctx, definition)
			return err == nil && isTrue(live, "Established"), err
		})
	}
	c.mapper.Reset()
}

// isTrue says whether a condition of an object holds.
func isTrue(object *unstructured.Unstructured, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, one := range conditions {
		if c, _ := one.(map[string]any); c["type"] == condition {
			return c["status"] == "True"
		}
	}
	return false
}

// kindOf is an object of a kind with a name and nothing else.
func kindOf(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

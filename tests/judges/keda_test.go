//go:build judges

package judges

import (
	"context"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"onedoor/internal/kube"
)

// KEDA itself acts on what prod declares: workers come when messages wait, never
// more than the quota has room for, and go when none is left.
func TestKEDAScalesWorkersBetweenNothingAndTheQuota(t *testing.T) {
	slow(t)
	t.Parallel()
	const queue, app = "document", "worker-document"
	made := up(t, "prod")
	cloud := newAzure(t, tenantOf(t, "prod"), made)
	objects := manifests(t, made)

	c := newCluster(t)
	for _, object := range objects {
		if object.GetKind() == "ScaledObject" {
			hurry(t, object)
		}
		require.NoError(t, c.apply(t.Context(), object), object.GetName())
	}
	c.standIn(t, false)
	c.startKEDA(t, cloud)

	most := room(t, filepath.Join(projectDir, "Pulumi.prod.yaml"))[queue] // not what the ScaledObject says
	require.Greater(t, most, int64(1))
	replicas := func(ctx context.Context, app string) (int64, error) {
		live, err := c.get(ctx, kindOf("apps/v1", "Deployment", kube.Workers, app))
		if err != nil {
			return 0, err
		}
		n, _, err := unstructured.NestedInt64(live.Object, "spec", "replicas")
		if n > most {
			err = fmt.Errorf("%d replicas of %s, and the quota has room for %d", n, app, most)
		}
		return n, errors.Join(err, cloud.refusal())
	}
	reach := func(what string, want int64) {
		t.Helper()
		eventually(t, what, func(ctx context.Context) (bool, error) {
			n, err := replicas(ctx, app)
			return n == want, err
		})
	}
	reach("no work, no workers", 0)
	for _, name := range cloud.queues() {
		eventually(t, "KEDA reads "+name, func(context.Context) (bool, error) { return cloud.times(name) > 0, cloud.refusal() })
	}
	cloud.set(queue, 1_000_000)
	reach("as many as the quota has room for", most)
	for range 20 { // the autoscaler looks again ten times
		_, err := replicas(t.Context(), app)
		require.NoError(t, err)
		time.Sleep(time.Second)
	}
	others, err := replicas(t.Context(), "worker-text")
	require.NoError(t, err)
	assert.Zero(t, others, "another queue's workers")
	cloud.set(queue, 0)
	reach("none when the work is done", 0)

	t.Run("a second scaler of a workload is refused", func(t *testing.T) { //nolint:paralleltest // one KEDA
		second := find(t, objects, "ScaledObject", app)
		second.SetName("second")
		require.ErrorContains(t, c.create(t.Context(), second), "the workload '"+app+"' of type 'apps/v1.Deployment' is already managed")
	})
	t.Run("a scaler beside an autoscaler is refused", func(t *testing.T) { //nolint:paralleltest // one KEDA
		object := parse(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: guest, namespace: default}
spec:
  selector: {matchLabels: {app: guest}}
  template:
    metadata: {labels: {app: guest}}
    spec: {containers: [{name: main, image: registry.example/guest}]}
`)
		require.NoError(t, c.create(t.Context(), object))
		hpa := autoscaler(t, "default")
		require.NoError(t, unstructured.SetNestedField(hpa.Object, "guest", "spec", "scaleTargetRef", "name"))
		require.NoError(t, c.create(t.Context(), hpa))
		beside := find(t, objects, "ScaledObject", app)
		beside.SetNamespace("default")
		require.NoError(t, unstructured.SetNestedField(beside.Object, "guest", "spec", "scaleTargetRef", "name"))
		require.ErrorContains(t, c.create(t.Context(), beside), "is already managed by the hpa 'second'")
		at, err := c.at(hpa)
		require.NoError(t, err)
		require.NoError(t, at.Delete(t.Context(), hpa.GetName(), metav1.DeleteOptions{}))
		eventually(t, "alone it is accepted", func(ctx context.Context) (bool, error) { return dryRun(ctx, c.client, beside) == nil, nil })
	})
}

// hurry shortens what only takes time: the looks at an empty queue and the wait for
// more work.
func hurry(t *testing.T, scaled *unstructured.Unstructured) {
	t.Helper()
	for _, field := range []string{"pollingInterval", "cooldownPeriod"} {
		require.NoError(t, unstructured.SetNestedField(scaled.Object, int64(2), "spec", field))
	}
}

// tenantOf is the Entra tenant of a stack, as its workers' vault has it.
func tenantOf(t *testing.T, stack string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(projectDir, "Pulumi."+stack+".yaml"))
	require.NoError(t, err)
	config := parse(t, "apiVersion: v1\nkind: File\n"+string(raw))
	tenant, _, _ := unstructured.NestedString(config.Object, "config", "onedoor:base", "tenantId")
	require.NotEmpty(t, tenant)
	return tenant
}

// startKEDA starts KEDA's operator, its server of metrics and its webhook, as the
// account that they have in AKS, with Azure behind a proxy.
func (c *cluster) startKEDA(t *testing.T, cloud *azure) {
	t.Helper()
	c.install(t, ownDefinitions(t))
	for _, text := range []string{
		fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: %s, namespace: %s}", kube.KEDA.Name, kube.KEDA.Namespace),
		fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: keda}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]
`, kube.KEDA.Name, kube.KEDA.Namespace),
	} {
		require.NoError(t, c.apply(t.Context(), parse(t, text)))
	}
	dir := t.TempDir()
	config := c.account(t, filepath.Join(dir, "kubeconfig"))
	assertion := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(assertion, []byte(c.token(t, "api://AzureADTokenExchange")), 0o600))

	ca := newAuthority(t, "keda")
	served := ca.issue(t, "tls", pkix.Name{CommonName: "keda"}, "127.0.0.1", "localhost") // tls.crt and tls.key beside ca.crt
	ports := freePorts(t, 9)
	env := []string{
		"KUBECONFIG=" + config, "POD_NAMESPACE=" + kube.KEDA.Namespace, "WATCH_NAMESPACE=", "PATH=",
		"KEDA_CLUSTER_OBJECT_NAMESPACE=" + kube.KEDA.Namespace, // in a pod it is in a file
	}
	startProcess(t, "keda-operator", append(env,
		"HTTPS_PROXY="+cloud.proxy, "NO_PROXY=127.0.0.1,localhost", "SSL_CERT_FILE="+cloud.authority.file(), "KEDA_HTTP_DEFAULT_TIMEOUT=30000",
		"AZURE_TENANT_ID="+cloud.tenant, "AZURE_AUTHORITY_HOST=https://"+loginHost+"/", "AZURE_FEDERATED_TOKEN_FILE="+assertion,
	), []string{
		"--metrics-bind-address=127.0.0.1:" + ports[0], "--health-probe-bind-address=127.0.0.1:" + ports[1],
		"--metrics-service-bind-address=127.0.0.1:" + ports[2], "--cert-dir=" + ca.dir,
	})
	startProcess(t, "keda-adapter", env, []string{
		"--secure-port=" + ports[3], "--bind-address=127.0.0.1", "--port=" + ports[4], "--metrics-service-address=127.0.0.1:" + ports[2],
		"--cert-dir=" + ca.dir, "--tls-cert-file=" + served.cert, "--tls-private-key-file=" + served.key,
		"--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config, "--lister-kubeconfig=" + config,
	})
	startProcess(t, "keda-webhooks", env, []string{
		"--metrics-bind-address=127.0.0.1:" + ports[5], "--health-probe-bind-address=127.0.0.1:" + ports[6], "--port=" + ports[7], "--cert-dir=" + ca.dir,
	})
	bundle, err := os.ReadFile(ca.file())
	require.NoError(t, err)
	webhook := parse(t, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: keda-admission}
webhooks:
- name: vscaledobject.kb.io
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {url: "https://127.0.0.1:%s/validate-keda-sh-v1alpha1-scaledobject"}
  rules: [{apiGroups: [keda.sh], apiVersions: [v1alpha1], operations: [CREATE], resources: [scaledobjects]}]
`, ports[7]))
	webhook.Object["webhooks"].([]any)[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"] = bundle64(bundle)
	require.NoError(t, c.apply(t.Context(), webhook))
	// The name leads to the server on this machine.
	for _, text := range []string{
		fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: keda-operator-metrics-apiserver, namespace: %s}\nspec: {type: ExternalName, externalName: localhost}", kube.System),
		fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: %s, name: keda-operator-metrics-apiserver, port: %s}
`, kube.System, ports[3]),
	} {
		require.NoError(t, c.apply(t.Context(), parse(t, text)))
	}
}

// ownDefinitions are the files of all custom resource definitions that KEDA's
// operator wants, also of kinds that the stacks do not use.
func ownDefinitions(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "-C", filepath.Join(projectDir, "tools/judges/keda"), "list", "-m", "-f", "{{.Dir}}", "github.com/kedacore/keda/v2").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "config/crd/bases/*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// bundle64 is bytes as an API object has them.
func bundle64(raw []byte) string {
	text, _ := json.Marshal(raw) // in base64 and quotes
	return string(text[1 : len(text)-1])
}

// token is one of KEDA's account for an audience, "" for the API server.
func (c *cluster) token(t *testing.T, audience string) string {
	t.Helper()
	spec := map[string]any{}
	if audience != "" {
		spec["audiences"] = []any{audience}
	}
	at, err := c.at(kindOf("v1", "ServiceAccount", kube.KEDA.Namespace, ""))
	require.NoError(t, err)
	request := kindOf("authentication.k8s.io/v1", "TokenRequest", kube.KEDA.Namespace, kube.KEDA.Name)
	request.Object["spec"] = spec
	made, err := at.Create(t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(t, err)
	text, _, _ := unstructured.NestedString(made.Object, "status", "token")
	require.NotEmpty(t, text)
	return text
}

// account writes a kubeconfig of KEDA's account.
func (c *cluster) account(t *testing.T, file string) string {
	t.Helper()
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"judge": {Server: c.config.Host, CertificateAuthority: c.config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"keda": {Token: c.token(t, "")}},
		Contexts:  map[string]*clientcmdapi.Context{"judge": {Cluster: "judge", AuthInfo: "keda"}}, CurrentContext: "judge",
	}, file))
	return file
}

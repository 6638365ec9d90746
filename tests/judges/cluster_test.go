//go:build judges

package judges

import (
	"context"
	"crypto/x509/pkix"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// cluster is a cluster of Kubernetes without machines: a store, an API server and the
// controllers, on ports of the loopback interface.
type cluster struct {
	client
	kubeconfig string // file of an administrator's
}

// newCluster starts a cluster that the operators have been installed in, and
// waits until it serves.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	ports := freePorts(t, 4)
	store, peers, secure, controllers := ports[0], ports[1], ports[2], ports[3]
	ca := newAuthority(t, "cluster")
	served := ca.issue(t, "apiserver", pkix.Name{CommonName: "kube-apiserver"}, "127.0.0.1", "localhost")
	proxy := ca.issue(t, "proxy", pkix.Name{CommonName: "front-proxy"})
	admin := ca.issue(t, "admin", pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}})

	startProcess(t, "kubernetes", nil, []string{
		"etcd", "--data-dir=" + t.TempDir(), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls=http://127.0.0.1:" + store, "--advertise-client-urls=http://127.0.0.1:" + store,
		"--listen-peer-urls=http://127.0.0.1:" + peers, "--initial-advertise-peer-urls=http://127.0.0.1:" + peers,
		"--initial-cluster=default=http://127.0.0.1:" + peers,
	})
	startProcess(t, "kubernetes", nil, []string{
		"kube-apiserver", "--etcd-servers=http://127.0.0.1:" + store,
		"--bind-address=127.0.0.1", "--secure-port=" + secure, "--tls-cert-file=" + served.cert, "--tls-private-key-file=" + served.key,
		"--client-ca-file=" + ca.file(), "--authorization-mode=Node,RBAC", "--service-cluster-ip-range=10.245.0.0/16",
		"--service-account-issuer=https://127.0.0.1:" + secure, "--service-account-key-file=" + served.key, "--service-account-signing-key-file=" + served.key,
		// By these an API server that is registered with this one knows who calls.
		"--requestheader-client-ca-file=" + ca.file(), "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + proxy.cert, "--proxy-client-key-file=" + proxy.key,
	})
	c := &cluster{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	config := &rest.Config{Host: "https://127.0.0.1:" + secure, QPS: 500, Burst: 500, WarningHandler: rest.NoWarnings{}} // the definitions are others'
	config.CAFile, config.CertFile, config.KeyFile = ca.file(), admin.cert, admin.key
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"judge": {Server: config.Host, CertificateAuthority: ca.file()}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"admin": {ClientCertificate: admin.cert, ClientKey: admin.key}},
		Contexts:  map[string]*clientcmdapi.Context{"judge": {Cluster: "judge", AuthInfo: "admin"}}, CurrentContext: "judge",
	}, c.kubeconfig))
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	eventually(t, "the API server is ready", func(ctx context.Context) (bool, error) {
		_, err := asked.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil, nil
	})
	startProcess(t, "kubernetes", nil, []string{
		"kube-controller-manager", "--kubeconfig=" + c.kubeconfig, "--bind-address=127.0.0.1", "--secure-port=" + controllers, "--leader-elect=false",
		"--use-service-account-credentials", "--service-account-private-key-file=" + served.key, "--root-ca-file=" + ca.file(),
		"--horizontal-pod-autoscaler-sync-period=2s", "--controllers=*,-node-lifecycle-controller", // nodes have no heartbeat
	})
	c.client = newClient(t, config)
	c.install(t, definitions(t))
	return c
}

// eventually waits until something holds. An error ends the wait, and so does a
// judge that ended.
func eventually(t *testing.T, what string, holds func(context.Context) (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if t.Failed() {
			return false, errors.New("the test has failed already")
		}
		return holds(ctx)
	})
	require.NoError(t, err, what)
}

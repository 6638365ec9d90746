package core

import (
	"encoding/base64"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// APIServerHost is the host name of a cluster's API server: the private one of a
// private cluster, else the public one.
func APIServerHost(cluster *Resource) string {
	if private := cluster.props("privateFQDN").text(); private != "" {
		return private
	}
	return cluster.props("fqdn").text()
}

// listUserCredentials answers the kubeconfig of a cluster's users (A348): the
// address of the API server, and users that log in with Entra.
func listUserCredentials(_ State, r *Resource) (map[string]any, *Error) {
	if r.Provisioning == Creating {
		return nil, refuse(ResourceNotFound, r.ID, "cluster", r.ID+", which is being made", "one that exists", "let the call depend on the cluster")
	}
	text, err := yaml.Marshal(kubeconfig(r))
	if err != nil {
		panic(err) // plain maps and texts
	}
	return map[string]any{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": base64.StdEncoding.EncodeToString(text)}}}, nil
}

// kubeconfig is what Azure writes for a cluster whose local accounts are off.
func kubeconfig(cluster *Resource) map[string]any {
	name := Name(cluster.ID)
	user := fmt.Sprintf("clusterUser_%s_%s", Name(GroupOf(cluster.ID)), name)
	return map[string]any{
		"apiVersion": "v1", "kind": "Config", "preferences": map[string]any{}, "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": map[string]any{
			"server":                     "https://" + APIServerHost(cluster) + ":443",
			"certificate-authority-data": base64.StdEncoding.EncodeToString([]byte("simulated authority of " + name)),
		}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": user}}},
		"users": []any{map[string]any{"name": user, "user": map[string]any{"exec": map[string]any{
			"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin",
			"args": []any{"get-token", "--login", "devicecode"}, "env": nil, "provideClusterInfo": false,
		}}}},
	}
}

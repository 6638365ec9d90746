package cluster

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"go.yaml.in/yaml/v3"

	"onedoor/internal/live"
)

// Login is how whoever deploys gets a token for the API server: a method of
// kubelogin.
// https://azure.github.io/kubelogin/concepts/login-modes.html
type Login string

// The methods. All of them need nothing that is kept in a state.
const (
	LoginAzureCLI         Login = "azurecli"         // of a person, or of a pipeline that has logged in
	LoginWorkloadIdentity Login = "workloadidentity" // of a pod
	LoginManagedIdentity  Login = "msi"              // of a virtual machine
	LoginAzurePipelines   Login = "azurepipelines"   // of a service connection
)

// Logins are all methods.
var Logins = []Login{LoginAzureCLI, LoginWorkloadIdentity, LoginManagedIdentity, LoginAzurePipelines}

// credentialsFunction answers the kubeconfig of a cluster's users.
const credentialsFunction = "azure-native:containerservice/v20250101:listManagedClusterUserCredentials"

// serverApplication is AKS's API server in Entra, the same in every tenant.
// https://azure.github.io/kubelogin/concepts/aks.html
const serverApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"

// kubeconfig asks Azure for the kubeconfig of made. A cluster that does not exist
// yet has none, and the answer is unknown.
func (a Args) kubeconfig(ctx *pulumi.Context, plain string, made pulumi.Resource, parent pulumi.Resource) pulumi.StringOutput {
	answer := live.Ask(ctx, credentialsFunction, map[string]any{
		"resourceGroupName": a.Group.PlainName,
		"resourceName":      plain,
	}, made, parent)
	login := a.Login
	return answer.Map().ApplyT(func(answer map[string]any) (string, error) { return login.kubeconfig(answer) }).(pulumi.StringOutput)
}

// kubeconfig is the kubeconfig in Azure's answer, with users that log in this way
// instead of those that Azure wrote, which would ask a person. It holds no secret.
func (l Login) kubeconfig(answer map[string]any) (string, error) {
	list, _ := answer["kubeconfigs"].([]any)
	if len(list) == 0 {
		return "", errors.New("no kubeconfig of the cluster's users in what Azure answered")
	}
	first, _ := list[0].(map[string]any)
	encoded, _ := first["value"].(string)
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("kubeconfig of the cluster's users: %w", err)
	}
	config := struct {
		APIVersion     string           `yaml:"apiVersion"`
		Kind           string           `yaml:"kind"`
		CurrentContext string           `yaml:"current-context"`
		Clusters       []map[string]any `yaml:"clusters"`
		Contexts       []map[string]any `yaml:"contexts"`
		Users          []map[string]any `yaml:"users"`
	}{}
	if err := yaml.Unmarshal(raw, &config); err != nil {
		return "", fmt.Errorf("kubeconfig of the cluster's users: %w", err)
	}
	if len(config.Users) == 0 || len(config.Clusters) == 0 {
		return "", errors.New("the kubeconfig of the cluster's users has no user or no cluster")
	}
	for _, user := range config.Users {
		user["user"] = map[string]any{"exec": map[string]any{
			"apiVersion":         "client.authentication.k8s.io/v1beta1",
			"command":            "kubelogin",
			"args":               []string{"get-token", "--login", string(l), "--server-id", serverApplication},
			"installHint":        "kubelogin is not installed: see https://azure.github.io/kubelogin/install.html",
			"interactiveMode":    "Never",
			"provideClusterInfo": false,
		}}
	}
	out, err := yaml.Marshal(config)
	return string(out), err
}

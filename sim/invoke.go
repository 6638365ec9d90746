package sim

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"onedoor/internal/armtypes"
	"onedoor/sim/core"
)

// function is a function of azure-native: an action on a resource whose id is made
// of the arguments.
type function struct {
	resource string // the id below the resource group, as "Microsoft.X/things/{argument}"
	action   string // "" reads the resource
	token    string // of the resource, where it is read
}

// functions are those that the simulator knows, by token without the version of
// the module.
var functions = map[string]function{
	"azure-native:apimanagement:listSubscriptionSecrets":              {resource: "Microsoft.ApiManagement/service/{serviceName}/subscriptions/{sid}", action: "listSecrets"},
	"azure-native:containerservice:listManagedClusterUserCredentials": {resource: "Microsoft.ContainerService/managedClusters/{resourceName}", action: "listClusterUserCredential"},

	"azure-native:apimanagement:getApiManagementService": {
		resource: "Microsoft.ApiManagement/service/{serviceName}", token: "azure-native:apimanagement/v20240501:ApiManagementService",
	},
	"azure-native:insights:getComponent": {
		resource: "Microsoft.Insights/components/{resourceName}", token: "azure-native:insights/v20200202:Component",
	},
	"azure-native:network:getPublicIPAddress": {
		resource: "Microsoft.Network/publicIPAddresses/{publicIpAddressName}", token: "azure-native:network/v20240501:PublicIPAddress",
	},
	"azure-native:managedidentity:getUserAssignedIdentity": {
		resource: "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}", token: "azure-native:managedidentity/v20230131:UserAssignedIdentity",
	},
}

var (
	// moduleVersion is the part of a token that names an API version.
	moduleVersion = regexp.MustCompile(`/v[0-9]{8}(preview)?:`)
	// argument is a part of an id that an argument fills.
	argument = regexp.MustCompile(`\{(\w+)\}`)
)

// Invoke calls a function.
func (p *azureNative) Invoke(_ context.Context, req *pulumirpc.InvokeRequest) (*pulumirpc.InvokeResponse, error) {
	defer p.cloud.enter()()
	f, known := functions[moduleVersion.ReplaceAllString(req.GetTok(), ":")]
	if !known {
		return nil, status.Errorf(codes.InvalidArgument, "function: got %q, want one the simulator knows: %s; fix: use the resource's outputs", req.GetTok(), strings.Join(slices.Sorted(maps.Keys(functions)), ", "))
	}
	args, err := unmarshal(req.GetArgs(), "azure-native.invoke")
	if err != nil {
		return nil, err
	}
	subscription, _ := p.config()
	id, err := f.id(subscription, plain(args))
	if err != nil {
		return nil, err
	}
	body, err := f.call(p.cloud.State(), id)
	if err != nil {
		return nil, err
	}
	out, err := marshal(properties(body), "azure-native.invoke")
	return &pulumirpc.InvokeResponse{Return: out}, err
}

// call answers the function about the resource with this id.
func (f function) call(s core.State, id string) (map[string]any, error) {
	if f.action != "" {
		answer := core.Act(s, id+"/"+f.action)
		if answer.Error != nil {
			return nil, answer.Error
		}
		return answer.Body, nil
	}
	types, err := armtypes.Load()
	if err != nil {
		return nil, err
	}
	typ, known := types.ByToken(f.token)
	if !known {
		return nil, fmt.Errorf("type %s is not in internal/armtypes", f.token)
	}
	r, exists := s.Find(id)
	if !exists {
		return nil, &core.Error{Code: core.ResourceNotFound, Target: id, Message: fmt.Sprintf("resource: got %q, want one that exists; fix: let the call depend on it", id)}
	}
	return typ.Outputs(s.Show(r)), nil
}

// id is the id of the resource that args name. All that is missing is reported.
func (f function) id(subscription string, args map[string]any) (string, error) {
	var missing []string
	path := argument.ReplaceAllStringFunc("/resourceGroups/{resourceGroupName}/providers/"+f.resource, func(part string) string {
		name := strings.Trim(part, "{}")
		text, _ := args[name].(string)
		if text == "" {
			missing = append(missing, fmt.Sprintf("%s: got %v, want a name; fix: give it", name, args[name]))
		}
		return text
	})
	if len(missing) > 0 {
		return "", status.Error(codes.InvalidArgument, strings.Join(missing, "\n"))
	}
	return "/subscriptions/" + subscription + path, nil
}

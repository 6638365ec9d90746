package retry

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
)

// What azure-native and kubernetes say of a create that met something. Only the former
// names its id; for a release the latter passes on Helm's words.
// https://github.com/pulumi/pulumi-azure-native/blob/v2/provider/pkg/provider/provider.go
// https://github.com/helm/helm/blob/v3.18.6/pkg/action/install.go
var (
	existsInAzure   = regexp.MustCompile(`cannot create already existing (?:sub)?resource '([^']+)'`)
	existsInCluster = regexp.MustCompile(`not successfully created by the Kubernetes API server: .* already exists|cannot re-use a name that is still in use`)
)

// family keeps what a command to import a resource needs and a hook is not told: the
// resource's parent and the provider of its package.
type family struct {
	mu        sync.Mutex
	parents   map[string]pulumi.Resource // by type and name
	providers map[string]string          // name by package
}

const providerType = "pulumi:providers:"

// note remembers a resource that is about to be registered.
func (f *family) note(typ, name string, opts []pulumi.ResourceOption) {
	options, err := pulumi.NewResourceOptions(opts...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && options.Parent != nil {
		f.parents[typ+"::"+name] = options.Parent
	}
	if pkg, ok := strings.CutPrefix(typ, providerType); ok {
		f.providers[pkg] = name
	}
}

// takeOver says how to take over what a create has met, "" if it has met nothing. The answer
// of an earlier create may have been lost: then Azure has the resource and the state has not.
func (f *family) takeOver(ctx *pulumi.Context, refused *pulumi.ErrorHookArgs) (string, error) {
	if refused.FailedOperation != "create" || len(refused.Errors) == 0 {
		return "", nil
	}
	id := existing(refused.Errors[0], refused.NewInputs)
	if id == "" {
		return "", nil
	}
	command := fmt.Sprintf("pulumi import '%s' %s '%s'", refused.Type, refused.Name, id)
	f.mu.Lock()
	parent := f.parents[string(refused.Type)+"::"+refused.Name]
	pkg, _, _ := strings.Cut(string(refused.Type), ":")
	provider := f.providers[pkg]
	f.mu.Unlock()
	if parent != nil {
		urn, err := internals.UnsafeAwaitOutput(ctx.Context(), parent.URN())
		if err != nil {
			return "", err
		}
		command += fmt.Sprintf(" --parent 'parent=%s'", urn.Value)
	}
	if provider != "" {
		command += fmt.Sprintf(" --provider '%s=urn:pulumi:%s::%s::%s%s::%[1]s'", provider, ctx.Stack(), ctx.Project(), providerType, pkg)
	}
	command += fmt.Sprintf(" --protect=false --generate-code=false --stack %s --yes", ctx.Stack())
	return fmt.Sprintf("%s exists already, and the state of stack %s does not know it: %s\n"+
		"If an earlier update made it and never had the answer, take it over and run again:\n  %s\n"+
		"If it is somebody else's, raise base.generation: it gives this stack new names.", refused.Name, ctx.Stack(), id, command), nil
}

// existing returns the id of what a create has met.
func existing(refusal string, inputs resource.PropertyMap) string {
	if found := existsInAzure.FindStringSubmatch(refusal); found != nil {
		return found[1]
	}
	if !existsInCluster.MatchString(refusal) {
		return ""
	}
	named := inputs // a Helm release has its name at the top, objects have it in their metadata
	if metadata := open(inputs["metadata"]); metadata.IsObject() {
		named = metadata.ObjectValue()
	}
	text := func(key resource.PropertyKey) string {
		if v := open(named[key]); v.IsString() {
			return v.StringValue()
		}
		return ""
	}
	return strings.TrimPrefix(text("namespace")+"/"+text("name"), "/")
}

// open takes the mark of a secret from a value.
func open(v resource.PropertyValue) resource.PropertyValue {
	if v.IsSecret() {
		return v.SecretValue().Element
	}
	return v
}

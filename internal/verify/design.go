package verify

import (
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/armtypes"
	"onedoor/internal/az/openai"
	"onedoor/internal/engine"
)

// Design is what a plan says about its model accounts.
type Design struct {
	Stack        string
	Subscription string
	Accounts     []Account  // sorted by id
	Gateway      string     // host name, "" for a plan without one
	Identities   []Identity // every managed identity of the plan, sorted by id
	Places       []Place    // where programs run that may call no model, sorted by namespace and name
}

// Account is a model account of the plan.
type Account struct {
	ID, Name, APIVersion string
	Host                 string // where it answers
	Batch                bool   // it is the door of batch jobs
	Callers              []Caller
}

// Identity is a managed identity of the plan.
type Identity struct{ ID, APIVersion string }

// Caller may use an account by design.
type Caller struct {
	Identity string // id of the managed identity
	Role     string // GUID of the definition, in lower case
}

// DesignOf is the design of a plan.
func DesignOf(stack string, plan []engine.Resource) (Design, error) {
	catalog, err := armtypes.Load()
	if err != nil {
		return Design{}, err
	}
	d := Design{Stack: stack}
	for _, r := range plan {
		if id := text(r.Inputs, "subscriptionId"); r.Type == "pulumi:providers:azure-native" && id != engine.Unknown {
			d.Subscription = id
		}
	}
	if d.Subscription == "" {
		return Design{}, fmt.Errorf("plan of %q: no provider of azure-native with a subscriptionId that is known; preview the stack again", stack)
	}
	made := map[string]string{}       // ids of identities by URN
	accounts := map[string]*Account{} // by id in lower case
	batch := map[string]bool{}
	for _, r := range plan {
		armType, ok := catalog.ByToken(r.Type)
		if !ok {
			continue
		}
		id, problems := armType.ID(r.Inputs, d.Subscription)
		if len(problems) > 0 {
			continue
		}
		switch strings.ToLower(armType.ARMType) {
		case "microsoft.managedidentity/userassignedidentities":
			made[r.URN] = id
			d.Identities = append(d.Identities, Identity{id, armType.APIVersion})
		case "microsoft.cognitiveservices/accounts":
			accounts[strings.ToLower(id)] = &Account{
				ID: id, Name: last(id), APIVersion: armType.APIVersion,
				Host: strings.TrimPrefix(openai.Endpoint(text(object(r.Inputs, "properties"), "customSubDomainName")), "https://"),
			}
		case "microsoft.cognitiveservices/accounts/deployments":
			if sku, known := openai.Lookup(text(object(r.Inputs, "sku"), "name")); known && sku.Batch {
				batch[strings.ToLower(id[:strings.Index(strings.ToLower(id), "/deployments/")])] = true
			}
		case "microsoft.apimanagement/service":
			d.Gateway = last(id) + ".azure-api.net"
		}
	}
	for _, r := range plan {
		if strings.HasSuffix(r.Type, ":RoleAssignment") {
			d.addCaller(r, made, accounts)
		}
	}
	for key, account := range accounts {
		account.Batch = batch[key]
		d.Accounts = append(d.Accounts, *account)
	}
	slices.SortFunc(d.Accounts, func(a, b Account) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(d.Identities, func(a, b Identity) int { return strings.Compare(a.ID, b.ID) })
	d.Places = placesOf(plan)
	return d, nil
}

// addCaller notes a role that the plan gives an identity at a model account.
func (d *Design) addCaller(r engine.Resource, made map[string]string, accounts map[string]*Account) {
	account, ok := accounts[strings.ToLower(text(r.Inputs, "scope"))]
	if !ok {
		return
	}
	for _, urn := range r.PropertyDependencies["principalId"] {
		if id, ok := made[urn]; ok {
			account.Callers = append(account.Callers, Caller{id, strings.ToLower(last(text(r.Inputs, "roleDefinitionId")))})
		}
	}
}

func last(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

func object(in map[string]any, key string) map[string]any {
	out, _ := in[key].(map[string]any)
	return out
}

func text(in map[string]any, key string) string {
	out, _ := in[key].(string)
	return out
}

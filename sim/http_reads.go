package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"onedoor/internal/az/rights"
	"onedoor/sim/core"
)

// question is a read that is about the subscription and not about a resource. It
// answers in any version of the API.
type question struct {
	method string
	path   *regexp.Regexp // of the path in lower case
	answer func(h *armHandler, req *http.Request, path string, parts []string) (map[string]any, *core.Error)
}

const aSubscription = `^/subscriptions/([^/]+)`

// questions are all that the simulator knows.
var questions = []question{
	{http.MethodGet, regexp.MustCompile(aSubscription + `$`), (*armHandler).theSubscription},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/([^/]+)$`), (*armHandler).registration},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.cognitiveservices/locations/([^/]+)/models$`), (*armHandler).offeredModels},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.cognitiveservices/locations/([^/]+)/usages$`), (*armHandler).modelUsages},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.compute/locations/([^/]+)/usages$`), (*armHandler).coreUsages},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.compute/skus$`), (*armHandler).machineSizes},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.cognitiveservices/deletedaccounts$`), deletedOf("Microsoft.CognitiveServices/accounts", deletedAccount)},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.apimanagement/deletedservices$`), deletedOf("Microsoft.ApiManagement/service", deletedGateway)},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.keyvault/deletedvaults$`), deletedOf("Microsoft.KeyVault/vaults", deletedVault)},
	{http.MethodPost, regexp.MustCompile(aSubscription + `/providers/microsoft\.cognitiveservices/(checkdomainavailability)$`), (*armHandler).nameIsFree},
	{http.MethodPost, regexp.MustCompile(aSubscription + `/providers/([^/]+)/checknameavailability$`), (*armHandler).nameIsFree},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.authorization/permissions$`), (*armHandler).permissions},
	{http.MethodGet, regexp.MustCompile(aSubscription + `/providers/microsoft\.authorization/classicadministrators$`), (*armHandler).administrators},
	{http.MethodGet, regexp.MustCompile(`/providers/microsoft\.authorization/roledefinitions/([^/]+)$`), (*armHandler).roleDefinition},
	{http.MethodGet, regexp.MustCompile(`^(.*)/providers/microsoft\.authorization/(roleassignments|denyassignments|roleeligibilityscheduleinstances)$`), (*armHandler).atScope},
}

// asked answers a question, if the request is one.
func (h *armHandler) asked(w http.ResponseWriter, req *http.Request, path string) bool {
	for _, q := range questions {
		parts := q.path.FindStringSubmatch(strings.ToLower(path))
		if req.Method != q.method || parts == nil {
			continue
		}
		body, refusal := q.answer(h, req, path, parts)
		switch {
		case refusal != nil:
			fail(w, refusal.Status(), refusal)
		case body == nil:
			return false // a list that is no more than its resources
		default:
			send(w, http.StatusOK, body)
		}
		return true
	}
	return false
}

func listOf(items []any) map[string]any {
	if items == nil {
		items = []any{}
	}
	return map[string]any{"value": items}
}

// theSubscription answers the subscription itself (A930).
func (h *armHandler) theSubscription(_ *http.Request, path string, _ []string) (map[string]any, *core.Error) {
	id := core.SubscriptionOf(path)
	return map[string]any{
		"id": "/subscriptions/" + id, "subscriptionId": id, "displayName": "simulated",
		"state": cmp.Or(h.cloud.around.State, "Enabled"), "tenantId": cmp.Or(h.cloud.around.Tenant, defaultTenant),
	}, nil
}

// registration answers a resource provider (A931).
func (h *armHandler) registration(_ *http.Request, path string, _ []string) (map[string]any, *core.Error) {
	namespace := core.Name(path)
	state := "Registered"
	if !h.cloud.around.registered(namespace) {
		state = "NotRegistered"
	}
	return map[string]any{"id": path, "namespace": namespace, "registrationState": state, "registrationPolicy": "RegistrationRequired", "resourceTypes": []any{}}, nil
}

// offeredModels answers what a region offers, with the name of the quota of each SKU
// (A932).
func (h *armHandler) offeredModels(_ *http.Request, _ string, parts []string) (map[string]any, *core.Error) {
	var out []any
	for _, m := range h.cloud.around.Models {
		if core.Region(m.Region) != core.Region(parts[2]) {
			continue
		}
		var skus []any
		for _, sku := range m.SKUs {
			skus = append(skus, map[string]any{"name": sku, "usageName": "OpenAI." + sku + "." + m.Name})
		}
		out = append(out, map[string]any{"kind": "OpenAI", "skuName": "S0", "model": map[string]any{"format": "OpenAI", "name": m.Name, "version": m.Version, "skus": skus}})
	}
	return listOf(out), nil
}

// modelUsages answers the quotas of models in a region: what the state's deployments
// and others use of each (A933).
func (h *armHandler) modelUsages(_ *http.Request, _ string, parts []string) (map[string]any, *core.Error) {
	state, region := h.cloud.State(), core.Region(parts[2])
	var out []any
	for _, key := range slices.Sorted(maps.Keys(state.ModelQuota)) {
		at, name, _ := strings.Cut(key, "/")
		if core.Region(at) != region {
			continue
		}
		out = append(out, map[string]any{
			"name": map[string]any{"value": name, "localizedValue": name}, "unit": "Count", "status": "Included",
			"currentValue": core.ModelUnits(state, parts[1], region, name) + h.cloud.around.ModelsInUse[key], "limit": state.ModelQuota[key],
		})
	}
	return listOf(out), nil
}

// coreUsages answers the quotas of virtual CPUs in a region (A934).
func (h *armHandler) coreUsages(_ *http.Request, _ string, parts []string) (map[string]any, *core.Error) {
	var out []any
	for _, key := range slices.Sorted(maps.Keys(h.cloud.around.Cores)) {
		if at, name, _ := strings.Cut(key, "/"); core.Region(at) == core.Region(parts[2]) {
			quota := h.cloud.around.Cores[key]
			out = append(out, map[string]any{"name": map[string]any{"value": name, "localizedValue": name}, "unit": "Count", "currentValue": quota.Used, "limit": quota.Limit})
		}
	}
	return listOf(out), nil
}

// machineSizes answers the sizes of virtual machines, of all regions or of the one
// that the filter names (A935).
func (h *armHandler) machineSizes(req *http.Request, _ string, _ []string) (map[string]any, *core.Error) {
	var out []any
	wanted := regexp.MustCompile(`^location eq '([^']*)'$`).FindStringSubmatch(req.URL.Query().Get("$filter"))
	for _, size := range h.cloud.around.Sizes {
		if wanted != nil && core.Region(size.Region) != core.Region(wanted[1]) {
			continue
		}
		restrictions := []any{}
		if size.Restricted {
			restrictions = append(restrictions, map[string]any{"type": "Location", "values": []any{size.Region}, "restrictionInfo": map[string]any{"locations": []any{size.Region}}, "reasonCode": "NotAvailableForSubscription"})
		}
		if len(size.Closed) > 0 {
			restrictions = append(restrictions, map[string]any{"type": "Zone", "values": []any{size.Region}, "restrictionInfo": map[string]any{"locations": []any{size.Region}, "zones": size.Closed}, "reasonCode": "NotAvailableForSubscription"})
		}
		out = append(out, map[string]any{
			"resourceType": "virtualMachines", "name": size.Name, "family": size.Family, "locations": []any{size.Region},
			"locationInfo": []any{map[string]any{"location": size.Region, "zones": size.Zones}},
			"capabilities": []any{map[string]any{"name": "vCPUs", "value": strconv.Itoa(size.CPUs)}}, "restrictions": restrictions,
		})
	}
	return listOf(out), nil
}

// deletedOf answers what of a type can still be recovered (A936).
func deletedOf(armType string, show func(*core.Resource) map[string]any) func(*armHandler, *http.Request, string, []string) (map[string]any, *core.Error) {
	return func(h *armHandler, _ *http.Request, _ string, parts []string) (map[string]any, *core.Error) {
		var out []any
		for _, r := range core.Recoverable(h.cloud.State(), armType) {
			if strings.EqualFold(core.SubscriptionOf(r.ID), parts[1]) {
				out = append(out, show(r))
			}
		}
		return listOf(out), nil
	}
}

// until is a day on which Azure frees a name; there is no clock to tell which.
const until = "2027-01-01T00:00:00Z"

func region(r *core.Resource) string {
	location, _ := r.Body["location"].(string)
	return location
}

func deletedAccount(r *core.Resource) map[string]any {
	id := fmt.Sprintf("/subscriptions/%s/providers/Microsoft.CognitiveServices/locations/%s/resourceGroups/%s/deletedAccounts/%s", core.SubscriptionOf(r.ID), region(r), core.Name(core.GroupOf(r.ID)), core.Name(r.ID))
	return map[string]any{"id": id, "name": core.Name(r.ID), "location": region(r), "properties": map[string]any{"scheduledPurgeDate": until}}
}

func deletedGateway(r *core.Resource) map[string]any {
	id := fmt.Sprintf("/subscriptions/%s/providers/Microsoft.ApiManagement/locations/%s/deletedservices/%s", core.SubscriptionOf(r.ID), region(r), core.Name(r.ID))
	return map[string]any{"id": id, "name": core.Name(r.ID), "location": region(r), "properties": map[string]any{"serviceId": r.ID, "scheduledPurgeDate": until}}
}

func deletedVault(r *core.Resource) map[string]any {
	id := fmt.Sprintf("/subscriptions/%s/providers/Microsoft.KeyVault/locations/%s/deletedVaults/%s", core.SubscriptionOf(r.ID), region(r), core.Name(r.ID))
	properties, _ := r.Body["properties"].(map[string]any)
	return map[string]any{"id": id, "name": core.Name(r.ID), "properties": map[string]any{
		"vaultId": r.ID, "location": region(r), "scheduledPurgeDate": until, "purgeProtectionEnabled": properties["enablePurgeProtection"] == true,
	}}
}

// nameIsFree answers whether a name can be taken: not if somebody else or a resource
// of the same provider has it (A937).
func (h *armHandler) nameIsFree(req *http.Request, path string, parts []string) (map[string]any, *core.Error) {
	var body struct{ Name, SubdomainName string }
	if err := json.NewDecoder(http.MaxBytesReader(nil, req.Body, maxBody)).Decode(&body); err != nil || body.Name+body.SubdomainName == "" {
		return nil, &core.Error{Code: core.InvalidRequestContent, Target: path, Message: "body: got no name, want one; fix: send it"}
	}
	name := cmp.Or(body.Name, body.SubdomainName)
	namespace := parts[2]
	if parts[2] == "checkdomainavailability" {
		namespace = "microsoft.cognitiveservices"
	}
	taken := h.cloud.around.taken(name)
	for _, r := range h.cloud.State().Resources {
		own, _, _ := strings.Cut(r.Type, "/")
		taken = taken || strings.EqualFold(own, namespace) && strings.EqualFold(core.Name(r.ID), name)
	}
	answer := map[string]any{"nameAvailable": !taken, "isSubdomainAvailable": !taken}
	if taken {
		answer["reason"], answer["message"] = "AlreadyExists", "The name '"+name+"' is already in use."
	}
	return answer, nil
}

// permissions answers what the caller may do at the subscription (A938).
func (h *armHandler) permissions(*http.Request, string, []string) (map[string]any, *core.Error) {
	held := h.cloud.around.Permissions
	if held == nil {
		held = []rights.Role{{Actions: []string{"*"}}}
	}
	return listOf(permissionsOf(held)), nil
}

func permissionsOf(roles []rights.Role) []any {
	var out []any
	for _, r := range roles {
		out = append(out, map[string]any{"actions": full(r.Actions), "notActions": full(r.NotActions), "dataActions": full(r.DataActions), "notDataActions": full(r.NotDataActions)})
	}
	return out
}

// full is a list that JSON does not show as null.
func full(list []string) []string { return append([]string{}, list...) }

// administrators answers the classic administrators (A939).
func (h *armHandler) administrators(_ *http.Request, path string, _ []string) (map[string]any, *core.Error) {
	var out []any
	for i, mail := range h.cloud.around.Administrators {
		out = append(out, map[string]any{"id": fmt.Sprintf("%s/%d", path, i), "name": strconv.Itoa(i), "properties": map[string]any{"emailAddress": mail, "role": "CoAdministrator"}})
	}
	return listOf(out), nil
}

// roleDefinition answers a role by its GUID, at whatever scope it is asked: a
// built-in one, or one of the directory (A940).
func (h *armHandler) roleDefinition(_ *http.Request, path string, parts []string) (map[string]any, *core.Error) {
	if r, ok := core.RoleByGUID(h.cloud.State(), parts[len(parts)-1]); ok {
		return h.cloud.State().Show(r), nil
	}
	role, ok := rights.BuiltIn[parts[len(parts)-1]]
	if !ok {
		if role.Name, ok = core.BuiltInRole(parts[len(parts)-1]); !ok {
			missing := &core.Error{Code: core.RoleDefinitionDoesNotExist, Target: path, Message: fmt.Sprintf("role definition: got %q, want one that exists; fix: correct the GUID", core.Name(path))}
			return nil, missing.NotThere()
		}
	}
	return map[string]any{"id": path, "name": core.Name(path), "type": "Microsoft.Authorization/roleDefinitions", "properties": map[string]any{
		"roleName": role.Name, "type": "BuiltInRole", "assignableScopes": []any{"/"}, "permissions": permissionsOf([]rights.Role{role}),
	}}, nil
}

// atScope answers what holds at a scope with the filter atScope(): what is there and
// what is above it, up to the management groups that were seeded (A941). Without the
// filter it is an ordinary list.
func (h *armHandler) atScope(req *http.Request, _ string, parts []string) (map[string]any, *core.Error) {
	if !strings.EqualFold(req.URL.Query().Get("$filter"), "atScope()") {
		return nil, nil
	}
	var out []any
	for _, r := range core.AtOrAbove(h.cloud.State(), "microsoft.authorization/"+parts[2], parts[1]) {
		out = append(out, h.cloud.State().Show(r))
	}
	return listOf(out), nil
}

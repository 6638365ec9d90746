package core

import (
	"fmt"
	"strings"
)

// What Azure makes for a resource and answers: identities, addresses, keys to
// other resources.

const identityType = "microsoft.managedidentity/userassignedidentities"

// tenant is the directory of every subscription here (A100).
const tenant = "33333333-3333-4333-8333-333333333333"

func completeIdentity(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	props["principalId"], props["clientId"], props["tenantId"] = GUID(r, "principalId"), GUID(r, "clientId"), tenant
}

// addIdentity fills the identity that a resource carries: its own, and what
// belongs to the user-assigned ones (A100).
func (s State) addIdentity(r *Resource) {
	identity, ok := r.Body["identity"].(map[string]any)
	if !ok {
		return
	}
	if strings.Contains(value{identity["type"]}.text(), "SystemAssigned") {
		identity["principalId"], identity["tenantId"] = GUID(r, "principalId"), tenant
	}
	assigned, _ := identity["userAssignedIdentities"].(map[string]any)
	for id := range assigned {
		ids := map[string]any{}
		if target, ok := s.Find(id); ok {
			ids["principalId"], ids["clientId"] = GUID(target, "principalId"), GUID(target, "clientId")
		}
		assigned[id] = ids
	}
}

func completeSecret(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	uri := "https://" + strings.ToLower(Name(ParentOf(r.ID))) + ".vault.azure.net/secrets/" + Name(r.ID)
	props["secretUri"] = uri
	props["secretUriWithVersion"] = uri + "/" + strings.ReplaceAll(GUID(r, fmt.Sprint("version", r.Generation)), "-", "")
	delete(props, "value") // ARM never gives a secret back
}

// endpointSubnet: a private endpoint sits in an existing subnet, which belongs
// to a network of its region (A102).
func endpointSubnet(s State, r, _ *Resource) *Error {
	v := r.props("subnet.id")
	subnet, err := s.refer(r, "subnet", v, subnetType)
	if err != nil || subnet == nil {
		return err
	}
	return near(r, s.network(subnet.ID), "subnet", root(r.Body).get("location"))
}

func completeEndpoint(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	props["networkInterfaces"] = []any{map[string]any{"id": GroupOf(r.ID) + "/providers/Microsoft.Network/networkInterfaces/" + Name(r.ID) + ".nic." + GUID(r, "nic")}}
	for _, kind := range []string{"privateLinkServiceConnections", "manualPrivateLinkServiceConnections"} {
		setDefault(props, kind, []any{})
		items, _ := props[kind].([]any)
		for _, item := range items {
			c, ok := item.(map[string]any)
			if !ok {
				continue
			}
			c["id"], c["etag"] = r.ID+"/"+kind+"/"+value{c["name"]}.text(), etag(r)
			if p := object(c, "properties"); p != nil {
				p["provisioningState"] = Succeeded
				status := "Approved"
				if kind != "privateLinkServiceConnections" {
					status = "Pending"
				}
				setDefault(p, "privateLinkServiceConnectionState", map[string]any{"status": status, "actionsRequired": "None", "description": ""})
			}
		}
	}
}

package core

import (
	"fmt"
	"strings"
	"time"
)

// The types below are known by what Azure makes for them: identities, addresses,
// keys to other resources. Their rules are still to be written; types and
// parents are checked as everywhere.

const identityType = "microsoft.managedidentity/userassignedidentities"

// servedTypes are rows of the table for types without rules of their own.
var servedTypes = map[string]*behaviour{
	"microsoft.cognitiveservices/accounts": {
		location: regional, create: 30 * time.Second, update: 10 * time.Second, remove: 20 * time.Second, complete: completeAccount, etag: true,
	},
	"microsoft.cognitiveservices/accounts/deployments": {
		// One write at a time for each account (A016).
		create: 30 * time.Second, update: 20 * time.Second, remove: 10 * time.Second, lock: ParentOf, etag: true,
	},
	"microsoft.apimanagement/service": {
		location: regional, create: 35 * time.Minute, update: 15 * time.Minute, remove: 10 * time.Minute, complete: completeGateway, etag: true,
	},
	"microsoft.containerservice/managedclusters": {
		location: regional, create: 5 * time.Minute, update: 3 * time.Minute, remove: 4 * time.Minute, complete: completeCluster,
	},
	"microsoft.containerservice/managedclusters/agentpools": {
		// One operation at a time for each cluster: facts/aks.md S1 (A016).
		create: 3 * time.Minute, update: 2 * time.Minute, remove: 2 * time.Minute, lock: ParentOf,
	},
}

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

func completeAccount(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	host := value{props["customSubDomainName"]}.text()
	if host == "" {
		host = root(r.Body).get("location").text()
	}
	props["endpoint"] = "https://" + strings.ToLower(host) + ".openai.azure.com/"
}

func completeGateway(_ State, r, _ *Resource) {
	props, name := object(r.Body, "properties"), strings.ToLower(Name(r.ID))
	props["gatewayUrl"], props["managementApiUrl"] = "https://"+name+".azure-api.net", "https://"+name+".management.azure-api.net"
	props["publicIPAddresses"] = []any{publicIP(r)}
	setDefault(props, "publicNetworkAccess", "Enabled")
}

func completeCluster(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	region := root(r.Body).get("location").text()
	prefix := value{props["dnsPrefix"]}.text() + "-" + GUID(r, "dns")[:8]
	if (value{props["apiServerAccessProfile"]}).get("enablePrivateCluster").flag() {
		props["privateFQDN"] = prefix + "." + GUID(r, "zone") + ".privatelink." + region + ".azmk8s.io"
	}
	props["fqdn"] = prefix + ".hcp." + region + ".azmk8s.io"
	props["currentKubernetesVersion"], props["resourceUID"] = props["kubernetesVersion"], strings.ReplaceAll(GUID(r, "uid"), "-", "")[:24]
	group := Name(GroupOf(r.ID))
	setDefault(props, "nodeResourceGroup", "MC_"+group+"_"+Name(r.ID)+"_"+region)
	if oidc, ok := props["oidcIssuerProfile"].(map[string]any); ok && oidc["enabled"] == true {
		oidc["issuerURL"] = "https://" + region + ".oic.prod-aks.azure.com/" + tenant + "/" + GUID(r, "issuer") + "/"
	}
	kubelet := SubscriptionOf(r.ID)
	setDefault(props, "identityProfile", map[string]any{"kubeletidentity": map[string]any{
		"resourceId": "/subscriptions/" + kubelet + "/resourceGroups/" + value{props["nodeResourceGroup"]}.text() + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + Name(r.ID) + "-agentpool",
		"clientId":   GUID(r, "kubelet-client"), "objectId": GUID(r, "kubelet-object"),
	}})
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

package core

import (
	"fmt"
	"slices"
	"strings"
)

// clusterReferences: what a cluster names is there (A421).
func clusterReferences(s State, r, _ *Resource) *Error {
	if assigned, ok := root(r.Body).get("identity.userAssignedIdentities").v.(map[string]any); ok {
		for _, id := range sortedKeys(assigned) {
			if _, err := s.refer(r, "identity.userAssignedIdentities", value{id}, identityType); err != nil {
				return err
			}
		}
	}
	for _, named := range []struct{ path, want string }{
		{"identityProfile.kubeletidentity.resourceId", identityType},
		{"apiServerAccessProfile.privateDNSZone", zoneType},
		{"securityProfile.defender.logAnalyticsWorkspaceResourceId", workspaceType},
	} {
		v := r.props(named.path)
		if !strings.HasPrefix(v.text(), "/") { // system and none are no zones
			continue
		}
		if _, err := s.refer(r, named.path, v, named.want); err != nil {
			return err
		}
	}
	for _, profile := range r.props("agentPoolProfiles").list() {
		if err := s.poolSubnets(r, r, profile); err != nil {
			return err
		}
	}
	return nil
}

func poolReferences(s State, r, _ *Resource) *Error {
	cluster, _ := s.Find(ParentOf(r.ID))
	return s.poolSubnets(cluster, r, root(r.Body).get("properties"))
}

// poolSubnets: the subnets of a pool exist in the region of its cluster (A421).
func (s State) poolSubnets(cluster, r *Resource, pool value) *Error {
	for _, path := range []string{"vnetSubnetID", "podSubnetID"} {
		subnet, err := s.refer(r, path, pool.get(path), subnetType)
		if err != nil {
			return err
		}
		if subnet == nil || cluster == nil {
			continue
		}
		if err := near(r, s.network(subnet.ID), path, root(cluster.Body).get("location")); err != nil {
			return err
		}
	}
	return nil
}

// The actions that the identity of a cluster needs before it is made.
const (
	joinSubnet     = "Microsoft.Network/virtualNetworks/subnets/join/action"
	assignIdentity = "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action"
	writeZone      = "Microsoft.Network/privateDnsZones/write"
)

// builtInActions are what built-in roles allow, as far as clusters need it.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var builtInActions = map[string]string{
	"Owner":                        "*",
	"Contributor":                  "*",
	"Network Contributor":          "Microsoft.Network/*",
	"Private DNS Zone Contributor": "Microsoft.Network/privateDnsZones/*",
	"Managed Identity Operator":    "Microsoft.ManagedIdentity/userAssignedIdentities/*",
}

// allows says whether a role allows an action; one that is not known yet may.
func (s State) allows(role value, action string) bool {
	if role.unknown() {
		return true
	}
	guid := strings.ToLower(Name(role.text()))
	if name, ok := builtInRoles[guid]; ok {
		return matches(builtInActions[name], action)
	}
	custom := s.definition(guid)
	if custom == nil {
		return false
	}
	for _, permission := range custom.props("permissions").list() {
		match := func(pattern string) bool { return matches(pattern, action) }
		if slices.ContainsFunc(permission.get("actions").texts(), match) && !slices.ContainsFunc(permission.get("notActions").texts(), match) {
			return true
		}
	}
	return false
}

// matches compares an action with a pattern in which * stands for anything.
func matches(pattern, action string) bool {
	parts := strings.Split(strings.ToLower(pattern), "*")
	rest, ok := strings.CutPrefix(strings.ToLower(action), parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// may says whether a principal has an action at a scope by a role that has
// arrived. A principal that is not known yet may be the one.
func (s State) may(principal, action, scope string) bool {
	for _, r := range s.Resources {
		who := r.props("principalId")
		if isType(r.Type, assignmentType) && (r.Provisioning == Succeeded || r.Provisioning == Updating) && atOrBelow(scope, scopeOf(r.ID)) &&
			(who.unknown() || strings.EqualFold(who.text(), principal)) && s.allows(r.props("roleDefinitionId"), action) {
			return true
		}
	}
	return false
}

// permit refuses r unless the user-assigned identity of cluster has an action at
// the resource with an id. It speaks only where both are of this state: what
// others have granted is not known.
func (s State) permit(code Code, r, cluster *Resource, action, path, id, role string) *Error {
	target, ok := s.Find(id)
	assigned, _ := root(cluster.Body).get("identity.userAssignedIdentities").v.(map[string]any)
	if !ok || len(assigned) != 1 {
		return nil
	}
	identity, ok := s.Find(sortedKeys(assigned)[0])
	if !ok || s.may(identity.props("principalId").text(), action, target.ID) {
		return nil
	}
	return refuse(code, path, path+" of "+r.ID, fmt.Sprintf("%s, where %s lacks %s", target.ID, identity.ID, action),
		"an identity that has it before the write, because AKS uses it at once", fmt.Sprintf("grant %q there, and let the cluster depend on the grant", role))
}

// clusterRoles: before a cluster is made, its identity may join the subnets of the
// nodes (A423), hand out the identity of the nodes (A424), and write to a private
// DNS zone of the caller's (A425).
func clusterRoles(s State, r, old *Resource) *Error {
	if old != nil {
		return nil
	}
	kubelet := "identityProfile.kubeletidentity.resourceId"
	if err := s.permit(KubeletIdentityMissingPermission, r, r, assignIdentity, kubelet, r.props(kubelet).text(), "Managed Identity Operator"); err != nil {
		return err
	}
	zone := "apiServerAccessProfile.privateDNSZone"
	if err := s.permit(PrivateDNSZoneMissingPermission, r, r, writeZone, zone, r.props(zone).text(), "Private DNS Zone Contributor"); err != nil {
		return err
	}
	for _, profile := range r.props("agentPoolProfiles").list() {
		if err := s.joins(r, r, profile); err != nil {
			return err
		}
	}
	return nil
}

// poolRoles: the same for the subnets of a new pool (A423).
func poolRoles(s State, r, old *Resource) *Error {
	cluster, ok := s.Find(ParentOf(r.ID))
	if !ok || old != nil {
		return nil
	}
	return s.joins(r, cluster, root(r.Body).get("properties"))
}

func (s State) joins(r, cluster *Resource, pool value) *Error {
	for _, path := range []string{"vnetSubnetID", "podSubnetID"} {
		if err := s.permit(LinkedAuthorizationFailed, r, cluster, joinSubnet, path, pool.get(path).text(), "Network Contributor"); err != nil {
			return err
		}
	}
	return nil
}

package core

import (
	"fmt"
	"strconv"
	"strings"
)

// productFields: approval and a limit of subscriptions belong to a product that
// wants subscriptions (A540); names are unique (A541).
func productFields(s State, r, _ *Resource) *Error {
	if required := r.props("subscriptionRequired"); required.known() && !required.flag() {
		for _, field := range []string{"approvalRequired", "subscriptionsLimit"} {
			if r.props(field).known() {
				return invalidField(field, field+" of product "+r.ID, fmt.Sprint(r.props(field).v), "nothing in a product without subscriptions", "drop it, or set subscriptionRequired to true")
			}
		}
	}
	return s.uniqueField(r, "displayName")
}

// productInUse: a product with subscriptions stays, unless the service goes
// (A543); the request that deletes both is not modelled.
func productInUse(s State, r, with *Resource) *Error {
	var users []*Resource
	for _, key := range s.under(topLevel(r.ID)) {
		if isType(key.Type, keyType) && key.Provisioning != Deleting && strings.EqualFold(key.props("scope").text(), r.ID) {
			users = append(users, key)
		}
	}
	return inUseBy(ValidationError, r, with, users, "delete those subscriptions first")
}

// productBorn: with a product that wants subscriptions comes one for the
// administrators, under a name that Azure draws (A544).
func productBorn(s *State, r, old *Resource) {
	if old != nil || !r.props("subscriptionRequired").flag() {
		return
	}
	s.born(topLevel(r.ID)+"/subscriptions/"+secretKey(r, "administrators")[:24], "Microsoft.ApiManagement/service/subscriptions", map[string]any{
		"displayName": "administrators", "scope": r.ID, "state": "active", "ownerId": topLevel(r.ID) + "/users/1",
	})
}

func completeProduct(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "state", "notPublished")
	setDefault(props, "subscriptionRequired", true)
	if props["subscriptionRequired"] == true {
		setDefault(props, "approvalRequired", false)
	}
}

// linkedAPI returns the id of the API that is in a product by this resource, ""
// if it is not known.
func linkedAPI(link *Resource) string {
	if isType(link.Type, productAPIType) {
		return topLevel(link.ID) + "/apis/" + Name(link.ID)
	}
	return link.props("apiId").text()
}

// productLink: a product holds an API of its service, once, by its name or by a
// link (A542).
func productLink(s State, r, _ *Resource) *Error {
	if isType(r.Type, productLinkType) && r.props("apiId").unknown() {
		return nil
	}
	id := linkedAPI(r)
	gateway, ours := s.Find(topLevel(r.ID))
	if strings.Contains(id, revisionMark) || !isType(TypeOf(id), apiType) || Key(topLevel(id)) != Key(topLevel(r.ID)) {
		return invalidField("apiId", "API of "+r.ID, strconv.Quote(id), "the id of an API of "+topLevel(r.ID)+", without a revision", "pass the API's id")
	}
	if api, ok := s.Find(id); ours && (!ok || api.Provisioning == Deleting) {
		return invalidField("apiId", "API of "+r.ID, strconv.Quote(id)+", which does not exist", "an API of "+gateway.ID, "make the API first and depend on it")
	}
	for _, other := range s.under(ParentOf(r.ID)) {
		if (isType(other.Type, productLinkType) || isType(other.Type, productAPIType)) && Key(other.ID) != Key(r.ID) && other.Provisioning != Deleting && Key(linkedAPI(other)) == Key(id) {
			return invalidField("apiId", "API of "+r.ID, strconv.Quote(id)+", which "+other.ID+" holds", "an API that the product does not hold yet", "drop one of the two")
		}
	}
	return nil
}

// dropLinks takes an API that goes out of its products (A542).
func dropLinks(s *State, r *Resource) {
	for _, link := range s.under(topLevel(r.ID)) {
		if (isType(link.Type, productLinkType) || isType(link.Type, productAPIType)) && Key(linkedAPI(link)) == Key(r.ID) {
			delete(s.Resources, Key(link.ID))
		}
	}
}

// scopePath returns a subscription's scope below its service: "/products/p",
// "/apis/a", "/apis", or "/" for everything. ok is false if it is none.
func scopePath(r *Resource, scope string) (path string, ok bool) {
	path = Clean(scope)
	if rest, found := strings.CutPrefix(strings.ToLower(path), Key(topLevel(r.ID))); found {
		path = Clean(path[len(path)-len(rest):])
	}
	parts := strings.Split(path[1:], "/")
	kind := strings.ToLower(parts[0])
	return path, path == "/" || kind == "apis" && len(parts) <= 2 || kind == "products" && len(parts) == 2
}

// keyScope: a subscription opens a product or an API that exists, or all APIs; a
// product that wants no subscription has none (A545).
func keyScope(s State, r, _ *Resource) *Error {
	v := r.props("scope")
	if !v.known() {
		return nil
	}
	path, ok := scopePath(r, v.text())
	if !ok {
		return invalidField("scope", "scope of subscription "+r.ID, strconv.Quote(v.text()), "/products/{product}, /apis/{api} or /apis", "correct it")
	}
	gateway, ours := s.Find(topLevel(r.ID))
	if path == "/" || strings.EqualFold(path, "/apis") || !ours {
		return nil
	}
	target, ok := s.Find(gateway.ID + path)
	if !ok || target.Provisioning == Deleting {
		return invalidField("scope", "scope of subscription "+r.ID, strconv.Quote(v.text())+", which does not exist", "a product or an API of "+gateway.ID, "make it first and depend on it")
	}
	if required := target.props("subscriptionRequired"); isType(target.Type, productType) && required.known() && !required.flag() {
		return invalidField("scope", "scope of subscription "+r.ID, target.ID+", which wants no subscription", "a product with subscriptionRequired true", "set that, or drop the subscription")
	}
	return nil
}

var keyNames = []string{"primaryKey", "secondaryKey"}

// keyUnique: a key opens one subscription, or nobody knew whose call it is (A547).
func keyUnique(s State, r, _ *Resource) *Error {
	for _, other := range s.siblings(r) {
		for _, name := range keyNames {
			for _, taken := range keyNames {
				if mine := r.props(name).text(); mine != "" && mine == other.props(taken).text() {
					return invalidField(name, name+" of subscription "+r.ID, "the "+taken+" of "+other.ID, "a key that no other subscription has", "leave it to Azure, or draw another one")
				}
			}
		}
	}
	return nil
}

// completeKey answers the scope by its full id and the state submitted, in which
// the keys do not work (A546); Azure makes the keys that nobody gave.
func completeKey(_ State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	keep(r, old, keyNames...)
	for _, name := range keyNames {
		setDefault(props, name, secretKey(r, name))
	}
	setDefault(props, "state", "submitted")
	setDefault(props, "allowTracing", false)
	props["createdDate"] = made
	if scope, ok := props["scope"].(string); ok {
		if path, ok := scopePath(r, scope); ok {
			props["scope"] = topLevel(r.ID) + path
		}
	}
}

// viewKey hides the keys, which listSecrets alone answers (A546).
func viewKey(_ State, _ *Resource, body map[string]any) {
	if props := object(body, "properties"); props != nil {
		for _, name := range keyNames {
			delete(props, name)
		}
	}
}

// listKeySecrets answers the keys of a subscription (A568).
func listKeySecrets(_ State, r *Resource) (map[string]any, *Error) {
	return map[string]any{"primaryKey": r.props("primaryKey").v, "secondaryKey": r.props("secondaryKey").v}, nil
}

const systemGroup = "system"

func isSystemGroup(group *Resource) bool { return group.props("type").text() == systemGroup }

// userGroup: the groups that each service has do not change, others are not of
// their kind, and one from elsewhere names its place (A566).
func userGroup(s State, r, old *Resource) *Error {
	was := old != nil && isSystemGroup(old)
	if isSystemGroup(r) != was || was && old.props("displayName").text() != r.props("displayName").text() {
		return invalidField("type", "group "+r.ID, "a change of a group of the system", "a group of type custom or external", "make a group of your own")
	}
	if id := r.props("externalId"); r.props("type").text() == "external" && !id.unknown() && !strings.HasPrefix(id.text(), "aad://") {
		return invalidField("externalId", "externalId of group "+r.ID, strconv.Quote(id.text()), "aad://{tenant}/groups/{object id}", "set it")
	}
	return s.uniqueField(r, "displayName")
}

// userGroupInUse keeps the groups that each service has (A566).
func userGroupInUse(_ State, r, with *Resource) *Error {
	if Key(r.ID) != Key(with.ID) || !isSystemGroup(r) {
		return nil
	}
	return refuse(MethodNotAllowed, r.ID, "deletion of group "+r.ID, "one of the system's", "one of your own", "leave it")
}

func completeUserGroup(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "type", "custom")
	props["builtIn"] = props["type"] == systemGroup
}

package core

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
)

const credentialType = "microsoft.managedidentity/userassignedidentities/federatedidentitycredentials"

// An identity answers the ids of its principal and application and the tenant's;
// one made again under its name has others, and credentials go with it (A300).

// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftmanagedidentity
var identityNamePattern = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{2,127}$`)

// identityName: 3 to 128 letters, digits, - and _, beginning with a letter or a
// digit (A310).
func identityName(_ State, r, _ *Resource) *Error {
	if name := Name(r.ID); !identityNamePattern.MatchString(name) {
		return refuse(InvalidResourceName, "name", "name of identity "+r.ID, strconv.Quote(name), "3 to 128 letters, digits, - and _, beginning with a letter or a digit", "rename it")
	}
	return nil
}

// Limits of federated credentials (A311, A312).
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const (
	maxCredentials     = 20  // for each identity
	maxCredentialField = 600 // characters of issuer, subject and audience
)

// credentialFields: an issuer that is an https address, a subject, and one
// audience, each of at most 600 characters (A312).
func credentialFields(_ State, r, _ *Resource) *Error {
	bad := func(field, got, want string) *Error {
		return refuse(BadRequest, field, field+" of credential "+r.ID, got, want, "correct it")
	}
	audiences := r.props("audiences")
	if list := audiences.list(); !audiences.unknown() && len(list) != 1 {
		return bad("audiences", fmt.Sprintf("%d audiences", len(list)), "exactly one, such as api://AzureADTokenExchange")
	}
	for _, field := range []struct {
		name string
		v    value
	}{{"issuer", r.props("issuer")}, {"subject", r.props("subject")}, {"audiences", first(audiences)}} {
		if text := field.v.text(); field.v.known() && (text == "" || len([]rune(text)) > maxCredentialField) {
			return bad(field.name, fmt.Sprintf("%d characters", len([]rune(text))), "1 to 600 characters")
		}
	}
	if issuer := r.props("issuer"); issuer.known() {
		if u, err := url.Parse(issuer.text()); err != nil || u.Scheme != "https" || u.Host == "" {
			return bad("issuer", strconv.Quote(issuer.text()), "an https address, which tokens carry byte for byte")
		}
	}
	return nil
}

// first returns the first element of a list; an unknown list has an unknown one.
func first(v value) value {
	if v.unknown() {
		return v
	}
	if list := v.list(); len(list) > 0 {
		return list[0]
	}
	return value{}
}

// credentialUnique: at most 20 for each identity, each issuer with each subject
// once (A311). Two writes at once are refused too, see busy in behaviours (A315).
func credentialUnique(s State, r, _ *Resource) *Error {
	n := 1
	for _, other := range s.under(ParentOf(r.ID)) {
		if !isType(other.Type, credentialType) || Key(other.ID) == Key(r.ID) || other.Provisioning == Deleting {
			continue
		}
		n++
		issuer, subject := r.props("issuer"), r.props("subject")
		if issuer.known() && subject.known() && issuer.text() == other.props("issuer").text() && subject.text() == other.props("subject").text() {
			return refuse(Conflict, "subject", "credential "+r.ID, "issuer and subject of "+other.ID, "each pair once for an identity", "drop one of the two")
		}
	}
	if n > maxCredentials {
		return refuse(BadRequest, "", "credential "+r.ID, fmt.Sprintf("number %d of its identity", n), "at most 20, Entra's limit", "spread them over several identities, or drop some")
	}
	return nil
}

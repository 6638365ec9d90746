package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const revisionMark = ";rev="

// apiOf cuts an id off behind the API in it, whatever its revision: what writes
// to one API lock (A523).
func apiOf(id string) string {
	parts := strings.Split(Clean(id)[len(topLevel(id)):], "/")
	name, _, _ := strings.Cut(parts[min(2, len(parts)-1)], revisionMark)
	return topLevel(id) + "/apis/" + name
}

// revisionOf returns the revision in an API's name, "" for the current one.
func revisionOf(id string) string {
	_, revision, _ := strings.Cut(Name(id), revisionMark)
	return revision
}

// apisOf are the other APIs of r's service, without r's own revisions.
func (s State) apisOf(r *Resource) []*Resource {
	return slices.DeleteFunc(s.siblings(r), func(other *Resource) bool { return Key(apiOf(other.ID)) == Key(apiOf(r.ID)) })
}

// sameSet says whether two APIs are versions of one.
func sameSet(a, b *Resource) bool {
	set := a.props("apiVersionSetId").text()
	return set != "" && strings.EqualFold(set, b.props("apiVersionSetId").text())
}

// probePaths are paths at which the gateway itself answers probes, so that an
// API there would not be reached (A525).
var probePaths = []string{"status-0123456789abcdef", "internal-status-0123456789abcdef"}

// apiPath: a path has no slash at its ends, is not the gateway's own (A525), and
// belongs to one API of the service; versions of one API share it (A520).
func apiPath(s State, r, _ *Resource) *Error {
	v := r.props("path")
	if v.unknown() {
		return nil
	}
	path := v.text()
	if strings.Trim(path, "/") != path {
		return invalidField("path", "path of API "+r.ID, strconv.Quote(path), "one without a slash at its ends", "drop it")
	}
	if first, _, _ := strings.Cut(path, "/"); slices.Contains(probePaths, strings.ToLower(first)) {
		return invalidField("path", "path of API "+r.ID, strconv.Quote(path), "one at which the gateway does not answer by itself", "choose another path")
	}
	for _, other := range s.apisOf(r) {
		if strings.EqualFold(other.props("path").text(), path) && !other.props("path").unknown() && !sameSet(r, other) {
			return invalidField("path", fmt.Sprintf("Cannot create API '%s' with the same Path '%s' as API '%s' unless it's a part of the same version set", Name(r.ID), path, Name(other.ID)), strconv.Quote(path), "a path of its own", "choose another path")
		}
	}
	return nil
}

// apiNamed: an API that is not imported has a name, and no two APIs have the
// same (A521).
func apiNamed(s State, r, _ *Resource) *Error {
	name := r.props("displayName")
	if name.absent() && r.props("value").absent() && r.props("sourceApiId").absent() {
		return invalidField("displayName", "name of API "+r.ID, "nothing", "a displayName, unless the API is imported or copied", "set it")
	}
	for _, other := range s.apisOf(r) {
		if name.text() != "" && strings.EqualFold(other.props("displayName").text(), name.text()) && !sameSet(r, other) {
			return invalidField("name", "API with specified name already exists: "+r.ID, strconv.Quote(name.text())+", which "+other.ID+" has", "a displayName of its own", "choose another one")
		}
	}
	return nil
}

// apiRevision: a revision has an API that it is one of, the number in its name,
// and that API's path; a number never changes (A522).
func apiRevision(s State, r, old *Resource) *Error {
	revision, inName := r.props("apiRevision"), revisionOf(r.ID)
	if old != nil {
		if was := old.props("apiRevision").text(); was != "" && revision.known() && revision.text() != was {
			return invalidField("apiRevision", "revision of API "+r.ID, strconv.Quote(revision.text()), strconv.Quote(was)+", which it was made with", "make another revision under the name "+Name(apiOf(r.ID))+revisionMark+revision.text())
		}
	}
	if inName == "" {
		return nil
	}
	if revision.known() && revision.text() != inName {
		return invalidField("apiRevision", "revision of API "+r.ID, strconv.Quote(revision.text()), strconv.Quote(inName)+", as its name says", "make the two equal")
	}
	current, ok := s.Find(apiOf(r.ID))
	if !ok {
		return invalidField("name", "revision "+r.ID, "one of an API that does not exist", "a revision of "+apiOf(r.ID), "make the API first")
	}
	if path := r.props("path"); path.known() && current.props("path").known() && path.text() != current.props("path").text() {
		return invalidField("path", "path of API "+r.ID, strconv.Quote(path.text()), strconv.Quote(current.props("path").text())+", the path of the API that it is a revision of", "make the two equal")
	}
	return nil
}

// completeAPI answers defaults (A524). What an API is imported from is not
// answered; the operations that an import makes are not made here.
func completeAPI(_ State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	for _, field := range []string{"format", "value", "wsdlSelector", "translateRequiredQueryParameters"} {
		delete(props, field)
	}
	setDefault(props, "type", props["apiType"])
	setDefault(props, "type", "http")
	delete(props, "apiType")
	keep(r, old, "apiRevision", "displayName")
	setDefault(props, "apiRevision", "1")
	if inName := revisionOf(r.ID); inName != "" {
		props["apiRevision"] = inName
	}
	setDefault(props, "isCurrent", revisionOf(r.ID) == "")
	props["isOnline"] = true
	setDefault(props, "protocols", []any{"https"})
	setDefault(props, "subscriptionRequired", true)
	names := object(props, "subscriptionKeyParameterNames")
	setDefault(names, "header", "Ocp-Apim-Subscription-Key")
	setDefault(names, "query", "subscription-key")
}

var templateParameter = regexp.MustCompile(`\{\*?([^{}]*)\}`)

// operationRoute: one operation for each method and URL template of an API;
// what the parameters are called makes no difference (A530).
func operationRoute(s State, r, _ *Resource) *Error {
	route := func(operation *Resource) string {
		method, template := operation.props("method"), operation.props("urlTemplate")
		if !method.known() || !template.known() {
			return ""
		}
		return strings.ToUpper(method.text()) + " /" + strings.ToLower(strings.Trim(templateParameter.ReplaceAllString(template.text(), "{}"), "/"))
	}
	mine := route(r)
	if mine == "" {
		return nil
	}
	for _, other := range s.siblings(r) {
		if route(other) == mine {
			return invalidField("urlTemplate", "operation "+r.ID, r.props("method").text()+" "+r.props("urlTemplate").text()+", which "+other.ID+" has", "a method and URL template that no other operation of the API has", "drop one of the two")
		}
	}
	return nil
}

// operationParameters: a template's parameters are those that the operation
// lists (A531).
func operationParameters(_ State, r, _ *Resource) *Error {
	template, listed := r.props("urlTemplate"), r.props("templateParameters")
	if !template.known() || listed.hasUnknown() {
		return nil
	}
	var used, named []string
	for _, match := range templateParameter.FindAllStringSubmatch(template.text(), -1) {
		used = append(used, match[1])
	}
	for _, parameter := range listed.list() {
		named = append(named, parameter.get("name").text())
	}
	slices.Sort(used)
	slices.Sort(named)
	if slices.Equal(used, named) {
		return nil
	}
	return invalidField("templateParameters", "All template parameters used in the UriTemplate must be defined in the Operation, and vice-versa: "+r.ID, fmt.Sprintf("%q", named), fmt.Sprintf("%q, those of %s", used, template.text()), "list each parameter of the template once")
}

func completeOperation(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "templateParameters", []any{})
	setDefault(props, "responses", []any{})
	delete(props, "policies") // those of an operation are resources of their own
}

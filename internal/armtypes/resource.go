package armtypes

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Resource is one resource type at one API version.
type Resource struct {
	Token      string // Pulumi type token: "azure-native:network/v20240501:Subnet"
	ARMType    string // "Microsoft.Network/virtualNetworks/subnets"; "{recordType}" stands for any of several
	APIVersion string // "2024-05-01"
	IDTemplate string // ARM id with the Pulumi inputs that fill it in braces
	Source     string // path of the definition in Microsoft's repository of types

	body     *object
	segments []string        // of IDTemplate
	path     map[string]bool // inputs that fill the id
	query    map[string]bool // inputs that are parameters of the request
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

const subscriptionSegment = "subscriptionId" // of an id template; the caller knows it, it is no input

func newResource(token string, d resourceData, body *object, query []string) *Resource {
	r := &Resource{
		Token: token, ARMType: d.ARMType, APIVersion: d.APIVersion, IDTemplate: d.ID, Source: d.Source,
		body: body, segments: splitPath(d.ID), path: map[string]bool{}, query: map[string]bool{},
	}
	for _, m := range placeholder.FindAllStringSubmatch(d.ID, -1) {
		if m[1] != subscriptionSegment {
			r.path[m[1]] = true
		}
	}
	for _, name := range query {
		r.query[name] = true
	}
	return r
}

// armTypes returns ARMType, or the types that it stands for.
func (r *Resource) armTypes() []string {
	if p := r.body.props["type"]; p != nil && strings.Contains(r.ARMType, "{") {
		return p.typ.values
	}
	return []string{r.ARMType}
}

// PathInputs returns the sorted names of the inputs that fill the id.
func (r *Resource) PathInputs() []string { return slices.Sorted(maps.Keys(r.path)) }

// NameInput returns the input that holds the resource's own name, "" if the
// name is fixed, as that of a storage account's blob service in some types is.
// It is the input for which azure-native makes up a name if there is none.
func (r *Resource) NameInput() string {
	name, _ := input(r.segments[len(r.segments)-1])
	return name
}

// HasInput reports whether the resource has a top-level input of this name:
// "location" and "tags" are what one asks for.
func (r *Resource) HasInput(name string) bool {
	r.body.prepare()
	f, ok := r.body.fields[name]
	return r.path[name] || r.query[name] || ok && f.access == sent
}

// input returns the name of the input that a segment of a template stands for.
func input(segment string) (string, bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

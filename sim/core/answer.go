package core

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// namespace makes the ids that Azure would draw at random: UUIDv5 of the ARM
// id, so that two runs of one program agree (A012).
var namespace = uuid.MustParse("6f6e6564-6f6f-7273-8000-73696d756c61")

// GUID returns the service-made id of a resource for one purpose. A resource
// made again under its old id gets another one, as in Azure.
func GUID(r *Resource, purpose string) string {
	seed := purpose + "|" + Key(r.ID)
	if r.Born > 1 {
		seed += fmt.Sprintf("|%d", r.Born)
	}
	return uuid.NewSHA1(namespace, []byte(seed)).String()
}

// publicIP returns an address of 198.51.100.0/24 or 203.0.113.0/24, the
// documentation ranges of RFC 5737, chosen by the id.
func publicIP(r *Resource) string {
	sum := sha256.Sum256([]byte(GUID(r, "ip")))
	n := binary.BigEndian.Uint16(sum[:])
	if n&1 == 0 {
		return fmt.Sprintf("198.51.100.%d", 1+int(n>>1)%254)
	}
	return fmt.Sprintf("203.0.113.%d", 1+int(n>>1)%254)
}

// etag depends on id and generation alone: the same writes give the same etag.
func etag(r *Resource) string {
	return fmt.Sprintf(`W/"%s"`, uuid.NewSHA1(namespace, fmt.Appendf(nil, "etag|%s|%d|%d", Key(r.ID), r.Born, r.Generation)))
}

// EtagHeader returns what the ETag header of an answer about id says: nothing for
// most types that show no etag, but API Management shows its own nowhere else
// (A083).
func (s State) EtagHeader(id string) string {
	r, ok := s.Find(id)
	if !ok || !behaviourOf(r.Type).etag && !isType(TypeOf(topLevel(r.ID)), gatewayType) {
		return ""
	}
	return r.Etag
}

// Show returns r as GET answers it: the stored body, what the service adds, and
// views over other resources, such as the subnets of a network.
func (s State) Show(r *Resource) map[string]any {
	body := copyBody(r.Body)
	b := behaviourOf(r.Type)
	if b.view != nil {
		b.view(s, r, body)
	}
	body["id"], body["name"], body["type"] = r.ID, Name(r.ID), r.Type
	if !b.plain {
		if props := object(body, "properties"); props != nil {
			props["provisioningState"] = r.Provisioning
		}
	}
	if b.etag {
		body["etag"] = r.Etag
	}
	return body
}

// canonical returns id with the letter case of the longest stored ancestor.
func (s State) canonical(id string) string {
	for parent := ParentOf(id); parent != ""; parent = ParentOf(parent) {
		for _, pool := range []map[string]*Resource{s.Resources, s.External} {
			if p, ok := pool[Key(parent)]; ok {
				return p.ID + id[len(parent):]
			}
		}
	}
	return id
}

// normalise brings a body into the form that Azure answers with: the canonical
// location (A009), references in the letter case of their target (A010).
func (s State) normalise(r *Resource) {
	if loc := root(r.Body).get("location"); loc.text() != "" {
		r.Body["location"] = Region(loc.text())
	}
	s.canonicalRefs(r.Body)
}

func (s State) canonicalRefs(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if id, ok := item.(string); ok && key == "id" {
				if target, ok := s.Find(id); ok {
					v[key] = target.ID
				}
				continue
			}
			s.canonicalRefs(item)
		}
	case []any:
		for _, item := range v {
			s.canonicalRefs(item)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// sortByName sorts an array of named objects, as Azure does with sub-resources
// that it keeps by name (A041).
func sortByName(v any) {
	items, ok := v.([]any)
	if !ok {
		return
	}
	slices.SortStableFunc(items, func(a, b any) int {
		return strings.Compare(strings.ToLower(value{a}.get("name").text()), strings.ToLower(value{b}.get("name").text()))
	})
}

// sortTexts sorts an array of strings; anything else stays as it is.
func sortTexts(v any) {
	items, ok := v.([]any)
	if !ok {
		return
	}
	for _, item := range items {
		if _, ok := item.(string); !ok {
			return
		}
	}
	slices.SortFunc(items, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
}

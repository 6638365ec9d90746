package core

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const pool = "Pool"

func isPool(backend *Resource) bool { return strings.EqualFold(backend.props("type").text(), pool) }

// backendSingle: a back end that is no pool has a protocol of two, and an
// address (A550).
func backendSingle(_ State, r, _ *Resource) *Error {
	if isPool(r) || r.props("type").unknown() {
		return nil
	}
	protocol, address := r.props("protocol"), r.props("url")
	if !protocol.unknown() && protocol.text() != "http" && protocol.text() != "soap" {
		return invalidField("protocol", "Protocol is not supported: back end "+r.ID, spelt(protocol), "http, also for https addresses, or soap", "set protocol to http")
	}
	if address.unknown() || r.props("properties.serviceFabricCluster").known() {
		return nil
	}
	if at, err := url.Parse(address.text()); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return invalidField("url", "address of back end "+r.ID, spelt(address), "an http or https address", "set url")
	}
	if r.props("pool").known() {
		return invalidField("pool", "back end "+r.ID, "a pool in a single one", "type Pool with a pool", "set type to Pool, or drop the pool")
	}
	return nil
}

// Of a pool (A551).
// https://learn.microsoft.com/azure/api-management/backends
const maxPoolMembers = 30

// notInPools are the settings that the members of a pool have, and a pool has not.
var notInPools = []string{"circuitBreaker", "credentials", "protocol", "proxy", "resourceId", "tls", "url"}

// backendPool: a pool has members alone: 1 to 30 back ends of the service that
// exist, each once, and no pools (A551).
func backendPool(s State, r, _ *Resource) *Error {
	if !isPool(r) {
		return nil
	}
	for _, field := range notInPools {
		if !r.props(field).absent() {
			return invalidField(field, field+" of pool "+r.ID, "a setting that its members have", "nothing in a pool", "drop it")
		}
	}
	members := r.props("pool.services")
	if members.hasUnknown() {
		return nil
	}
	if n := len(members.list()); n < 1 || n > maxPoolMembers {
		return invalidField("pool.services", "members of pool "+r.ID, strconv.Itoa(n), "1 to 30", "list some, or make two pools")
	}
	_, ours := s.Find(topLevel(r.ID))
	seen := map[string]bool{}
	for i, item := range members.list() {
		path, id := fmt.Sprintf("pool.services[%d].id", i), poolMember(r, item)
		member, ok := s.Find(id)
		switch {
		case !isType(TypeOf(id), backendType) || Key(topLevel(id)) != Key(topLevel(r.ID)), ours && !ok:
			return invalidField(path, "member of pool "+r.ID, spelt(item.get("id")), "the id of a back end of the service", "make it first and depend on it")
		case ok && isPool(member):
			return invalidField(path, "member of pool "+r.ID, member.ID+", a pool", "a single back end", "list its members")
		case seen[Key(id)]:
			return invalidField(path, "members of pool "+r.ID, id+" twice", "each once", "give it more weight instead")
		}
		seen[Key(id)] = true
	}
	return nil
}

// poolMember returns the full id of a member, which may be given below the service.
func poolMember(r *Resource, item value) string {
	id := item.get("id").text()
	if strings.HasPrefix(strings.ToLower(id), "/backends/") {
		id = topLevel(r.ID) + id
	}
	return Clean(id)
}

// backendBreaker: one rule, which counts or takes a percentage, of status codes
// or reasons, and says how long it looks and how long it stays open; Consumption
// has none (A552).
func backendBreaker(s State, r, _ *Resource) *Error {
	breaker := r.props("circuitBreaker")
	if breaker.absent() || breaker.hasUnknown() {
		return nil
	}
	bad := func(field, got, want string) *Error {
		return invalidField("circuitBreaker."+field, "circuitBreaker."+field+" of back end "+r.ID, got, want, "correct it")
	}
	if gateway := s.holder(r.ID); gateway != nil && gatewaySku(gateway) == consumption {
		return bad("rules", "one in tier Consumption", "none there")
	}
	rules := breaker.get("rules").list()
	if len(rules) != 1 {
		return bad("rules", fmt.Sprintf("%d rules", len(rules)), "exactly one, although the schema has room for 15")
	}
	rule := rules[0]
	failure := rule.get("failureCondition")
	if rule.get("name").text() == "" {
		return bad("rules[0].name", "no name", "one")
	}
	if failure.get("count").absent() == failure.get("percentage").absent() {
		return bad("rules[0].failureCondition", "both or neither of count and percentage", "one of them")
	}
	for _, field := range []string{"failureCondition.interval", "tripDuration"} {
		if seconds, ok := span(rule.get(field).text()); !ok || seconds <= 0 {
			return bad("rules[0]."+field, spelt(rule.get(field)), "an ISO 8601 duration such as PT1M")
		}
	}
	ranges := failure.get("statusCodeRanges").list()
	if len(ranges)+len(failure.get("errorReasons").list()) == 0 {
		return bad("rules[0].failureCondition", "no statusCodeRanges and no errorReasons", "some, or nothing counts as a failure")
	}
	for i, codes := range ranges {
		least, _ := codes.get("min").number()
		most, _ := codes.get("max").number()
		if least > most {
			return bad(fmt.Sprintf("rules[0].failureCondition.statusCodeRanges[%d]", i), fmt.Sprintf("%v..%v", least, most), "min not above max")
		}
	}
	return nil
}

// backendInUse: a back end that a pool holds or a policy names stays (A553).
func backendInUse(s State, r, with *Resource) *Error {
	users := s.holders(r, `backend-id="`+Name(r.ID)+`"`)
	for _, other := range s.siblings(r) {
		if slices.ContainsFunc(other.props("pool.services").list(), func(item value) bool { return Key(poolMember(other, item)) == Key(r.ID) }) {
			users = append(users, other)
		}
	}
	return inUseBy(ValidationError, r, with, users, "change those first")
}

func completeBackend(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "type", "Single")
}

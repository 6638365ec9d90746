package core

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	busType        = "microsoft.servicebus/namespaces"
	ruleSetType    = "microsoft.servicebus/namespaces/networkrulesets"
	queueType      = "microsoft.servicebus/namespaces/queues"
	queueAuthType  = "microsoft.servicebus/namespaces/queues/authorizationrules"
	topicType      = "microsoft.servicebus/namespaces/topics"
	subscriberType = "microsoft.servicebus/namespaces/topics/subscriptions"
	filterType     = "microsoft.servicebus/namespaces/topics/subscriptions/rules"
)

// busTypes are the rows of Service Bus. A write to an entity is answered when it
// is done; the few seconds are how long that takes. All lives in a namespace, and
// goes with it (A234).
var busTypes = map[string]*behaviour{
	busType: {
		location: regional, create: 2 * time.Minute, update: time.Minute, remove: time.Minute,
		check: []rule{busName, busUnique, busSku}, complete: completeBus, after: busRuleSet, view: viewConnections,
	},
	ruleSetType: {
		check: []rule{ruleSetOpen, ruleSetSources}, complete: completeRuleSet, after: ruleSetAccess, inUse: neverDeleted, plain: true,
	},
	queueType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check:    []rule{entityName, entityTier, entityTimes, entitySize, entityFixed, entityPartitions, entityForwards, entityQuota},
		complete: completeQueue, view: viewEntity, plain: true,
	},
	topicType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check:    []rule{entityName, entityTier, entityTimes, entitySize, entityFixed, entityPartitions, entityQuota},
		complete: completeTopic, view: viewEntity, plain: true,
	},
	subscriberType: {
		create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check:    []rule{entityName, entityTimes, entityFixed, entityForwards},
		complete: completeSubscriber, after: firstFilter, plain: true,
	},
	filterType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{entityName}, complete: completeFilter, after: dropFirstFilter, plain: true,
	},
	queueAuthType: {
		create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{entityName, authRights, authQuota}, complete: completeAuth, plain: true,
	},
}

// topLevel cuts an id off behind the top-level resource in it: the namespace of
// a queue, the account of a container.
func topLevel(id string) string {
	parts := strings.SplitN(Clean(id), "/", 10)
	return strings.Join(parts[:min(9, len(parts))], "/")
}

// holder returns the top-level resource that id lies in, ours or a seeded one.
func (s State) holder(id string) *Resource {
	key := Key(topLevel(id))
	if r, ok := s.Resources[key]; ok {
		return r
	}
	return s.External[key]
}

// busName: two endings belong to Service Bus itself; the rest of the name is in
// the type data (A200).
// https://learn.microsoft.com/rest/api/servicebus/create-namespace
func busName(_ State, r, _ *Resource) *Error {
	for _, end := range []string{"-sb", "-mgmt"} {
		if strings.HasSuffix(strings.ToLower(Name(r.ID)), end) {
			return refuse(BadRequest, "name", "name of "+r.ID, strconv.Quote(Name(r.ID)), "one that does not end in -sb or -mgmt, which Service Bus keeps for itself", "rename it")
		}
	}
	return nil
}

// busUnique: a namespace is a name in DNS, so it exists once in the world (A201).
func busUnique(s State, r, old *Resource) *Error {
	if old != nil {
		return nil
	}
	if other := s.namesake(r, busType); other != nil {
		return refuse(BadRequest, "name", "The specified name is not available: name of "+r.ID, strconv.Quote(Name(r.ID))+", which is "+other.ID,
			"one that no namespace in the world has, because it becomes a name in DNS", "choose another name")
	}
	return nil
}

// tierOf returns the tier of a namespace, "" if it is not known.
func tierOf(bus *Resource) string {
	if bus == nil {
		return ""
	}
	return root(bus.Body).get("sku.name").text()
}

// partitionsOf returns how many partitions a Premium namespace has.
func partitionsOf(bus *Resource) (n float64, known bool) {
	v := bus.props("premiumMessagingPartitions")
	if v.unknown() {
		return 0, false
	}
	if n, ok := v.number(); ok && n > 0 {
		return n, true
	}
	return 1, true
}

// busSku: messaging units go with partitions (A202); partitions are Premium's
// and set once (A203); no way leads in place to or from Premium (A204).
func busSku(_ State, r, old *Resource) *Error {
	tier := tierOf(r)
	if root(r.Body).get("sku").hasUnknown() || r.props("premiumMessagingPartitions").unknown() {
		return nil
	}
	partitions, set := r.props("premiumMessagingPartitions").number()
	switch {
	case set && partitions > 0 && tier != tierPremium:
		return refuse(BadRequest, "premiumMessagingPartitions", "partitions of "+r.ID, fmt.Sprint(partitions), "none, because only a Premium namespace is partitioned as a whole", "drop them, or take the Premium tier")
	case set && tier == tierPremium && !slices.Contains([]float64{1, 2, 4}, partitions):
		return refuse(BadRequest, "premiumMessagingPartitions", "partitions of "+r.ID, fmt.Sprint(partitions), "1, 2 or 4", "choose one")
	}
	if old != nil {
		if was := tierOf(old); (was == tierPremium) != (tier == tierPremium) && was != "" {
			return refuse(BadRequest, "sku", "sku of "+r.ID, strconv.Quote(tier), strconv.Quote(was)+", because a namespace does not change to or from Premium in place", "migrate to another namespace, or replace it")
		}
		if was, ok := old.props("premiumMessagingPartitions").number(); ok && set && was != partitions {
			return refuse(BadRequest, "premiumMessagingPartitions", "partitions of "+r.ID, fmt.Sprint(partitions), fmt.Sprintf("%v, which were set when it was made", was), "replace the namespace")
		}
		if !set {
			partitions, set = old.props("premiumMessagingPartitions").number()
		}
	}
	if !set || partitions == 0 {
		partitions = 1
	}
	units, ok := root(r.Body).get("sku.capacity").number()
	if ok && tier == tierPremium && !slices.Contains([]float64{1, 2, 4, 8, 16}, units/partitions) {
		return refuse(BadRequest, "sku.capacity", "messaging units of "+r.ID, fmt.Sprint(units), fmt.Sprintf("1, 2, 4, 8 or 16 for each of its %v partitions", partitions), "choose one of these")
	}
	return nil
}

const (
	tierBasic   = "Basic"
	tierPremium = "Premium"
)

// completeBus answers as Service Bus does (A205): what a write leaves out of
// the access to the network and of the partitions stays as it was.
func completeBus(_ State, r, old *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	keep(r, old, "publicNetworkAccess", "premiumMessagingPartitions", "disableLocalAuth", "minimumTlsVersion")
	if sku := object(r.Body, "sku"); sku != nil {
		setDefault(sku, "name", "Standard")
		setDefault(sku, "tier", sku["name"])
		if sku["name"] == tierPremium {
			setDefault(sku, "capacity", 1.0)
			setDefault(props, "premiumMessagingPartitions", 1.0)
		} else if text, ok := sku["name"].(string); ok && text != "" {
			delete(sku, "capacity")
			setDefault(props, "premiumMessagingPartitions", 0.0)
		}
	}
	setDefault(props, "publicNetworkAccess", "Enabled")
	setDefault(props, "disableLocalAuth", false)
	setDefault(props, "minimumTlsVersion", "1.2")
	setDefault(props, "zoneRedundant", true)
	delete(props, "privateEndpointConnections")
	props["status"], props["createdAt"], props["updatedAt"] = "Active", made, made
	props["serviceBusEndpoint"] = "https://" + Name(r.ID) + ".servicebus.windows.net:443/"
	props["metricId"] = SubscriptionOf(r.ID) + ":" + strings.ToLower(Name(r.ID))
}

// keep gives r what a write left out and old had.
func keep(r, old *Resource, names ...string) {
	props := object(r.Body, "properties")
	if old == nil || props == nil {
		return
	}
	for _, name := range names {
		if was := old.props(name); was.known() {
			setDefault(props, name, copyValue(was.v))
		}
	}
}

// born adds a child that Azure makes together with its parent.
func (s *State) born(id, typ string, properties map[string]any) {
	r := &Resource{ID: id, Type: typ, Body: map[string]any{"properties": properties}}
	if complete := behaviourOf(typ).complete; complete != nil {
		complete(*s, r, nil)
	}
	s.byAzure(id, typ, r.Body)
}

// rewrite stores r again with one property changed.
func (s *State) rewrite(r *Resource, name string, v any) {
	next := *r
	next.Body = copyBody(r.Body)
	object(next.Body, "properties")[name] = v
	next.Generation++
	next.Etag = etag(&next)
	s.Resources[Key(r.ID)] = &next
}

// busRuleSet: a namespace has one rule set from birth, called default, and the
// two share one setting of public access (A206).
func busRuleSet(s *State, r, old *Resource) {
	id := r.ID + "/networkRuleSets/default"
	if old == nil {
		s.born(id, "Microsoft.ServiceBus/namespaces/networkRuleSets", map[string]any{})
		return
	}
	access := r.props("publicNetworkAccess").text()
	if set, ok := s.Find(id); ok && (access == "Enabled" || access == "Disabled") && set.props("publicNetworkAccess").text() != access {
		s.rewrite(set, "publicNetworkAccess", access)
	}
}

// ruleSetAccess writes a rule set's public access through to its namespace (A206).
func ruleSetAccess(s *State, r, _ *Resource) {
	access := r.props("publicNetworkAccess").text()
	if bus, ok := s.Find(ParentOf(r.ID)); ok && access != "" && bus.props("publicNetworkAccess").text() != access {
		s.rewrite(bus, "publicNetworkAccess", access)
	}
}

func completeRuleSet(s State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "defaultAction", "Allow")
	setDefault(props, "trustedServiceAccessEnabled", false)
	setDefault(props, "ipRules", []any{})
	setDefault(props, "virtualNetworkRules", []any{})
	if bus, ok := s.Find(ParentOf(r.ID)); ok {
		if access := bus.props("publicNetworkAccess").text(); access == "Enabled" || access == "Disabled" {
			setDefault(props, "publicNetworkAccess", access)
		}
	}
	for _, item := range (value{props["ipRules"]}).list() {
		if m, ok := item.v.(map[string]any); ok {
			setDefault(m, "action", "Allow")
		}
	}
	for _, item := range (value{props["virtualNetworkRules"]}).list() {
		if m, ok := item.v.(map[string]any); ok {
			setDefault(m, "ignoreMissingVnetServiceEndpoint", false)
		}
	}
}

// ruleSetOpen: what denies all and names no exception would close the namespace
// to everybody; Azure wants that said by publicNetworkAccess, in the same write
// (A207). The refusal of a deletion is neverDeleted's.
func ruleSetOpen(_ State, r, _ *Resource) *Error {
	if r.props("defaultAction").text() != "Deny" || r.props("ipRules").unknown() || r.props("virtualNetworkRules").unknown() || r.props("publicNetworkAccess").unknown() {
		return nil
	}
	if len(r.props("ipRules").list())+len(r.props("virtualNetworkRules").list()) == 0 && r.props("publicNetworkAccess").text() != "Disabled" {
		return refuse(InvalidNetworkRuleSetUpdate, "defaultAction", "rules of "+r.ID, "Deny with zero IPRule and VirtualNetworkRules", "some rule, or publicNetworkAccess Disabled in the same write, because this would render the namespace inaccessible",
			"set publicNetworkAccess to Disabled, defaultAction to Allow, or add a rule")
	}
	return nil
}

// ruleSetSources: rules for networks are Premium's, rules for addresses every
// tier's (A208); addresses are IPv4, and there are at most 128.
func ruleSetSources(s State, r, _ *Resource) *Error {
	nets := r.props("virtualNetworkRules").list()
	if tier := tierOf(s.holder(r.ID)); len(nets) > 0 && tier != "" && tier != tierPremium {
		return refuse(BadRequest, "virtualNetworkRules", "rules of "+r.ID, fmt.Sprintf("%d networks in tier %s", len(nets), tier), "none below Premium", "use ipRules, or take the Premium tier")
	}
	for i, item := range nets {
		path := fmt.Sprintf("virtualNetworkRules[%d].subnet.id", i)
		if _, err := s.refer(r, path, item.get("subnet.id"), subnetType); err != nil {
			return err
		}
	}
	addresses := r.props("ipRules").list()
	if len(addresses) > 128 {
		return refuse(BadRequest, "ipRules", "rules of "+r.ID, strconv.Itoa(len(addresses)), "at most 128", "join ranges")
	}
	for i, item := range addresses {
		mask := item.get("ipMask")
		if !mask.known() || ipv4(mask.text()) {
			continue
		}
		return refuse(BadRequest, fmt.Sprintf("ipRules[%d].ipMask", i), "address in "+r.ID, strconv.Quote(mask.text()), "an IPv4 address or block, such as 203.0.113.0/24", "correct it")
	}
	return nil
}

func ipv4(text string) bool {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Addr().Is4()
	}
	a, err := netip.ParseAddr(text)
	return err == nil && a.Is4()
}

// neverDeleted refuses to delete what exists as long as its parent: ARM has no
// DELETE for rule sets and for the services of a storage account (A209).
func neverDeleted(_ State, r, with *Resource) *Error {
	if Key(r.ID) != Key(with.ID) {
		return nil
	}
	return refuse(MethodNotAllowed, r.ID, "method of "+r.ID, strconv.Quote(string(Delete)), "GET or PUT, because it exists as long as its parent", "write its defaults, or delete the parent")
}

package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// busRefuse refuses as the broker behind ARM does: one code for all, and a
// number in the text that tells more (A212).
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-resource-manager-exceptions
func busRefuse(number int, target, what, got, want, remedy string) *Error {
	return refuse(MessagingGatewayBadRequest, target, fmt.Sprintf("SubCode=%d. %s", number, what), got, want, remedy)
}

// invalid is the number of a request that is wrong in itself.
const invalid = 40000

// kindOf names an entity's kind as Azure's messages do.
func kindOf(r *Resource) string {
	switch strings.ToLower(r.Type) {
	case queueType:
		return "Queue"
	case topicType:
		return "Topic"
	}
	return "Subscription"
}

var (
	entityNames = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/~-]*[A-Za-z0-9])?$`)
	childNames  = regexp.MustCompile(`^(\$Default|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)$`)
)

// entityName: letters, digits and some signs (A213); a queue and a topic of one
// namespace do not share a name (A214).
func entityName(s State, r, old *Resource) *Error {
	name, allowed, signs := Name(r.ID), childNames, ". _ -"
	other := ""
	switch strings.ToLower(r.Type) {
	case queueType:
		allowed, signs, other = entityNames, ". _ - ~ /", "topics"
	case topicType:
		allowed, signs, other = entityNames, ". _ - ~ /", "queues"
	}
	if !allowed.MatchString(name) {
		return busRefuse(invalid, "name", "name of "+r.ID, strconv.Quote(name), "letters, digits and "+signs+", with a letter or digit at both ends", "rename it")
	}
	if other == "" || old != nil {
		return nil
	}
	if twin, ok := s.Find(topLevel(r.ID) + "/" + other + "/" + name); ok {
		return busRefuse(invalid, "name", "Bad Request: name of "+r.ID, strconv.Quote(name)+", which is "+twin.ID, "a name that no other queue or topic of the namespace has", "rename one")
	}
	return nil
}

// entityTier: Basic has no topics, and of its queues' features only a short
// time to live (A215).
func entityTier(s State, r, _ *Resource) *Error {
	if tierOf(s.holder(r.ID)) != tierBasic {
		return nil
	}
	remedy := "take the Standard tier"
	if isType(r.Type, topicType) {
		return busRefuse(invalid, "name", "topic "+r.ID, "one in the Basic tier", "queues alone in the Basic tier", remedy)
	}
	for _, name := range []string{"requiresDuplicateDetection", "requiresSession", "enableExpress", "forwardTo", "forwardDeadLetteredMessagesTo", "autoDeleteOnIdle"} {
		if v := r.props(name); v.flag() || v.text() != "" && v.text() != never {
			return busRefuse(invalid, name, "The property '"+name+"' cannot be set: queue "+r.ID, fmt.Sprint(v.v), "nothing in the Basic tier", remedy)
		}
	}
	if ttl, ok := span(r.props("defaultMessageTimeToLive").text()); ok && ttl > 14*day {
		return busRefuse(invalid, "defaultMessageTimeToLive", "The property value for 'DefaultMessageTimeToLive' of "+r.ID, r.props("defaultMessageTimeToLive").text(), "PT1S..P14D in the Basic tier", "shorten it, or "+remedy)
	}
	return nil
}

const (
	minute  = 60.0
	day     = 24 * 60 * minute
	forever = 1e12 // in seconds, longer than never

	// never is the longest time span there is, Azure's word for no end.
	never = "P10675199DT2H48M5.4775807S"
)

var isoSpan = regexp.MustCompile(`^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)

// span returns the seconds of an ISO 8601 duration, however long.
func span(text string) (seconds float64, ok bool) {
	parts := isoSpan.FindStringSubmatch(text)
	if parts == nil || text == "P" || strings.HasSuffix(text, "T") {
		return 0, false
	}
	for i, unit := range []float64{365 * day, 30 * day, 7 * day, day, 60 * minute, minute, 1} {
		if n, err := strconv.ParseFloat(parts[i+1], 64); err == nil {
			seconds += n * unit
		}
	}
	return seconds, true
}

// entityTimes: how long locks (A216), the memory of message ids (A217) and idle
// entities (A218) last, and how often a message is delivered (A219).
func entityTimes(_ State, r, _ *Resource) *Error {
	for _, limit := range []struct {
		name     string
		min, max float64
		what     string
		want     string
	}{
		{"lockDuration", 1e-9, 5 * minute, "The supplied lock time", "more than nothing and at most '5' minutes"},
		{"duplicateDetectionHistoryTimeWindow", 20, 7 * day, "duplicate detection window", "PT20S..P7D"},
		{"autoDeleteOnIdle", 5 * minute, forever, "idle time", "PT5M or more, because queues under load are idle at times too"},
		{"defaultMessageTimeToLive", 1, forever, "The property value for 'DefaultMessageTimeToLive'", "PT1S or more"},
	} {
		v := r.props(limit.name)
		if !v.known() {
			continue
		}
		if seconds, ok := span(v.text()); !ok || seconds < limit.min || seconds > limit.max {
			return busRefuse(invalid, limit.name, limit.what+" of "+r.ID, strconv.Quote(v.text()), limit.want, "choose one in that range")
		}
	}
	if n, ok := r.props("maxDeliveryCount").number(); ok && n < 1 {
		return busRefuse(invalid, "maxDeliveryCount", "deliveries of "+r.ID, fmt.Sprint(n), "1 or more, because a message is delivered before it is a dead letter", "raise it")
	}
	return nil
}

// entitySize: sizes come from a list, a longer one in Premium (A220); large
// messages are Premium's (A221); express entities are not, and forget (A222).
func entitySize(s State, r, _ *Resource) *Error {
	tier := tierOf(s.holder(r.ID))
	sizes, names := []float64{1024, 2048, 3072, 4096, 5120}, "1024;2048;3072;4096;5120"
	if tier == tierPremium || tier == "" {
		sizes, names = append(sizes, 10240, 20480, 40960, 81920), names+";10240;20480;40960;81920"
	}
	if n, ok := r.props("maxSizeInMegabytes").number(); ok && !slices.Contains(sizes, n) {
		return busRefuse(invalid, "maxSizeInMegabytes", "The property 'MaxSizeInMegabytes' of "+r.ID, fmt.Sprint(n), "one of the following values: "+names, "choose one")
	}
	if n, ok := r.props("maxMessageSizeInKilobytes").number(); ok {
		switch {
		case tier != tierPremium && tier != "" && n != 256:
			return busRefuse(invalid, "maxMessageSizeInKilobytes", "message size of "+r.ID, fmt.Sprint(n), "nothing, because only Premium takes messages above 256 KB", "drop it, or take the Premium tier")
		case tier == tierPremium && (n < 1024 || n > 102400):
			return busRefuse(invalid, "maxMessageSizeInKilobytes", "message size of "+r.ID, fmt.Sprint(n), "1024..102400 KB", "choose one in that range")
		}
	}
	if r.props("enableExpress").flag() {
		switch {
		case tier == tierPremium:
			return busRefuse(invalid, "enableExpress", "express entity "+r.ID, "true in the Premium tier", "false there", "drop it")
		case r.props("requiresDuplicateDetection").flag():
			return busRefuse(invalid, "enableExpress", "Both DelayedPersistence and RequiresDuplicateDetection property cannot be enabled together: "+r.ID, "both", "one of them, because duplicates are found only among stored messages", "drop enableExpress")
		}
	}
	return nil
}

// onceSet are what an entity is made with (A223).
var onceSet = []string{"requiresDuplicateDetection", "requiresSession", "enablePartitioning"}

// entityFixed refuses a change of them; a write that leaves one out keeps it.
func entityFixed(_ State, r, old *Resource) *Error {
	if old == nil {
		return nil
	}
	for _, name := range onceSet {
		was, now := old.props(name), r.props(name)
		if was.known() && now.known() && was.flag() != now.flag() {
			what := fmt.Sprintf("The value for the '%s' property of an existing %s cannot be changed", name, kindOf(r))
			if name == "enablePartitioning" {
				what = "Partitioning cannot be changed for " + kindOf(r)
			}
			return busRefuse(invalid, name, what+": "+r.ID, fmt.Sprint(now.v), fmt.Sprintf("%v, which it was made with", was.v), "replace it")
		}
	}
	return nil
}

// entityPartitions: in Premium the namespace decides for all that is in it (A224).
func entityPartitions(s State, r, old *Resource) *Error {
	bus, v := s.holder(r.ID), r.props("enablePartitioning")
	if tierOf(bus) != tierPremium || v.unknown() || old != nil {
		return nil
	}
	partitions, known := partitionsOf(bus)
	switch {
	case known && partitions > 1 && !v.flag():
		return busRefuse(invalid, "enablePartitioning", "Non-partitioned entities are not allowed in partitioned namespace: "+r.ID, "enablePartitioning not true", fmt.Sprintf("true in a namespace of %v partitions", partitions), "set it to true")
	case known && partitions == 1 && v.flag():
		return busRefuse(invalid, "enablePartitioning", "partitioned entity "+r.ID, "enablePartitioning true", "false in a Premium namespace of one partition", "set it to false, or make the namespace with more partitions")
	}
	return nil
}

// destination returns the queue or topic that a forward names, by name or URL.
func (s State) destination(bus string, v value) (*Resource, string) {
	name := v.text()
	if _, rest, ok := strings.Cut(name, "://"); ok {
		_, name, _ = strings.Cut(rest, "/")
	}
	name = strings.Trim(name, "/")
	for _, kind := range []string{"queues", "topics"} {
		if r, ok := s.Find(bus + "/" + kind + "/" + name); ok && r.Provisioning != Deleting {
			return r, name
		}
	}
	return nil, name
}

// entityForwards: who forwards has no sessions, its destination exists (A225),
// and no chain of queues comes back to its start (A226).
func entityForwards(s State, r, _ *Resource) *Error {
	bus := topLevel(r.ID)
	_, ours := s.Find(bus)
	for _, field := range []string{"forwardTo", "forwardDeadLetteredMessagesTo"} {
		v := r.props(field)
		if v.text() == "" {
			continue
		}
		if field == "forwardTo" && r.props("requiresSession").flag() {
			return busRefuse(invalid, field, "Bad Request: "+field+" of "+r.ID, "a session entity that forwards", "no sessions, because the broker that forwards opens none", "set requiresSession to false, or receive from it")
		}
		target, name := s.destination(bus, v)
		self := isType(r.Type, queueType) && strings.EqualFold(name, Name(r.ID))
		if target == nil && ours && !self {
			return busRefuse(40400, field, "The auto forwarding destination entity does not exist: "+field+" of "+r.ID, strconv.Quote(name), "an existing queue or topic of the namespace", "make it first and depend on it")
		}
		if field != "forwardTo" {
			continue
		}
		for seen := 0; target != nil && !self && seen < 100; seen++ {
			next := target.props("forwardTo")
			if next.text() == "" {
				break
			}
			target, name = s.destination(bus, next)
			self = isType(r.Type, queueType) && strings.EqualFold(name, Name(r.ID))
		}
		if self {
			return busRefuse(invalid, field, field+" of "+r.ID, strconv.Quote(v.text())+", which leads back to it", "a chain that ends somewhere else", "break the circle")
		}
	}
	return nil
}

// entityQuota: a namespace holds 10,000 queues and topics, a Premium one 1,000
// for each messaging unit (A227).
// https://learn.microsoft.com/azure/service-bus-messaging/service-bus-quotas
func entityQuota(s State, r, old *Resource) *Error {
	bus := s.holder(r.ID)
	if old != nil || bus == nil {
		return nil
	}
	limit := 10000.0
	if units, ok := root(bus.Body).get("sku.capacity").number(); tierOf(bus) == tierPremium && ok {
		limit = 1000 * units
	}
	count := 0.0
	for _, other := range s.under(topLevel(r.ID)) {
		if isType(other.Type, queueType) || isType(other.Type, topicType) {
			count++
		}
	}
	if count >= limit {
		return refuse(QuotaExceeded, "name", "queues and topics of "+bus.ID, fmt.Sprintf("%v and one more", count), fmt.Sprintf("at most %v in this tier", limit), "delete some, add messaging units, or use another namespace")
	}
	return nil
}

// entity fills what queues, topics and subscriptions have in common (A228).
func entity(s State, r, old *Resource) map[string]any {
	props := object(r.Body, "properties")
	if props == nil {
		return nil
	}
	keep(r, old, onceSet...)
	ttl := never
	if tierOf(s.holder(r.ID)) == tierBasic {
		ttl = "P14D"
	}
	setDefault(props, "defaultMessageTimeToLive", ttl)
	setDefault(props, "enableBatchedOperations", true)
	setDefault(props, "status", "Active")
	setDefault(props, "autoDeleteOnIdle", never)
	props["countDetails"] = map[string]any{
		"activeMessageCount": 0.0, "deadLetterMessageCount": 0.0, "scheduledMessageCount": 0.0, "transferMessageCount": 0.0, "transferDeadLetterMessageCount": 0.0,
	}
	props["createdAt"], props["updatedAt"], props["accessedAt"] = made, made, "0001-01-01T00:00:00Z"
	return props
}

func stored(s State, r *Resource, props map[string]any) {
	setDefault(props, "requiresDuplicateDetection", false)
	setDefault(props, "enablePartitioning", false)
	setDefault(props, "enableExpress", false)
	setDefault(props, "maxSizeInMegabytes", 1024.0)
	setDefault(props, "duplicateDetectionHistoryTimeWindow", "PT10M")
	props["sizeInBytes"] = 0.0
	switch tierOf(s.holder(r.ID)) {
	case tierPremium:
		setDefault(props, "maxMessageSizeInKilobytes", 1024.0)
	case "":
	default:
		setDefault(props, "maxMessageSizeInKilobytes", 256.0)
	}
}

func received(props map[string]any) {
	setDefault(props, "lockDuration", "PT1M")
	setDefault(props, "maxDeliveryCount", 10.0)
	setDefault(props, "requiresSession", false)
	setDefault(props, "deadLetteringOnMessageExpiration", false)
	props["messageCount"] = 0.0
}

func completeQueue(s State, r, old *Resource) {
	if props := entity(s, r, old); props != nil {
		stored(s, r, props)
		received(props)
	}
}

func completeTopic(s State, r, old *Resource) {
	if props := entity(s, r, old); props != nil {
		stored(s, r, props)
		setDefault(props, "supportOrdering", true)
	}
}

func completeSubscriber(s State, r, old *Resource) {
	if props := entity(s, r, old); props != nil {
		received(props)
		setDefault(props, "deadLetteringOnFilterEvaluationExceptions", true)
		setDefault(props, "isClientAffine", false)
	}
}

// viewEntity counts a topic's subscriptions, and shows the size of all 16
// partitions of an entity of the lower tiers (A229).
func viewEntity(s State, r *Resource, body map[string]any) {
	props := object(body, "properties")
	if props == nil {
		return
	}
	if isType(r.Type, topicType) {
		count := 0.0
		for _, child := range s.under(r.ID) {
			if isType(child.Type, subscriberType) {
				count++
			}
		}
		props["subscriptionCount"] = count
	}
	if n, ok := (value{props["maxSizeInMegabytes"]}).number(); ok && r.props("enablePartitioning").flag() && tierOf(s.holder(r.ID)) != tierPremium {
		props["maxSizeInMegabytes"] = 16 * n
	}
}

const firstRule = "/rules/$Default"

// firstFilter: Azure makes a subscription with a rule that takes everything (A230).
func firstFilter(s *State, r, old *Resource) {
	if old == nil {
		s.born(r.ID+firstRule, "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules", map[string]any{
			"filterType": "SqlFilter", "sqlFilter": map[string]any{"sqlExpression": "1=1", "compatibilityLevel": 20.0},
		})
	}
}

// dropFirstFilter: the first rule of somebody's own takes its place, and when
// that one goes nothing comes back (A231).
func dropFirstFilter(s *State, r, _ *Resource) {
	if first, ok := s.Find(ParentOf(r.ID) + firstRule); ok && first.ByAzure && Key(first.ID) != Key(r.ID) {
		s.drop(first)
	}
}

func completeFilter(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "action", map[string]any{})
	if props["sqlFilter"] != nil {
		setDefault(props, "filterType", "SqlFilter")
		if filter := object(props, "sqlFilter"); filter != nil {
			setDefault(filter, "compatibilityLevel", 20.0)
		}
	}
}

// authRights: who may manage may also send and listen (A232).
func authRights(_ State, r, _ *Resource) *Error {
	v := r.props("rights")
	if v.hasUnknown() {
		return nil
	}
	rights := v.texts()
	if len(rights) == 0 || slices.Contains(rights, "Manage") && (!slices.Contains(rights, "Send") || !slices.Contains(rights, "Listen")) {
		return refuse(BadRequest, "rights", "rights of "+r.ID, fmt.Sprintf("%q", rights), "one or more, and with Manage both Send and Listen", "add them")
	}
	return nil
}

// authQuota: twelve for each entity (A233).
func authQuota(s State, r, old *Resource) *Error {
	count := 0
	for _, other := range s.under(ParentOf(r.ID)) {
		if isType(other.Type, queueAuthType) {
			count++
		}
	}
	if old == nil && count >= 12 {
		return refuse(QuotaExceeded, "name", "authorization rules of "+ParentOf(r.ID), "12 and one more", "at most 12 for each entity", "share one, or use roles")
	}
	return nil
}

// completeAuth sorts the rights, as Azure answers them (A232).
func completeAuth(_ State, r, _ *Resource) {
	sortTexts(r.props("rights").v)
}

package core

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"onedoor/internal/az/monitor"
)

// The ARM types of Azure Monitor that rules speak about, in lower case.
const (
	metricAlertType   = "microsoft.insights/metricalerts"
	logAlertType      = "microsoft.insights/scheduledqueryrules"
	activityAlertType = "microsoft.insights/activitylogalerts"
	settingType       = "microsoft.insights/diagnosticsettings"
	workbookType      = "microsoft.insights/workbooks"
	collectionType    = "microsoft.insights/datacollectionrules"
	collectorType     = "microsoft.insights/datacollectionendpoints"
	associationType   = "microsoft.insights/datacollectionruleassociations"
	savedSearchType   = "microsoft.operationalinsights/workspaces/savedsearches"
	monitorType       = "microsoft.monitor/accounts"
	ruleGroupType     = "microsoft.alertsmanagement/prometheusrulegroups"
)

// monitorTypes are the behaviours of Azure Monitor's types.
var monitorTypes = map[string]*behaviour{
	metricAlertType: {
		location: global, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check: []rule{metricPace, metricCriteria, metricScopes, alertActions("actions", "actionGroupId")}, plain: true,
	},
	logAlertType: {
		location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 3 * time.Second,
		check: []rule{logPace, logCondition, logPlace, logExport, alertActions("actions.actionGroups", "")}, plain: true,
	},
	activityAlertType: {
		location: noLocation, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check: []rule{activityCondition, activityScopes, alertActions("actions.actionGroups", "actionGroupId")}, plain: true,
	},
	settingType: {
		location: noLocation, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check: []rule{settingCategories, settingDestination, settingUnique}, plain: true, attached: true,
	},
	workbookType: {
		location: regional, create: 3 * time.Second, update: 3 * time.Second, remove: 3 * time.Second,
		check: []rule{workbookText}, plain: true,
	},
	collectorType: {location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second},
	collectionType: {
		location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
		check: []rule{collectionFlows},
	},
	associationType: {
		location: noLocation, create: 5 * time.Second, update: 5 * time.Second, remove: 5 * time.Second,
		check: []rule{associationTarget}, plain: true, attached: true,
	},
	savedSearchType: {
		location: noLocation, create: 2 * time.Second, update: 2 * time.Second, remove: 2 * time.Second,
		check: []rule{functionName}, plain: true,
	},
	monitorType: {location: regional, create: 20 * time.Second, update: 10 * time.Second, remove: 20 * time.Second},
	ruleGroupType: {
		location: regional, create: 5 * time.Second, update: 5 * time.Second, remove: 3 * time.Second,
		check: []rule{groupScope, groupRules}, plain: true,
	},
}

// pace reads how often an alert looks and how far back; ok is false where one of
// them is not known, or not a duration, which another rule says.
func pace(r *Resource) (every, window time.Duration, ok bool) {
	f, w := r.props("evaluationFrequency"), r.props("windowSize")
	if !f.known() || !w.known() {
		return 0, 0, false
	}
	every, err := duration(f.text())
	if err != nil {
		return 0, 0, false
	}
	window, err = duration(w.text())
	return every, window, err == nil
}

// metricPace: both from a list, and no moment is looked over (A900).
func metricPace(_ State, r, _ *Resource) *Error {
	every, window, ok := pace(r)
	switch {
	case !ok:
		return nil
	case !slices.Contains(monitor.Frequencies, every):
		return refuse(BadRequest, "evaluationFrequency", "frequency of "+r.ID, r.props("evaluationFrequency").text(), "one of PT1M, PT5M, PT15M, PT30M, PT1H", "choose one")
	case !slices.Contains(monitor.Windows, window):
		return refuse(BadRequest, "windowSize", "window of "+r.ID, r.props("windowSize").text(), "one of PT1M, PT5M, PT15M, PT30M, PT1H, PT6H, PT12H, P1D", "choose one")
	case window < every:
		return refuse(BadRequest, "windowSize", "window of "+r.ID, r.props("windowSize").text(), "at least the frequency, "+r.props("evaluationFrequency").text(), "widen it")
	}
	return nil
}

// metricCriteria: the metric, its total and its dimensions exist for the type that
// is watched (A901). A type whose metrics are not listed is not judged.
func metricCriteria(_ State, r, _ *Resource) *Error {
	for i, criterion := range r.props("criteria.allOf").list() {
		path := fmt.Sprintf("criteria.allOf[%d]", i)
		known, listed := monitor.MetricsOf(criterion.get("metricNamespace").text())
		if !listed {
			continue
		}
		name := criterion.get("metricName")
		series, ok := known[name.text()]
		if name.known() && !ok && !criterion.get("skipMetricValidation").flag() {
			return refuse(BadRequest, path+".metricName", "metric of "+r.ID, strconv.Quote(name.text()), "a metric of "+criterion.get("metricNamespace").text()+", nearest is "+closest(name.text(), sortedKeys(known)), "correct it")
		}
		if !ok {
			continue
		}
		if total := criterion.get("timeAggregation"); total.known() && !slices.Contains(series.Totals, total.text()) {
			return refuse(BadRequest, path+".timeAggregation", "aggregation of "+name.text()+" in "+r.ID, strconv.Quote(total.text()), "one of "+strings.Join(series.Totals, ", "), "choose one")
		}
		for j, dimension := range criterion.get("dimensions").list() {
			if n := dimension.get("name"); n.known() && !slices.Contains(series.Dimensions, n.text()) {
				return refuse(BadRequest, fmt.Sprintf("%s.dimensions[%d].name", path, j), "dimension of "+name.text()+" in "+r.ID, strconv.Quote(n.text()), "one of "+strings.Join(series.Dimensions, ", "), "choose one")
			}
		}
	}
	return nil
}

// metricScopes: what is watched exists; several are of one type and region, which
// the alert names (A902).
func metricScopes(s State, r, _ *Resource) *Error {
	scopes := r.props("scopes").list()
	if len(scopes) == 0 && !r.props("scopes").unknown() {
		return refuse(BadRequest, "scopes", "scopes of "+r.ID, "none", "what it watches", "set scopes")
	}
	for i, scope := range scopes {
		if scope.unknown() {
			continue
		}
		if _, err := s.refer(r, fmt.Sprintf("scopes[%d]", i), scope, strings.ToLower(TypeOf(scope.text()))); err != nil {
			return err
		}
	}
	if len(scopes) > 1 {
		for _, field := range []string{"targetResourceType", "targetResourceRegion"} {
			if r.props(field).absent() {
				return refuse(BadRequest, field, field+" of "+r.ID, "nothing", "the one of all scopes, since there are several", "set it, or make an alert for each")
			}
		}
	}
	return nil
}

// alertActions: the action groups at path exist; field holds the id, "" where the
// entry is one itself (A903).
func alertActions(path, field string) rule {
	return func(s State, r, _ *Resource) *Error {
		for i, item := range r.props(path).list() {
			at := fmt.Sprintf("%s[%d]", path, i)
			if field != "" {
				item, at = item.get(field), at+"."+field
			}
			if _, err := s.refer(r, at, item, actionGroupType); err != nil {
				return err
			}
		}
		return nil
	}
}

// logPace: between a minute and a day, over at most two days, and no moment is
// looked over (A904).
func logPace(_ State, r, _ *Resource) *Error {
	every, window, ok := pace(r)
	switch {
	case !ok:
		return nil
	case every < monitor.MinLogFrequency || every > monitor.MaxLogFrequency:
		return refuse(BadRequest, "evaluationFrequency", "frequency of "+r.ID, r.props("evaluationFrequency").text(), "PT1M to P1D", "choose one in that range")
	case window < monitor.MinLogWindow || window > monitor.MaxLogWindow:
		return refuse(BadRequest, "windowSize", "window of "+r.ID, r.props("windowSize").text(), "PT1M to P2D: a log alert sees no further back", "choose one in that range")
	case window < every:
		return refuse(BadRequest, "windowSize", "window of "+r.ID, r.props("windowSize").text(), "at least the frequency, "+r.props("evaluationFrequency").text(), "widen it")
	}
	return nil
}

// logCondition: a condition has a query, operator, threshold and total; what is
// measured has a column; failing periods are not more than there are; messages are
// muted only while nothing resolves by itself (A905).
func logCondition(_ State, r, _ *Resource) *Error {
	conditions := r.props("criteria.allOf")
	if len(conditions.list()) == 0 && !conditions.unknown() {
		return refuse(BadRequest, "criteria.allOf", "conditions of "+r.ID, "none", "one", "set criteria.allOf")
	}
	for i, c := range conditions.list() {
		path := fmt.Sprintf("criteria.allOf[%d]", i)
		for _, field := range []string{"query", "operator", "threshold", "timeAggregation"} {
			if c.get(field).absent() || c.get(field).v == "" {
				return refuse(BadRequest, path+"."+field, field+" of "+r.ID, "nothing", "one: a condition has it", "set it")
			}
		}
		if total := c.get("timeAggregation"); total.known() && total.text() != "Count" && c.get("metricMeasureColumn").absent() {
			return refuse(BadRequest, path+".metricMeasureColumn", "column of "+r.ID, "nothing", "the one whose "+total.text()+" is compared", "set it, or count rows")
		}
		least, ok := c.get("failingPeriods.minFailingPeriodsToAlert").number()
		all, both := c.get("failingPeriods.numberOfEvaluationPeriods").number()
		if ok && both && least > all {
			return refuse(BadRequest, path+".failingPeriods", "failing periods of "+r.ID, fmt.Sprintf("%g of %g", least, all), "at most as many as there are", "lower the first")
		}
	}
	if r.props("muteActionsDuration").known() && r.props("autoMitigate").flag() {
		return refuse(BadRequest, "muteActionsDuration", "muting of "+r.ID, r.props("muteActionsDuration").text(), "nothing, as long as autoMitigate is on", "drop one of the two")
	}
	return nil
}

// logPlace: an alert has one scope and lives in its region (A906).
func logPlace(s State, r, _ *Resource) *Error {
	scopes := r.props("scopes").list()
	if len(scopes) != 1 {
		if r.props("scopes").unknown() {
			return nil
		}
		return refuse(BadRequest, "scopes", "scopes of "+r.ID, strconv.Itoa(len(scopes)), "one", "make an alert for each")
	}
	target, err := s.refer(r, "scopes[0]", scopes[0], workspaceType)
	if err != nil || target == nil {
		return err
	}
	at, there := root(r.Body).get("location"), root(target.Body).get("location")
	if at.known() && there.known() && Region(at.text()) != Region(there.text()) {
		return refuse(BadRequest, "location", "location of "+r.ID, strconv.Quote(at.text()), strconv.Quote(there.text())+", where the workspace is", "set it")
	}
	return nil
}

// logExport: a query of the table of exported metrics names none that cannot be
// exported: it would never return a row (A907).
func logExport(_ State, r, _ *Resource) *Error {
	for i, c := range r.props("criteria.allOf").list() {
		text := c.get("query").text()
		if !strings.Contains(text, "AzureMetrics") {
			continue
		}
		for _, typ := range []string{"microsoft.servicebus/namespaces", "microsoft.cognitiveservices/accounts", "microsoft.apimanagement/service"} {
			known, _ := monitor.MetricsOf(typ)
			for _, name := range sortedKeys(known) {
				if !known[name].Exported && strings.Contains(text, strconv.Quote(name)) {
					return refuse(BadRequest, fmt.Sprintf("criteria.allOf[%d].query", i), "query of "+r.ID, "the metric "+name+", which cannot be exported to logs", "one that can", "make it an alert on the metric itself")
				}
			}
		}
	}
	return nil
}

// activityCondition: the first field is the category or narrower, and each leaf
// says what it is compared with (A908).
func activityCondition(_ State, r, _ *Resource) *Error {
	all := r.props("condition.allOf")
	if all.unknown() {
		return nil
	}
	fields := []string{}
	for i, c := range all.list() {
		leaves, path := []value{c}, fmt.Sprintf("condition.allOf[%d]", i)
		if either := c.get("anyOf"); either.known() {
			leaves = either.list()
		}
		for _, leaf := range leaves {
			if leaf.get("equals").absent() == leaf.get("containsAny").absent() && !leaf.hasUnknown() {
				return refuse(BadRequest, path, "condition of "+r.ID, "a field with neither or both of equals and containsAny", "one of them", "set one")
			}
			fields = append(fields, leaf.get("field").text())
		}
	}
	if !slices.Contains(fields, "category") {
		return refuse(BadRequest, "condition", "condition of "+r.ID, "no category", "one of the activity log's categories", "add a condition on the field category")
	}
	return nil
}

// activityScopes: a subscription, groups or resources, of one subscription (A909).
func activityScopes(_ State, r, _ *Resource) *Error {
	scopes, seen := r.props("scopes"), ""
	if len(scopes.list()) == 0 && !scopes.unknown() {
		return refuse(BadRequest, "scopes", "scopes of "+r.ID, "none", "what it watches", "set scopes")
	}
	for i, scope := range scopes.list() {
		if scope.unknown() {
			continue
		}
		subscription := SubscriptionOf(scope.text())
		if subscription == "" || seen != "" && !strings.EqualFold(subscription, seen) {
			return refuse(BadRequest, fmt.Sprintf("scopes[%d]", i), "scope of "+r.ID, strconv.Quote(scope.text()), "scopes of one subscription", "make an alert for each subscription")
		}
		seen = subscription
	}
	return nil
}

// settingCategories: something is sent, each by a category or a group of them,
// and the type has it (A910). Types that are not listed are not judged.
func settingCategories(_ State, r, _ *Resource) *Error {
	parent := ParentOf(r.ID)
	source, listed := monitor.SourceOf(TypeOf(parent))
	enabled := 0
	for i, log := range r.props("logs").list() {
		path := fmt.Sprintf("logs[%d]", i)
		category, group := log.get("category"), log.get("categoryGroup")
		if category.absent() == group.absent() {
			return refuse(BadRequest, path, "log of "+r.ID, "neither or both of category and categoryGroup", "one of them", "set one")
		}
		if log.get("enabled").unknown() || log.get("enabled").flag() {
			enabled++
		}
		switch {
		case !listed:
		case len(source.Logs) == 0:
			return refuse(BadRequest, path, "log of "+r.ID, "a log", "metrics alone: "+TypeOf(parent)+" has no logs", "send the logs of what is below it")
		case category.known() && !slices.ContainsFunc(source.Logs, func(s string) bool { return strings.EqualFold(s, category.text()) }):
			return refuse(BadRequest, path+".category", "log of "+r.ID, strconv.Quote(category.text()), "a category of "+TypeOf(parent)+", nearest is "+closest(category.text(), source.Logs), "correct it")
		}
	}
	for i, metric := range r.props("metrics").list() {
		if metric.get("enabled").unknown() || metric.get("enabled").flag() {
			enabled++
		}
		if listed && !source.Metrics {
			return refuse(BadRequest, fmt.Sprintf("metrics[%d]", i), "metrics of "+r.ID, "some", "none: "+TypeOf(parent)+" has no metrics", "drop them")
		}
	}
	if enabled == 0 && !r.props("logs").unknown() && !r.props("metrics").unknown() {
		return refuse(BadRequest, "logs", "logs and metrics of "+r.ID, "none that is enabled", "at least one", "enable one, or delete the setting")
	}
	return nil
}

// destinations are where a setting can send to, one of each kind.
var destinations = []string{"workspaceId", "storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId"}

// settingDestination: at least one, and the workspace exists (A911).
func settingDestination(s State, r, _ *Resource) *Error {
	if !slices.ContainsFunc(destinations, func(d string) bool { return !r.props(d).absent() }) {
		return refuse(BadRequest, "workspaceId", "destination of "+r.ID, "none", "one of "+strings.Join(destinations, ", "), "set one")
	}
	_, err := s.refer(r, "workspaceId", r.props("workspaceId"), workspaceType)
	return err
}

// settingUnique: a resource has five settings at most, and sends a category to a
// destination once (A912).
func settingUnique(s State, r, _ *Resource) *Error {
	parent, others := ParentOf(r.ID), 0
	for _, key := range sortedKeys(s.Resources) {
		other := s.Resources[key]
		if !isType(other.Type, settingType) || key == Key(r.ID) || Key(ParentOf(other.ID)) != Key(parent) || other.Provisioning == Deleting {
			continue
		}
		others++
		to := r.props("workspaceId").text()
		if to == "" || !strings.EqualFold(to, other.props("workspaceId").text()) {
			continue
		}
		for _, kind := range []string{"logs", "metrics"} {
			for _, a := range r.props(kind).list() {
				for _, b := range other.props(kind).list() {
					if label := a.get("category").text() + a.get("categoryGroup").text(); label != "" && label == b.get("category").text()+b.get("categoryGroup").text() {
						return refuse(Conflict, kind, kind+" of "+r.ID, "data sink "+to+" for "+label+", which "+other.ID+" uses already", "one setting for each category and destination", "send it in that one")
					}
				}
			}
		}
	}
	if others >= monitor.MaxSettings {
		return refuse(BadRequest, "name", "settings of "+parent, strconv.Itoa(others+1), fmt.Sprintf("at most %d", monitor.MaxSettings), "put them together")
	}
	return nil
}

// workbookText: a workbook is named by a GUID and holds JSON with its version and
// items (A913).
func workbookText(_ State, r, _ *Resource) *Error {
	if uuid.Validate(Name(r.ID)) != nil {
		return refuse(BadRequest, "name", "name of "+r.ID, strconv.Quote(Name(r.ID)), "a GUID", "make one that follows from the stack")
	}
	text := r.props("serializedData")
	if !text.known() {
		return nil
	}
	var content struct {
		Version string `json:"version"`
		Items   []any  `json:"items"`
	}
	if err := json.Unmarshal([]byte(text.text()), &content); err != nil || content.Version != "Notebook/1.0" || len(content.Items) == 0 {
		return refuse(BadRequest, "serializedData", "content of "+r.ID, fmt.Sprintf("%.40q", text.text()), "JSON with version Notebook/1.0 and items", "export the workbook and take its serializedData")
	}
	return nil
}

// collectionFlows: a flow goes to destinations that the rule has, and carries
// streams that a source of it sends; the accounts exist (A914).
func collectionFlows(s State, r, _ *Resource) *Error {
	if _, err := s.refer(r, "dataCollectionEndpointId", r.props("dataCollectionEndpointId"), collectorType); err != nil {
		return err
	}
	var to, sent []string
	for i, account := range r.props("destinations.monitoringAccounts").list() {
		to = append(to, account.get("name").text())
		if _, err := s.refer(r, fmt.Sprintf("destinations.monitoringAccounts[%d].accountResourceId", i), account.get("accountResourceId"), monitorType); err != nil {
			return err
		}
	}
	for _, workspace := range r.props("destinations.logAnalytics").list() {
		to = append(to, workspace.get("name").text())
	}
	for _, source := range r.props("dataSources.prometheusForwarder").list() {
		sent = append(sent, source.get("streams").texts()...)
	}
	for i, flow := range r.props("dataFlows").list() {
		for _, name := range flow.get("destinations").texts() {
			if !slices.Contains(to, name) {
				return refuse(BadRequest, fmt.Sprintf("dataFlows[%d].destinations", i), "flow of "+r.ID, strconv.Quote(name), "one of its destinations: "+strings.Join(to, ", "), "correct it")
			}
		}
		for _, name := range flow.get("streams").texts() {
			if name == "Microsoft-PrometheusMetrics" && !slices.Contains(sent, name) {
				return refuse(BadRequest, fmt.Sprintf("dataFlows[%d].streams", i), "flow of "+r.ID, strconv.Quote(name)+", which none of its sources sends", "a stream of a source", "add the source")
			}
		}
	}
	return nil
}

// associationTarget: a rule or an endpoint, one of them, and it exists (A915).
func associationTarget(s State, r, _ *Resource) *Error {
	rule, endpoint := r.props("dataCollectionRuleId"), r.props("dataCollectionEndpointId")
	if rule.absent() == endpoint.absent() {
		return refuse(BadRequest, "dataCollectionRuleId", "association "+r.ID, "neither or both of rule and endpoint", "one of them", "set one")
	}
	if _, err := s.refer(r, "dataCollectionRuleId", rule, collectionType); err != nil {
		return err
	}
	_, err := s.refer(r, "dataCollectionEndpointId", endpoint, collectorType)
	return err
}

// functionWord is the form of a function's name.
var functionWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// functionName: queries can call it, and no other of the workspace has it (A916).
func functionName(s State, r, _ *Resource) *Error {
	name := r.props("functionAlias")
	if !name.known() || name.text() == "" {
		return nil
	}
	if !functionWord.MatchString(name.text()) {
		return refuse(BadRequest, "functionAlias", "function of "+r.ID, strconv.Quote(name.text()), "letters, digits and underscores, not a digit first", "rename it")
	}
	for _, key := range sortedKeys(s.Resources) {
		other := s.Resources[key]
		if isType(other.Type, savedSearchType) && key != Key(r.ID) && Key(ParentOf(other.ID)) == Key(ParentOf(r.ID)) && strings.EqualFold(other.props("functionAlias").text(), name.text()) {
			return refuse(BadRequest, "functionAlias", "function of "+r.ID, strconv.Quote(name.text())+", which is that of "+other.ID, "a name of its own", "rename one")
		}
	}
	return nil
}

// groupScope: one workspace of metrics, and at most a cluster beside it (A917).
func groupScope(s State, r, _ *Resource) *Error {
	scopes, workspaces := r.props("scopes"), 0
	for i, scope := range scopes.list() {
		if scope.unknown() {
			return nil
		}
		typ := strings.ToLower(TypeOf(scope.text()))
		if typ == monitorType {
			workspaces++
		}
		if _, err := s.refer(r, fmt.Sprintf("scopes[%d]", i), scope, typ); err != nil {
			return err
		}
	}
	if workspaces != 1 && !scopes.unknown() {
		return refuse(BadRequest, "scopes", "scopes of "+r.ID, fmt.Sprintf("%d workspaces of metrics", workspaces), "one", "make a group for each")
	}
	return nil
}

// groupRules: a rule alerts or records; one that records has neither severity, nor
// a wait, nor actions; the numbers and the interval are within bounds (A918).
func groupRules(s State, r, _ *Resource) *Error {
	if v := r.props("interval"); v.known() {
		if d, err := duration(v.text()); err != nil || d < monitor.MinRuleInterval || d > monitor.MaxRuleInterval {
			return refuse(BadRequest, "interval", "interval of "+r.ID, strconv.Quote(v.text()), "PT1M to PT15M", "choose one in that range")
		}
	}
	rules := r.props("rules").list()
	if len(rules) > monitor.MaxRules {
		return refuse(BadRequest, "rules", "rules of "+r.ID, strconv.Itoa(len(rules)), fmt.Sprintf("at most %d", monitor.MaxRules), "split the group")
	}
	for i, one := range rules {
		path := fmt.Sprintf("rules[%d]", i)
		alert, record := one.get("alert"), one.get("record")
		if alert.absent() == record.absent() {
			return refuse(BadRequest, path, "rule of "+r.ID, "neither or both of alert and record", "one of them", "set one")
		}
		for _, field := range []string{"severity", "for", "actions"} {
			if !record.absent() && !one.get(field).absent() {
				return refuse(BadRequest, path+"."+field, field+" of "+record.text()+" in "+r.ID, "some", "none: the rule records and alerts nobody", "drop it")
			}
		}
		actions := one.get("actions").list()
		if len(actions) > monitor.MaxRuleActions {
			return refuse(BadRequest, path+".actions", "actions of "+alert.text()+" in "+r.ID, strconv.Itoa(len(actions)), fmt.Sprintf("at most %d", monitor.MaxRuleActions), "put receivers together in a group")
		}
		for j, action := range actions {
			if _, err := s.refer(r, fmt.Sprintf("%s.actions[%d].actionGroupId", path, j), action.get("actionGroupId"), actionGroupType); err != nil {
				return err
			}
		}
	}
	return nil
}

package core

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// componentRetention are the legal retentions of a component, in days.
var componentRetention = []float64{30, 60, 90, 120, 180, 270, 365, 550, 730}

// componentWorkspace: classic components are retired, so a workspace is needed,
// exists, and is never taken away again (A060).
func componentWorkspace(s State, r, old *Resource) *Error {
	v := r.props("WorkspaceResourceId")
	if v.unknown() {
		return nil
	}
	if v.text() == "" {
		return refuse(BadRequest, "WorkspaceResourceId", "workspace of "+r.ID, "nothing", "a workspace, because classic components were retired in 2024", "set workspaceResourceId")
	}
	_, err := s.refer(r, "WorkspaceResourceId", v, workspaceType)
	return err
}

// componentSettings: retention from the list.
func componentSettings(_ State, r, _ *Resource) *Error {
	if n, ok := r.props("RetentionInDays").number(); ok && !slices.Contains(componentRetention, n) {
		return refuse(InvalidParameter, "RetentionInDays", "retention of "+r.ID, strconv.FormatFloat(n, 'f', -1, 64), "one of 30, 60, 90, 120, 180, 270, 365, 550, 730 days", "choose one")
	}
	return nil
}

// completeComponent adds keys and connection string (A064); their host is the
// region's, with the number that Azure would assign left at 0.
func completeComponent(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "Flow_Type", "Bluefield")
	setDefault(props, "Request_Source", "rest")
	setDefault(props, "RetentionInDays", 90.0)
	setDefault(props, "IngestionMode", "LogAnalytics")
	setDefault(props, "publicNetworkAccessForIngestion", "Enabled")
	setDefault(props, "publicNetworkAccessForQuery", "Enabled")
	key, app, region := GUID(r, "instrumentationKey"), GUID(r, "appId"), root(r.Body).get("location").text()
	props["InstrumentationKey"], props["AppId"], props["ApplicationId"], props["Name"] = key, app, Name(r.ID), Name(r.ID)
	props["ConnectionString"] = fmt.Sprintf("InstrumentationKey=%s;IngestionEndpoint=https://%s-0.in.applicationinsights.azure.com/;LiveEndpoint=https://%s.livediagnostics.monitor.azure.com/;ApplicationId=%s", key, region, region, app)
	props["CreationDate"], props["TenantId"] = made, SubscriptionOf(r.ID)
}

// failureAnomalies is how long after a component Azure adds a smart detector
// rule for it, if nobody has (A061).
const failureAnomalies = 10 * time.Minute

const anomaliesEvent = "failure-anomalies"

func expectFailureAnomalies(s *State, r, old *Resource) {
	if old == nil {
		s.Events = append(s.Events, Event{At: s.Now + failureAnomalies, Kind: anomaliesEvent, ID: r.ID})
	}
}

// fire does what Azure does by itself.
func (s *State) fire(e Event) {
	if e.Kind == backgroundEvent {
		s.writeInBackground(e.ID)
		return
	}
	component, ok := s.Find(e.ID)
	if !ok || e.Kind != anomaliesEvent {
		return
	}
	group := GroupOf(component.ID)
	rule := group + "/providers/Microsoft.AlertsManagement/smartDetectorAlertRules/Failure Anomalies - " + Name(component.ID)
	if _, ok := s.Find(rule); ok {
		return
	}
	for _, r := range s.Resources {
		if isType(r.Type, detectorType) && mentions(r.props("scope").v, component.ID) {
			return
		}
	}
	action := group + "/providers/Microsoft.Insights/actionGroups/Application Insights Smart Detection"
	s.byAzure(action, "Microsoft.Insights/actionGroups", map[string]any{
		"location": "global",
		"properties": map[string]any{"groupShortName": "SmartDetect", "enabled": true, "armRoleReceivers": []any{
			map[string]any{"name": "Monitoring Contributor", "roleId": "749f88d5-cbae-40b8-bcfc-e573ddc772fa", "useCommonAlertSchema": true},
			map[string]any{"name": "Monitoring Reader", "roleId": "43d0d8ad-25c7-4714-9337-8ba259a9fe05", "useCommonAlertSchema": true},
		}},
	})
	s.byAzure(rule, "Microsoft.AlertsManagement/smartDetectorAlertRules", map[string]any{
		"location": "global",
		"properties": map[string]any{
			"description": "Failure Anomalies notifies you of an unusual rise in the rate of failed HTTP requests or dependency calls.",
			"state":       "Enabled", "severity": "Sev3", "frequency": "PT1M",
			"detector": map[string]any{"id": "FailureAnomaliesDetector"}, "scope": []any{component.ID},
			"actionGroups": map[string]any{"groupIds": []any{action}},
		},
	})
}

func (s *State) byAzure(id, typ string, body map[string]any) {
	if _, ok := s.Find(id); ok {
		return
	}
	s.Births[Key(id)]++
	r := &Resource{ID: id, Type: typ, Body: body, Generation: 1, Born: s.Births[Key(id)], Provisioning: Succeeded, ByAzure: true}
	r.Etag = etag(r)
	s.Resources[Key(id)] = r
}

// actionGroupRegions can hold an action group; everything else is "global" (A062).
var actionGroupRegions = []string{"global", "swedencentral", "germanywestcentral", "northcentralus", "southcentralus"}

// actionGroupPlace: action groups are global or in one of a few regions (A062).
func actionGroupPlace(_ State, r, _ *Resource) *Error {
	if loc := root(r.Body).get("location"); loc.known() && !slices.Contains(actionGroupRegions, Region(loc.text())) {
		return refuse(LocationNotAvailable, "location", "location of "+r.ID, strconv.Quote(loc.text()), `"global" or one of `+strings.Join(actionGroupRegions[1:], ", "), `set location to "global"`)
	}
	return nil
}

// actionGroupReceivers: names are unique over all kinds, addresses are such.
func actionGroupReceivers(_ State, r, _ *Resource) *Error {
	props, _ := r.Body["properties"].(map[string]any)
	seen := map[string]bool{}
	for _, kind := range sortedKeys(props) {
		if !strings.HasSuffix(kind, "Receivers") {
			continue
		}
		for i, item := range r.props(kind).list() {
			path, name := fmt.Sprintf("%s[%d]", kind, i), item.get("name").text()
			if seen[name] && name != "" {
				return refuse(InvalidParameter, path, "receivers of "+r.ID, "two of the name "+strconv.Quote(name), "names that are unique in the group", "rename one")
			}
			seen[name] = true
			if v := item.get("emailAddress"); kind == "emailReceivers" && v.known() {
				if a, err := mail.ParseAddress(v.text()); err != nil || a.Address != v.text() {
					return refuse(InvalidParameter, path+".emailAddress", "receiver "+name+" of "+r.ID, strconv.Quote(v.text()), "an address such as team@example.org", "correct it")
				}
			}
			if v := item.get("serviceUri"); kind == "webhookReceivers" && v.known() {
				if u, err := url.Parse(v.text()); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
					return refuse(InvalidParameter, path+".serviceUri", "receiver "+name+" of "+r.ID, strconv.Quote(v.text()), "an http(s) address", "correct it")
				}
			}
		}
	}
	return nil
}

func completeActionGroup(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	setDefault(props, "enabled", true)
	for _, kind := range []string{
		"emailReceivers", "smsReceivers", "webhookReceivers", "itsmReceivers", "azureAppPushReceivers", "automationRunbookReceivers",
		"voiceReceivers", "logicAppReceivers", "azureFunctionReceivers", "armRoleReceivers", "eventHubReceivers",
	} {
		setDefault(props, kind, []any{})
	}
	if items, ok := props["emailReceivers"].([]any); ok {
		for _, item := range items {
			if e, ok := item.(map[string]any); ok {
				setDefault(e, "useCommonAlertSchema", false)
				e["status"] = "Enabled"
			}
		}
	}
}

// detectors are the published smart detectors and how often each may run at
// most (A063).
// https://learn.microsoft.com/azure/templates/microsoft.alertsmanagement/smartdetectoralertrules
var detectors = map[string]time.Duration{
	"FailureAnomaliesDetector":                 time.Minute,
	"RequestPerformanceDegradationDetector":    24 * time.Hour,
	"DependencyPerformanceDegradationDetector": 24 * time.Hour,
	"ExceptionVolumeChangedDetector":           24 * time.Hour,
	"TraceSeverityDetector":                    24 * time.Hour,
	"MemoryLeakDetector":                       24 * time.Hour,
}

// detectorRule: a known detector over components, at a legal pace, into action
// groups that exist (A063).
func detectorRule(s State, r, _ *Resource) *Error {
	if loc := root(r.Body).get("location"); loc.known() && Region(loc.text()) != "global" {
		return refuse(LocationNotAvailable, "location", "location of "+r.ID, strconv.Quote(loc.text()), `"global"`, `set location to "global"`)
	}
	id := r.props("detector.id")
	if id.unknown() {
		return nil
	}
	pace, ok := detectors[id.text()]
	if !ok {
		return refuse(BadRequest, "detector.id", "detector of "+r.ID, strconv.Quote(id.text()), "a known one, nearest is "+closest(id.text(), sortedKeys(detectors)), "correct it")
	}
	if v := r.props("frequency"); v.known() {
		if d, err := duration(v.text()); err != nil || d < pace {
			return refuse(BadRequest, "frequency", "frequency of "+r.ID, strconv.Quote(v.text()), fmt.Sprintf("an ISO 8601 duration of %s or more for %s", pace, id.text()), "slow it down")
		}
	}
	scope := r.props("scope")
	if len(scope.list()) == 0 && !scope.unknown() {
		return refuse(BadRequest, "scope", "scope of "+r.ID, "nothing", "one component", "set scope")
	}
	for i, item := range scope.list() {
		if _, err := s.refer(r, fmt.Sprintf("scope[%d]", i), item, componentType); err != nil {
			return err
		}
	}
	for i, item := range r.props("actionGroups.groupIds").list() {
		if _, err := s.refer(r, fmt.Sprintf("actionGroups.groupIds[%d]", i), item, actionGroupType); err != nil {
			return err
		}
	}
	return nil
}

package core

import (
	"strconv"
	"strings"
)

const (
	insightsLogger = "applicationInsights"
	monitorLogger  = "azureMonitor"
	eventHubLogger = "azureEventHub"
)

// loggerTarget: each kind of logger has its credentials, and Azure Monitor none;
// the kind is chosen once, and the resource exists (A560).
func loggerTarget(s State, r, old *Resource) *Error {
	kind, credentials := r.props("loggerType"), r.props("credentials")
	if old != nil {
		if was := old.props("loggerType"); was.known() && kind.known() && was.text() != kind.text() {
			return invalidField("loggerType", "kind of logger "+r.ID, strconv.Quote(kind.text()), strconv.Quote(was.text())+", which it was made with", "make another logger")
		}
	}
	bad := func(got, want string) *Error {
		return invalidField("credentials", "credentials of logger "+r.ID, got, want, "correct them")
	}
	has := func(name string) bool { return credentials.unknown() || !credentials.get(name).absent() }
	switch kind.text() {
	case insightsLogger:
		if !has("instrumentationKey") && !has("connectionString") {
			return bad("neither instrumentationKey nor connectionString", "one of them")
		}
	case eventHubLogger:
		if !has("name") || !has("connectionString") && !has("endpointAddress") {
			return bad("no name, or neither connectionString nor endpointAddress", "the hub's name and a way to it")
		}
	case monitorLogger:
		if credentials.known() {
			return bad("some", "none for Azure Monitor, which the service reaches by itself")
		}
	}
	if v := r.props("resourceId"); kind.text() == insightsLogger && v.text() != "" {
		if _, err := s.refer(r, "resourceId", v, componentType); err != nil {
			return err
		}
	}
	return nil
}

// secretCredentials are those that the service turns into named values (A560).
var secretCredentials = []string{"connectionString", "instrumentationKey"}

// completeLogger answers the name of a secret in place of the secret.
func completeLogger(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "isBuffered", true)
	credentials, ok := props["credentials"].(map[string]any)
	if !ok {
		return
	}
	for _, name := range secretCredentials {
		if text, ok := credentials[name].(string); ok && !strings.HasPrefix(text, "{{") {
			credentials[name] = "{{" + credentialName(r, name) + "}}"
		}
	}
}

func credentialName(logger *Resource, name string) string {
	return "Logger-Credentials--" + secretKey(logger, name)[:24]
}

// loggerCredentials makes the named values that a logger's secrets become.
func loggerCredentials(s *State, r, _ *Resource) {
	for _, name := range secretCredentials {
		own := credentialName(r, name)
		if r.props("credentials."+name).text() == "{{"+own+"}}" {
			s.born(topLevel(r.ID)+"/namedValues/"+secretKey(r, name)[:24], "Microsoft.ApiManagement/service/namedValues", map[string]any{
				"displayName": own, "secret": true, "value": "hidden",
			})
		}
	}
}

// loggerInUse: a logger that a diagnostic names stays (A560).
func loggerInUse(s State, r, with *Resource) *Error {
	var users []*Resource
	for _, other := range s.under(topLevel(r.ID)) {
		if (isType(other.Type, diagnosticType) || isType(other.Type, apiDiagnosticType)) && other.Provisioning != Deleting && Key(loggerOf(other)) == Key(r.ID) {
			users = append(users, other)
		}
	}
	return inUseBy(ValidationError, r, with, users, "delete those diagnostics first")
}

// loggerOf returns the full id of a diagnostic's logger, which may be given below
// the service.
func loggerOf(diagnostic *Resource) string {
	id := diagnostic.props("loggerId").text()
	if strings.HasPrefix(strings.ToLower(id), "/loggers/") {
		id = topLevel(diagnostic.ID) + id
	}
	return id
}

// diagnosticNames are the two diagnostics there are, with the logger of each (A561).
var diagnosticNames = map[string]string{"applicationinsights": insightsLogger, "azuremonitor": monitorLogger}

// diagnosticLogger: a diagnostic has one of two names, and an existing logger of
// that kind; names of operations and metrics are for Application Insights, model
// logs for Azure Monitor (A561, A562).
func diagnosticLogger(s State, r, _ *Resource) *Error {
	kind, ok := diagnosticNames[strings.ToLower(Name(r.ID))]
	if !ok {
		return invalidField("name", "name of diagnostic "+r.ID, strconv.Quote(Name(r.ID)), strings.Join(sortedKeys(diagnosticNames), " or "), "rename it")
	}
	for _, setting := range []struct{ field, only string }{{"operationNameFormat", insightsLogger}, {"metrics", insightsLogger}, {"largeLanguageModel", monitorLogger}} {
		if v := r.props(setting.field); v.known() && v.v != false && kind != setting.only {
			return invalidField(setting.field, setting.field+" of diagnostic "+r.ID, "a setting of "+setting.only, "nothing for "+kind, "drop it")
		}
	}
	v := r.props("loggerId")
	if v.unknown() {
		return nil
	}
	id := loggerOf(r)
	logger, found := s.Find(id)
	_, ours := s.Find(topLevel(r.ID))
	switch {
	case !isType(TypeOf(id), gatewayLoggerType) || Key(topLevel(id)) != Key(topLevel(r.ID)), ours && !found:
		return invalidField("loggerId", "logger of diagnostic "+r.ID, spelt(v), "the id of a logger of the service", "make it first and depend on it")
	case found && logger.props("loggerType").known() && logger.props("loggerType").text() != kind:
		return invalidField("loggerId", "logger of diagnostic "+r.ID, logger.ID+" of kind "+logger.props("loggerType").text(), "one of kind "+kind, "use another logger")
	}
	return nil
}

func completeDiagnostic(_ State, r, _ *Resource) {
	props := object(r.Body, "properties")
	if props == nil {
		return
	}
	setDefault(props, "verbosity", "information")
	setDefault(props, "logClientIp", false)
	if strings.EqualFold(Name(r.ID), "applicationinsights") {
		setDefault(props, "httpCorrelationProtocol", "Legacy")
	}
}

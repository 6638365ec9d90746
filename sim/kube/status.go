package kube

import (
	"fmt"
	"net/http"
	"strings"

	"onedoor/internal/manifest"
)

// Reason is why an API server refuses, as in metav1.Status.
type Reason string

// The reasons that are used here.
const (
	AlreadyExists Reason = "AlreadyExists"
	Forbidden     Reason = "Forbidden"
	Invalid       Reason = "Invalid"
	NotFound      Reason = "NotFound"
	// NoMatch is the client's own: the server has no such kind.
	NoMatch Reason = "NoMatch"
	// Unreachable is the client's own: nobody answers.
	Unreachable Reason = "Unreachable"
	// Timeout is the client's own: what it waits for does not come.
	Timeout Reason = "Timeout"
)

// Status is a refusal.
type Status struct {
	Code    int
	Reason  Reason
	Message string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

// resourceOf returns "deployments.apps", as messages name a kind.
func resourceOf(k manifest.ObjectKey) string {
	plural := strings.ToLower(k.Kind) + "s"
	if kind, ok := manifest.Lookup(k.APIVersion, k.Kind); ok {
		plural = kind.Plural
	}
	if group := k.Group(); group != "" {
		return plural + "." + group
	}
	return plural
}

func alreadyExists(k manifest.ObjectKey) *Status {
	message := fmt.Sprintf("%s %q already exists", resourceOf(k), k.Name)
	if k.APIVersion == ReleaseVersion && k.Kind == ReleaseKind {
		message = "cannot re-use a name that is still in use" // Helm's words (A653)
	}
	return &Status{http.StatusConflict, AlreadyExists, message}
}

func notFound(k manifest.ObjectKey) *Status {
	return &Status{http.StatusNotFound, NotFound, fmt.Sprintf("%s %q not found", resourceOf(k), k.Name)}
}

func noNamespace(name string) *Status {
	return &Status{http.StatusNotFound, NotFound, fmt.Sprintf("namespaces %q not found", name)}
}

func forbidden(k manifest.ObjectKey, why string) *Status {
	return &Status{http.StatusForbidden, Forbidden, fmt.Sprintf("%s %q is forbidden: %s", resourceOf(k), k.Name, why)}
}

func invalid(k manifest.ObjectKey, problems []manifest.Problem) *Status {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return &Status{http.StatusUnprocessableEntity, Invalid, fmt.Sprintf("%s %q is invalid: %s", resourceOf(k), k.Name, strings.Join(lines, "; "))}
}

func noMatch(k manifest.ObjectKey, why string) *Status {
	return &Status{http.StatusNotFound, NoMatch, fmt.Sprintf("no matches for kind %q in version %q: %s", k.Kind, k.APIVersion, why)}
}

// webhook is a refusal by KEDA's admission.
// https://github.com/kedacore/keda/blob/v2.21.0/config/webhooks/validation_webhooks.yaml
func webhook(format string, args ...any) *Status {
	return &Status{http.StatusForbidden, Forbidden, "admission webhook \"vscaledobject.kb.io\" denied the request: " + fmt.Sprintf(format, args...)}
}

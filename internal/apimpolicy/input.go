package apimpolicy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"onedoor/internal/az"
	"onedoor/internal/routing"
)

// Gateway is what the documents are rendered from.
type Gateway struct {
	Directory    string // GUID of the Entra tenant that issues callers' tokens
	Audience     string // of those tokens, as in "api://onedoor"
	ControlPlane string // URL of the batch control plane, told to whoever asks for a batch
	Region       string // of the gateway; decides what a regional tenant may use
	Serving      string // audience of the tokens that models served in the cluster take; "" where there are none
	Plans        []Plan
	Tenants      []Tenant
	Aliases      []routing.Alias
}

// Period is the time after which a quota begins anew, on the calendar and in
// UTC.
type Period string

// The periods.
const (
	Hourly  Period = "Hourly"
	Daily   Period = "Daily"
	Weekly  Period = "Weekly"
	Monthly Period = "Monthly"
	Yearly  Period = "Yearly"
)

// Periods are the legal ones.
// https://learn.microsoft.com/azure/api-management/llm-token-limit-policy
var Periods = []Period{Hourly, Daily, Weekly, Monthly, Yearly}

// Plan is what a tenant buys. It is a product of the gateway, of the same name.
type Plan struct {
	Name            string
	TokensPerMinute int // of each tenant; 0 for no such limit
	Quota           int // tokens of each tenant in a Period; 0 for no such limit
	Period          Period
	Aliases         []string // that may be used
}

// Tenant is one customer of the gateway. It has one subscription, of the same
// name.
type Tenant struct {
	Name         string // counts its tokens
	Plan         string
	Applications []string // client ids of the Entra applications that call for it
	Residency    routing.Residency
	LogPrompts   bool // its calls to LoggedPath are allowed, and logged with what was said
}

// What names may look like. Tables are cut at ";" "=" "," and "|", and their
// keys at "/", so no name has one of them; a deployment's may have "/", since
// it is never a key.
var (
	tenantName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	aliasName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	targetName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$`)
	// backendID is narrower than Azure, which takes it to be an id of a child
	// resource.
	backendID = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,78}[A-Za-z0-9])?$`)
)

// MaxTargets is how many deployments an alias may have: the call is tried on
// each at most once, and each try may take as long as the whole.
const MaxTargets = 8

// Check returns all that is wrong with the values, nil for nothing.
func (g Gateway) Check() error {
	r := &report{}
	r.add(!az.IsGUID(g.Directory), "directory: got %q, want the GUID of an Entra tenant", g.Directory)
	r.add(!isURI(g.Audience), "audience: got %q, want a URI such as api://onedoor, or a GUID: it is the aud claim of callers' tokens", g.Audience)
	r.add(!isHTTPS(g.ControlPlane), "control plane: got %q, want an https URL: callers are sent there", g.ControlPlane)

	aliases := map[string]bool{}
	for _, a := range g.Aliases {
		at := fmt.Sprintf("alias %q", a.Name)
		r.add(!aliasName.MatchString(a.Name), "%s: want letters, digits and . _ - only, at most 64: callers send it in paths", at)
		r.add(aliases[a.Name], "%s: there are two of this name", at)
		aliases[a.Name] = true
		r.add(a.MaxOutputTokens < 0, "%s: got at most %d tokens in an answer, want 1 or more, or 0 to leave it to the model", at, a.MaxOutputTokens)
		r.add(len(a.Targets) == 0, "%s: no deployment serves it", at)
		r.add(len(a.Targets) > MaxTargets, "%s: got %d deployments, want at most %d: each may take as long as the whole call", at, len(a.Targets), MaxTargets)
		for _, t := range a.Targets {
			r.add(!backendID.MatchString(t.Backend), "%s: back end %q: want letters, digits, inner hyphens and underscores only, at most 80", at, t.Backend)
			r.add(!targetName.MatchString(t.Deployment), "%s: deployment %q of back end %q: want letters, digits and . _ : @ / - only, at most 128", at, t.Deployment, t.Backend)
			r.add(t.Kind == routing.Ray && !isURI(g.Serving), "%s: back end %q: got audience %q of its tokens, want a URI such as api://onedoor-serving, or a GUID", at, t.Backend, g.Serving)
			r.add(t.Kind != routing.Azure && t.Kind != routing.External && t.Kind != routing.Ray, "%s: back end %q: got kind %q, want azure, external or ray", at, t.Backend, t.Kind)
		}
	}
	r.add(len(g.Plans) == 0, "plans: none: nobody could call")
	plans := map[string]bool{}
	for _, p := range g.Plans {
		at := fmt.Sprintf("plan %q", p.Name)
		r.add(!tenantName.MatchString(p.Name), "%s: want lower-case letters, digits and hyphens only, at most 63: it names a product", at)
		r.add(plans[p.Name], "%s: there are two of this name", at)
		plans[p.Name] = true
		r.add(p.TokensPerMinute < 0, "%s: got %d tokens per minute, want 1 or more, or 0 for no such limit", at, p.TokensPerMinute)
		r.add(p.Quota < 0, "%s: got a quota of %d tokens, want 1 or more, or 0 for no such limit", at, p.Quota)
		r.add(p.TokensPerMinute <= 0 && p.Quota <= 0, "%s: no limit: want tokens per minute, a quota, or both", at)
		r.add(p.Quota > 0 && !slices.Contains(Periods, p.Period), "%s: got period %q, want one of %v for its quota", at, p.Period, Periods)
		r.add(len(p.Aliases) == 0, "%s: no alias may be used", at)
		for _, a := range p.Aliases {
			r.add(!aliases[a], "%s: alias %q does not exist", at, a)
		}
	}
	tenants, applications := map[string]bool{}, map[string]string{}
	for _, t := range g.Tenants {
		at := fmt.Sprintf("tenant %q", t.Name)
		r.add(!tenantName.MatchString(t.Name), "%s: want lower-case letters, digits and hyphens only, at most 63: it counts tokens and names a subscription", at)
		r.add(tenants[t.Name], "%s: there are two of this name", at)
		tenants[t.Name] = true
		r.add(!plans[t.Plan], "%s: plan %q does not exist", at, t.Plan)
		r.add(!slices.Contains(routing.Residencies, t.Residency), "%s: got residency %q, want one of %v", at, t.Residency, routing.Residencies)
		for _, a := range t.Applications {
			r.add(!az.IsGUID(a), "%s: application %q: want the GUID of an Entra application", at, a)
			other, taken := applications[strings.ToLower(a)]
			r.add(taken, "%s: application %q already calls for tenant %q: a token must name one tenant", at, a, other)
			applications[strings.ToLower(a)] = t.Name
		}
	}
	return errors.Join(r.problems...)
}

// report gathers what is wrong.
type report struct{ problems []error }

func (r *report) add(wrong bool, format string, args ...any) {
	if wrong {
		r.problems = append(r.problems, fmt.Errorf(format, args...))
	}
}

// isURI tells whether s can be an audience: a GUID or an absolute URI, without
// what XML and named values would read otherwise.
func isURI(s string) bool {
	if az.IsGUID(s) {
		return true
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && !strings.ContainsAny(s, "<>&\"'{}@ ")
}

// isHTTPS tells whether s is an https URL of a host, without a login.
func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && !strings.ContainsAny(s, "<>&\"'{}@ \\")
}

// Backends are the back ends that the aliases name, each once, sorted by id. Two
// aliases may share one; a back end that is two different things is a mistake.
func Backends(aliases []routing.Alias) ([]routing.Target, error) {
	byID := map[string]routing.Target{}
	r := &report{}
	for _, a := range aliases {
		for _, t := range a.Targets {
			other, taken := byID[t.Backend]
			r.add(taken && (other.URL != t.URL || other.Deployment != t.Deployment || other.Kind != t.Kind),
				"back end %q is both %s at %s and %s at %s: want one id for each deployment, so that none answers for another's failures",
				t.Backend, other.Deployment, other.URL, t.Deployment, t.URL)
			byID[t.Backend] = t
		}
	}
	out := slices.SortedFunc(maps.Values(byID), func(a, b routing.Target) int { return cmp.Compare(a.Backend, b.Backend) })
	return out, errors.Join(r.problems...)
}

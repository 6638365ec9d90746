package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"onedoor/internal/routing"
	"onedoor/internal/settings"
	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/identity"
)

// serve is what serves an alias for a tenant: its plan must sell it, and its
// deployment must process where the tenant's prompts may be.
func (a *API) serve(tenant, alias string) (settings.Alias, *apierror.Error) {
	s := a.Settings
	known, ok := s.Aliases[alias]
	if !ok {
		return settings.Alias{}, apierror.New(apierror.ModelNotFound, "body.model", "body.model is %q, which takes no batch jobs; yours are: %s. Name the alias, not a deployment", cut(alias), strings.Join(a.aliases(tenant), ", "))
	}
	t := s.Tenants[tenant]
	if !slices.Contains(s.Plans[t.Plan].Aliases, alias) {
		return settings.Alias{}, apierror.New(apierror.ModelNotAllowed, "body.model", "body.model is %q, which plan %q does not sell; yours are: %s", alias, t.Plan, strings.Join(a.aliases(tenant), ", "))
	}
	if !a.keeps(t, alias, known) {
		return settings.Alias{}, apierror.New(apierror.ModelNotAllowed, "body.model", "body.model is %q, whose deployment promises %q, and tenant %q may have its prompts processed %q only; yours are: %s", alias, known.Residency, tenant, t.Residency, strings.Join(a.aliases(tenant), ", "))
	}
	return known, nil
}

// keeps tells whether the alias's deployment keeps the tenant's residency.
func (a *API) keeps(t settings.Tenant, alias string, known settings.Alias) bool {
	target := routing.Target{Kind: routing.Azure, SKU: known.SKU, Region: a.Settings.Region, Residency: routing.Residency(known.Residency)}
	return len(routing.New(alias, a.Settings.Region, target).For(routing.Residency(t.Residency), a.Settings.Region)) > 0
}

// aliases are those that the tenant may use, sorted.
func (a *API) aliases(tenant string) []string {
	t := a.Settings.Tenants[tenant]
	var out []string
	for _, alias := range slices.Sorted(maps.Keys(a.Settings.Aliases)) {
		if slices.Contains(a.Settings.Plans[t.Plan].Aliases, alias) && a.keeps(t, alias, a.Settings.Aliases[alias]) {
			out = append(out, alias)
		}
	}
	return out
}

// modelObject is a model as OpenAI's clients read it.
type modelObject struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func modelOf(alias string) modelObject {
	return modelObject{ID: alias, Object: "model", OwnedBy: "onedoor"}
}

func (a *API) listModels(w http.ResponseWriter, _ *http.Request, by identity.Caller) error {
	var out []modelObject
	for _, alias := range a.aliases(by.Tenant) {
		out = append(out, modelOf(alias))
	}
	return answer(w, http.StatusOK, listOf(out, len(out), func(m modelObject) string { return m.ID }))
}

func (a *API) getModel(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	alias := r.PathValue("id")
	if !slices.Contains(a.aliases(by.Tenant), alias) {
		return apierror.New(apierror.NotFound, "model", "no model %q that takes batch jobs of yours; list them with GET /v1/models", cut(alias))
	}
	return answer(w, http.StatusOK, modelOf(alias))
}

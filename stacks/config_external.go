package stacks

import (
	"net/url"
	"regexp"
	"strings"

	"onedoor/internal/routing"
)

// Providers is the root key "externalProviders": by name, OpenAI-compatible
// services outside Azure. Only tenants who agreed to leave Azure reach them.
type Providers map[string]Provider

// Provider is one service.
type Provider struct {
	BaseURL    string            `json:"baseUrl"`    // https, up to what comes before "/chat/completions"
	SecretName string            `json:"secretName"` // of its API key, in the gateway's vault
	Aliases    map[string]string `json:"aliases"`    // those it serves, each with the provider's name of the model
	Priority   int               `json:"priority"`   // 1 to 100: its place among what Azure bills by the token, the lower first; 0 puts it last
}

const maxProvider = 30

// secretName is Azure's rule for the names of secrets.
// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates
var secretName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,127}$`)

// foreignModel is the form of a provider's name of a model.
var foreignModel = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$`)

func (p *Providers) read(root, text string, report *problems) {
	readEntries(root, text, (*map[string]Provider)(p), report)
}

func (p *Providers) check(report *problems) {
	for _, name := range sortedKeys(*p) {
		provider, key := (*p)[name], "externalProviders."+name
		checkName(report, key, name, maxProvider)
		parsed, err := url.Parse(provider.BaseURL)
		if login := err != nil || parsed.User != nil || parsed.RawQuery != ""; login || parsed.Scheme != "https" || parsed.Hostname() == "" ||
			parsed.Fragment != "" || strings.HasSuffix(parsed.Path, "/") {
			got := any(provider.BaseURL)
			if login { // it may hold a key, which no log must show
				got = nil
			}
			report.bad(key+".baseUrl", got, "an https URL without query, login and slash at the end: prompts and the key travel there", "https://api.example.com/v1")
		}
		if !secretName.MatchString(provider.SecretName) {
			// The value is not shown: it may be the key itself.
			report.bad(key+".secretName", nil, "the name of a secret in the gateway's vault that holds the API key: it must never be in the configuration", name+"-api-key")
		}
		if provider.Priority < 0 || provider.Priority > maxPriority {
			report.bad(key+".priority", provider.Priority, between(0, maxPriority)+", where 0 puts it last", "0")
		}
		if len(provider.Aliases) == 0 {
			report.bad(key+".aliases", nil, "at least one alias that it serves, with its own name of the model", "")
		}
		for _, alias := range sortedKeys(provider.Aliases) {
			if model := provider.Aliases[alias]; !foreignModel.MatchString(model) {
				report.bad(key+".aliases."+alias, model, "the provider's name of the model: letters, digits and . _ : @ / - only, at most 128", "")
			}
		}
	}
}

// targets are what the providers serve, by alias.
func (p Providers) targets() map[string][]routing.Target {
	targets := map[string][]routing.Target{}
	for name, provider := range p {
		for alias, model := range provider.Aliases {
			targets[alias] = append(targets[alias], routing.Target{
				Backend: backendName(name, alias), Kind: routing.External, Deployment: model, URL: provider.BaseURL,
				Residency: routing.Anywhere, Priority: provider.Priority,
			})
		}
	}
	return targets
}

// secrets are the names of the secrets that hold the providers' keys, by back
// end.
func (p Providers) secrets() map[string]string {
	secrets := map[string]string{}
	for name, provider := range p {
		for alias := range provider.Aliases {
			secrets[backendName(name, alias)] = provider.SecretName
		}
	}
	return secrets
}

// backendName is the id of a provider's back end for an alias. It has
// underscores, which those of deployments never have.
func backendName(provider, alias string) string { return "external_" + provider + "_" + alias }

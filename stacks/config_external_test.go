package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A provider gets prompts and a key: where they go must be plain.
func TestProvidersAreChecked(t *testing.T) {
	t.Parallel()
	refuse(t, map[string]refusal{
		"ProviderWithoutSecret": {"externalProviders.partner", with(plainProvider, "secretName", ""), plainProvider, `onedoor:externalProviders.partner.secretName: want the name of a secret in the gateway's vault that holds the API key`},
		"SecretIsAKey":          {"externalProviders.partner", with(plainProvider, "secretName", "sk_live/1"), with(plainProvider, "secretName", "a"), `onedoor:externalProviders.partner.secretName: want the name`},
		"ProviderInTheClear":    {"externalProviders.partner", with(plainProvider, "baseUrl", "http://api.example.com/v1"), with(plainProvider, "baseUrl", "https://api.example.com"), `onedoor:externalProviders.partner.baseUrl: got "http://api.example.com/v1", want an https URL`},
		"ProviderEndsInSlash":   {"externalProviders.partner", with(plainProvider, "baseUrl", "https://api.example.com/v1/"), with(plainProvider, "baseUrl", "https://api.example.com:8443/v1"), `want an https URL without query, login and slash at the end`},
		"ProviderWithQuery":     {"externalProviders.partner", with(plainProvider, "baseUrl", "https://api.example.com/v1?key=1"), nil, `onedoor:externalProviders.partner.baseUrl: want an https URL without query`},
		"ProviderWithLogin":     {"externalProviders.partner", with(plainProvider, "baseUrl", "https://me:secret@api.example.com/v1"), nil, `onedoor:externalProviders.partner.baseUrl: want an https URL without query, login`},
		"ProviderServesNothing": {"externalProviders.partner", with(plainProvider, "aliases", entry{}), nil, `onedoor:externalProviders.partner.aliases: want at least one alias`},
		"ProviderAliasUnknown":  {"externalProviders.partner", with(plainProvider, "aliases", entry{"chta": "model-1"}), with(plainProvider, "aliases", entry{"small": "m/1:2@3"}), `onedoor:externalProviders.partner.aliases: got "chta", want the name of an alias below onedoor:models, nearest is "chat"`},
		"ProviderModelMissing":  {"externalProviders.partner", with(plainProvider, "aliases", entry{"chat": ""}), nil, `onedoor:externalProviders.partner.aliases.chat: got "", want the provider's name of the model`},
		"ProviderPriority":      {"externalProviders.partner", with(plainProvider, "priority", -1), with(plainProvider, "priority", 100), `externalProviders.partner.priority: got -1, want 0 to 100`},
		"ProviderNameMalformed": {"externalProviders.part_ner", plainProvider, nil, `onedoor:externalProviders.part_ner: want a name`},
	})
}

// The gateway calls every back end of a provider with the provider's key.
func TestEveryBackEndOfAProviderHasItsKey(t *testing.T) {
	t.Parallel()
	v := values(t, "dev")
	set(t, v, "externalProviders.partner", with(plainProvider, "aliases", entry{"chat": "m", "small": "n"}))
	cfg, err := Parse("dev", v)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"external_partner_chat": "api-key", "external_partner_small": "api-key"}, cfg.External.secrets())
	for _, targets := range cfg.External.targets() {
		for _, target := range targets {
			assert.Contains(t, cfg.External.secrets(), target.Backend)
		}
	}
}

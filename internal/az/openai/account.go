package openai

import "fmt"

// Kind and Tier are those of an account of Azure OpenAI. The kind AIServices is
// left alone: it has two more host names and surfaces that nothing here uses.
const (
	Kind = "OpenAI"
	Tier = "S0"
)

// EndpointGroup is the part of an account that a private endpoint connects.
// https://learn.microsoft.com/azure/private-link/private-endpoint-overview
const EndpointGroup = "account"

// MaxDeployments is the limit of one account.
// https://learn.microsoft.com/azure/ai-foundry/openai/quotas-limits
const MaxDeployments = 32

// MaxOutputTokens is the longest answer that a model of the catalogue can give.
// https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/models-sold-directly-by-azure
const MaxOutputTokens = 128_000

// LogCategories are the logs of an account that say who did what. None holds a
// prompt or an answer.
// https://learn.microsoft.com/azure/azure-monitor/reference/supported-logs/microsoft-cognitiveservices-accounts-logs
var LogCategories = []string{"Audit", "RequestResponse", "Trace"}

// Endpoint is the URL of the account with that custom subdomain, without a slash
// at the end. Only by this name do tokens, private endpoints and batch jobs work.
// https://learn.microsoft.com/azure/ai-services/cognitive-services-custom-subdomains
func Endpoint(subdomain string) string { return fmt.Sprintf("https://%s.openai.azure.com", subdomain) }

// URL is where the account's operations are, in the shape without a version of
// the API: "/chat/completions" and its like follow.
// https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
func URL(subdomain string) string { return Endpoint(subdomain) + "/openai/v1" }

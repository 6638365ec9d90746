package stacks

import (
	"regexp"

	"onedoor/internal/az"
)

// Base is the root key "base": where the stack lives and whose it is.
type Base struct {
	SubscriptionID string         `json:"subscriptionId"` // GUID; the provider refuses any other subscription
	TenantID       string         `json:"tenantId"`       // GUID of the Entra tenant whose tokens are accepted
	Location       string         `json:"location"`       // region in its short form, as in "swedencentral"
	Environment    az.Environment `json:"environment"`    // dev or prod; prod protects and closes
	Generation     int            `json:"generation"`     // 1 to 99; raised to rebuild under new names while Azure reserves the old ones
	Owner          string         `json:"owner"`          // 1 to 256 characters, the limit of a tag's value
	CostCentre     string         `json:"costCentre"`     // 1 to 256 characters
}

var defaultBase = Base{Environment: az.Dev, Generation: 1}

// maxTagValue is Azure's limit, in characters.
// https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources
const maxTagValue = 256

// shortLocation is the form of a region's short name.
var shortLocation = regexp.MustCompile(`^[a-z]{2,}[a-z0-9]*$`)

func (b *Base) check(report *problems) {
	if !az.IsGUID(b.SubscriptionID) {
		report.bad("base.subscriptionId", b.SubscriptionID, "the GUID of the subscription to deploy to", "11111111-2222-3333-4444-555555555555")
	}
	if !az.IsGUID(b.TenantID) {
		report.bad("base.tenantId", b.TenantID, "the GUID of the Entra tenant", "66666666-7777-8888-9999-000000000000")
	}
	if !shortLocation.MatchString(b.Location) {
		report.bad("base.location", b.Location, "a region's short name, lower-case without blanks", "swedencentral")
	}
	if b.Environment != az.Dev && b.Environment != az.Prod {
		report.bad("base.environment", b.Environment, oneOf(az.Dev, az.Prod), string(az.Dev))
	}
	if b.Generation < 1 || b.Generation > 99 {
		report.bad("base.generation", b.Generation, "1 to 99: it becomes part of every name from 2 on", "1")
	}
	for _, tag := range []struct{ key, value, example string }{
		{"base.owner", b.Owner, "platform@example.com"},
		{"base.costCentre", b.CostCentre, "cc-1234"},
	} {
		if n := len([]rune(tag.value)); n < 1 || n > maxTagValue {
			report.bad(tag.key, tag.value, "1 to 256 characters: every resource carries it as a tag", tag.example)
		}
	}
}

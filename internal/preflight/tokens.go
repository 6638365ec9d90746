package preflight

import (
	"context"

	"onedoor/internal/azread"
)

// apiServers is the application that API servers of AKS take tokens for.
// https://learn.microsoft.com/azure/aks/kubelogin-authentication
const apiServers = "6dae42f8-4368-4678-94ff-3960e28e3630"

// audiencesOfAzure are those that the platform's programs ask tokens for.
var audiencesOfAzure = []string{
	"https://cognitiveservices.azure.com", "https://servicebus.azure.net", "https://storage.azure.com", "https://vault.azure.net",
}

// tokens judges the audiences.
func (a *asking) tokens(ctx context.Context) {
	wanted := append(append([]string{}, audiencesOfAzure...), a.Audiences...)
	if a.Cluster != nil {
		wanted = append(wanted, apiServers)
	}
	for _, audience := range wanted {
		err := a.Azure.Token(ctx, audience)
		switch {
		case azread.IsNoAudience(err):
			a.Judged(TokenForAudience)
			a.Found(TokenForAudience, audience, "the directory has no application of this audience")
		case err != nil:
			a.NotChecked(audience, "no token: "+azread.Reason(err), TokenForAudience)
		default:
			a.Judged(TokenForAudience)
		}
	}
}

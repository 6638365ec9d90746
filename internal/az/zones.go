package az

import "fmt"

// The private DNS zones of private endpoints.
// https://learn.microsoft.com/azure/private-link/private-endpoint-dns
const (
	ZoneOpenAI            = "privatelink.openai.azure.com"
	ZoneCognitiveServices = "privatelink.cognitiveservices.azure.com"
	ZoneAIServices        = "privatelink.services.ai.azure.com"
	ZoneServiceBus        = "privatelink.servicebus.windows.net"
	ZoneBlob              = "privatelink.blob.core.windows.net"
	ZoneTable             = "privatelink.table.core.windows.net"
	ZoneVault             = "privatelink.vaultcore.azure.net"
	ZoneRegistry          = "privatelink.azurecr.io"
)

// ZoneKubernetes is the zone of private API servers in location.
func ZoneKubernetes(location string) string {
	return fmt.Sprintf("privatelink.%s.azmk8s.io", location)
}

// EndpointZones are the zones that the platform's private endpoints register
// in.
func EndpointZones(location string) []string {
	return []string{
		ZoneOpenAI, ZoneCognitiveServices, ZoneAIServices, ZoneServiceBus, ZoneBlob, ZoneTable, ZoneVault, ZoneRegistry,
		ZoneKubernetes(location),
	}
}

package flows

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

// The gateway leaves Azure where a model is served outside, and nowhere else.
func TestOnlyProvidersOpenTheInternetToTheGateway(t *testing.T) {
	t.Parallel()
	for name, s := range sites(t) {
		own := s.Plan.Subnet(netplan.Gateway).Prefix.String()
		assert.False(t, opens(s, netplan.Gateway, Outbound, own, "Internet", "443", TCP), name)
		s.Providers = true
		assert.True(t, opens(s, netplan.Gateway, Outbound, own, "Internet", "443", TCP), name)
		assert.False(t, opens(s, netplan.Gateway, Outbound, own, "Internet", "22", TCP), name)
	}
}

// Workers that are held to names reach a gateway on the internet by its own, and
// one inside by its address.
func TestWorkersReachAGatewayOnTheInternetByName(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic external"]
	hosts := func(namespace string) []string {
		var out []string
		for _, r := range PodRules(s, namespace) {
			out = append(out, r.Hosts...)
		}
		return out
	}
	s.PublicGateway = "apim-x.azure-api.net"
	assert.NotContains(t, hosts(kube.Workers), s.PublicGateway, "without names they reach all of the internet")
	s.Hostnames = true
	assert.Contains(t, hosts(kube.Workers), "apim-x.azure-api.net")
	assert.NotContains(t, hosts(kube.Batch), "apim-x.azure-api.net", "the control plane calls no model")
	s.PublicGateway = ""
	for _, host := range hosts(kube.Workers) {
		assert.NotContains(t, host, "gateway")
		assert.NotEmpty(t, host)
	}
}

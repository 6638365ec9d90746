package flows

import (
	"net/netip"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/az/netplan"
	"onedoor/internal/kube"
)

var podNamespaces = []string{kube.Batch, kube.Edge, kube.KubeRay, kube.Serving, kube.Workers}

// podRule is the rule of a row, which must be there.
func podRule(t *testing.T, s Site, namespace string, direction Direction, row string) PodRule {
	t.Helper()
	rules := PodRules(s, namespace)
	i := slices.IndexFunc(rules, func(r PodRule) bool { return r.Direction == direction && strings.HasPrefix(r.Name, row) })
	require.GreaterOrEqual(t, i, 0, "%s has no rule %s", namespace, row)
	return rules[i]
}

// Pods reach endpoints of models through their own rows alone.
func TestOnlyTheControlPlanesPodsReachTheBatchAccount(t *testing.T) {
	t.Parallel()
	for name, s := range sites(t) {
		batch, models := s.Plan.Subnet(netplan.EndpointsBatch).Prefix, s.Plan.Subnet(netplan.EndpointsModels).Prefix
		for _, namespace := range podNamespaces {
			reached := []netip.Prefix{}
			for _, r := range PodRules(s, namespace) {
				for _, text := range r.Prefixes {
					prefix := netip.MustParsePrefix(text)
					held := slices.ContainsFunc(r.Except, func(e string) bool { return netip.MustParsePrefix(e).Contains(batch.Addr()) })
					if r.Direction == Outbound && !held && (prefix.Overlaps(batch) || prefix.Overlaps(models)) {
						reached = append(reached, prefix)
					}
				}
			}
			if namespace == kube.Batch {
				assert.Equal(t, []netip.Prefix{batch}, reached, name)
			} else {
				assert.Empty(t, reached, "%s: %s", name, namespace)
			}
		}
	}
}

// A network of public addresses is no internet either.
func TestTheInternetIsNotTheNetwork(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic external"]
	s.Plan.Peers = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("198.18.0.0/15")}
	rule := podRule(t, s, kube.Workers, Outbound, "f73-")
	assert.Equal(t, []string{"0.0.0.0/0"}, rule.Prefixes)
	for _, inside := range []string{"10.40.11.4", "10.0.0.4", "198.19.0.1", "10.244.3.3", "169.254.169.254", "168.63.129.16", "172.20.0.1", "192.168.1.1"} {
		assert.True(t, slices.ContainsFunc(rule.Except, func(e string) bool { return netip.MustParsePrefix(e).Contains(netip.MustParseAddr(inside)) }), inside)
	}
	assert.Len(t, rule.Except, len(notInternet)+1, "what another covers is not repeated")
}

func TestHostNamesReplaceTheInternet(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	for _, namespace := range podNamespaces {
		for _, hostnames := range []bool{true, false} {
			s.Hostnames = hostnames
			for _, r := range PodRules(s, namespace) {
				assert.False(t, hostnames && slices.Contains(r.Prefixes, "0.0.0.0/0"), "%s: %s", namespace, r.Name)
				assert.False(t, !hostnames && len(r.Hosts) > 0, "%s: %s", namespace, r.Name)
			}
		}
	}
}

// The control plane sends its events to a host of Application Insights, whose number
// nobody knows before the resource exists; the nodes' rules let it out by a tag.
func TestEventsHaveAWayOut(t *testing.T) {
	t.Parallel()
	for name, s := range sites(t) {
		s.Hostnames = true
		match, err := path.Match(podRule(t, s, kube.Batch, Outbound, "f72-").Hosts[0], "westeurope-5.in.applicationinsights.azure.com")
		require.NoError(t, err)
		assert.True(t, match, name)
		s.Hostnames = false
		assert.Equal(t, []string{"0.0.0.0/0"}, podRule(t, s, kube.Batch, Outbound, "f73-").Prefixes, name)
		assert.True(t, slices.ContainsFunc(Rules(s, netplan.BatchNodes), func(r Rule) bool {
			return r.Direction == Outbound && r.Allow && slices.Contains(r.Destinations, "AzureMonitor") && slices.Contains(r.Ports, "443")
		}), name)
	}
}

// A load balancer answers on one port, the pods behind it on another.
func TestDoorsHaveTheirPodsPort(t *testing.T) {
	t.Parallel()
	s := sites(t)["classic"]
	assert.Equal(t, []string{DoorPort}, podRule(t, s, kube.Batch, Inbound, "f50-").Ports.Numbers)
	assert.Equal(t, []string{"443", DoorPort}, podRule(t, s, kube.Workers, Outbound, "f51-").Ports.Numbers)
	called := podRule(t, s, kube.Batch, Inbound, "f51-")
	assert.Equal(t, []string{kube.Workers}, called.Namespaces)
	assert.Empty(t, called.Prefixes, "calls from pods never show an address")
	assert.Equal(t, []string{s.Plan.Subnet(netplan.Gateway).Prefix.String()}, podRule(t, s, kube.Edge, Inbound, "f31-").Prefixes)
}

// Names of policies are made of these.
func TestPodRulesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for where, s := range sites(t) {
		for _, s.Environment = range []az.Environment{az.Dev, az.Prod} {
			for _, namespace := range podNamespaces {
				seen := map[string]bool{}
				for _, r := range PodRules(s, namespace) {
					name := string(r.Direction) + r.Name
					assert.False(t, seen[name], "%s: %s", where, name)
					seen[name] = true
					assert.Regexp(t, `^f\d\d-[a-z0-9-]+$`, r.Name)
					assert.NotEmpty(t, r.Why)
					assert.NotZero(t, len(r.Prefixes)+len(r.Namespaces)+len(r.Hosts)+len(r.Entity), r.Name)
				}
			}
		}
	}
}

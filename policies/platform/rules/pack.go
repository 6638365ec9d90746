// Package rules is the policy pack platform: identity, network, data, cluster,
// workload and capacity. Who may use which door is the pack batchdoor's.
package rules

import "onedoor/internal/policypack"

// Version of the pack; policypack.Pack says what it means.
const Version = "1.0.0"

// New is the pack with its default settings.
func New() policypack.Pack {
	s := defaults()
	pack := policypack.Pack{
		Name: "platform", Version: Version,
		Description: "Identity, network, data, cluster, workload and capacity rules of the platform.",
	}
	for _, family := range [][]policypack.Rule{
		accounts(s), deployments(s), gateway(s), apis(), policies(), bus(s), storage(s), vaults(s), cluster(s), pools(), federation(s), patches(s),
		network(), namespaces(), logs(), alerts(), pods(s), releases(s), capacityOfQueues(), capacityOfModels(), scalers(), budget(), manifests(), {s.rule()},
	} {
		pack.Rules = append(pack.Rules, family...)
	}
	return pack
}

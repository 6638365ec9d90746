// Package rules is the policy pack batchdoor: nobody but the control plane
// submits batch jobs, and nobody but the gateway calls models. The pack can be
// used on any stack; its settings say which names the doors have there.
package rules

import "onedoor/internal/policypack"

// Version of the pack; policypack.Pack says what it means.
const Version = "1.0.0"

// New is the pack with its default settings.
func New() policypack.Pack {
	s := defaults()
	pack := policypack.Pack{
		Name: "batchdoor", Version: Version,
		Description: "Only the control plane submits batch jobs, only the gateway calls models.",
	}
	for _, family := range [][]policypack.Rule{deployments(s), roles(s), gateway(s), network(s), endpoints(s), nodes(s), ray(s), storage(s), hiddenWays(), {s.rule()}} {
		pack.Rules = append(pack.Rules, family...)
	}
	return pack
}

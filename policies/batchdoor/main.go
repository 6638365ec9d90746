// Command batchdoor is the policy pack of the same name, for
// pulumi preview --policy-pack policies/batchdoor.
package main

import (
	"onedoor/internal/policypack"
	"onedoor/policies/batchdoor/rules"
)

func main() { policypack.Run(rules.New()) }

// Command platform is the policy pack of the same name, for
// pulumi preview --policy-pack policies/platform.
package main

import (
	"onedoor/internal/policypack"
	"onedoor/policies/platform/rules"
)

func main() { policypack.Run(rules.New()) }

// Command onedoor is the Pulumi program. The command line that previews it
// without a cloud is cmd/onedoor.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"onedoor/stacks"
)

func main() {
	pulumi.Run(stacks.Run)
}

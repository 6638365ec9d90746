// Command provider is Pulumi's provider for Kubernetes.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// version is what the provider says it is: that of the SDK which the project uses.
// The module has no tags; it is the last commit that the Go module proxy knows.
const version = "4.32.0"

func main() {
	// Schema and mapping serve generators of code alone.
	provider.Serve("kubernetes", version, []byte("{}"), []byte("{}"))
}

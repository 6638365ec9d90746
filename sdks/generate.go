// Package sdks is the folder of the slim Azure SDKs: Go modules under the
// official import paths of pulumi-azure-native-sdk, for the resource types that
// this program uses alone. The official modules need minutes and gigabytes to
// compile. The root's go.mod puts the slim ones in their place with replace.
//
// All of it is generated: arguments are field for field those of the official
// SDK, outputs are the listed ones. To use another type or output, add it to
// tools/sdkgen/data/resources.txt and run go generate ./sdks. This package
// itself is empty.
package sdks

//go:generate go run -C ../tools/sdkgen . generate

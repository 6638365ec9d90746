// Command sdkgen makes the slim Go SDKs in the folder sdks: Go modules for the
// Azure resource types that this program uses, under the official import paths,
// written by Pulumi's own generator from the provider's schema.
//
//	sdkgen generate [-out DIR] [-data DIR]
//
// writes the modules from the committed inputs alone. It needs no network, and
// equal inputs give equal bytes. Files in DIR's sub-folders that it did not
// write are removed. A plain go run from this folder writes to ../../sdks.
//
//	sdkgen update [-out DIR] [-data DIR] VERSION
//
// takes another version of the provider, or the same version after a new type
// was listed: it fetches the provider's Node.js SDK with npm, rebuilds
// data/schema.json from it, generates, and prints the commands that bring the
// root's go.mod in line.
//
// The inputs are in the folder data:
//
//	resources.txt  the types in use, and the outputs that are read of each
//	schema.json    the schema of these and of more types, and the one place that pins the provider's version
//	floats.txt     the numbers of the schema that are not integers
package main

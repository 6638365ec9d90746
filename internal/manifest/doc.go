// Package manifest checks Kubernetes objects without a cluster: what the API
// server, and the admission of the operators that this platform installs, would
// refuse. Objects are plain JSON values. What is not known yet, in a preview, is
// Unknown, and no rule speaks about it.
//
// Checks are strict where Kubernetes is lenient: a field that does not exist is
// refused, as kubectl does with --validate=strict. What depends on other objects,
// such as whether a namespace exists, is left to who knows them.
package manifest

//go:generate go run -C ../../tools/crdgen .

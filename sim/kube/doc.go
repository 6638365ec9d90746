// Package kube decides what the API servers of the embedded Azure's managed
// clusters answer: a pure function from a state of the core and an operation to
// a state and an answer. It knows namespaces, admission, the kinds that add-ons
// and charts bring, and what the server writes into objects. It runs no pods:
// what is accepted is ready at once (A612).
//
// What an object must look like by itself is for internal/manifest to say.
package kube

// Package judges asks real programs about what the stacks declare: the API server
// and the controllers of Kubernetes, Pulumi's provider for Kubernetes, and KEDA.
// Azure stays simulated, and there are no machines: a stand-in says that pods run.
//
// The programs are built by tools/judges, which takes its time the first time, so
// the tests have a build tag: go test -tags judges ./tests/judges/...
package judges

// Package crash holds the test that kills the control plane over and over: not once,
// as the tests of its own packages do, but again while it recovers, with callers who
// are in the middle of a request and do what a caller can do, which is to ask again.
package crash

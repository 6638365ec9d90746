// Package sim is the embedded Azure: it runs programs and clients that speak to
// Azure without one.
//
// The package core decides everything: a pure function from state and operation
// to state and answer. This package wraps it, in three ways over one state:
//
//   - providers over gRPC, as the Pulumi engine attaches them (Providers),
//   - an ARM-shaped HTTP endpoint for real Azure clients (ARM),
//   - a file that survives the process (Open).
//
// Time is virtual. A write is accepted at once and ends minutes later on the
// cloud's own clock, which moves on only when nobody is busy; so what overlaps
// and what waits can be read from Log, and a run takes no real minutes.
//
// It is not Azure: what it knows stands in ASSUMPTIONS.md, each claim with its
// source and its test. Nothing in Azure is ever touched.
package sim

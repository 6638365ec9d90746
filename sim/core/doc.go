// Package core is the embedded Azure without any wire: one pure function from
// a state and an operation to the next state and an answer.
//
// Nothing here reads a clock, draws a random number or touches a file. Time is
// virtual: an operation is accepted at State.Now and ends a fixed span later;
// Advance moves the clock. Whoever wraps the core (gRPC providers, an HTTP
// endpoint) decides when it moves.
//
// Each behaviour cites its number in ../ASSUMPTIONS.md, where the claim, its
// source and the test that shows it are written down.
package core

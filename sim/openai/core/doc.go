// Package core is the simulated data plane of Azure OpenAI without any wire:
// one pure function, Apply, from a state and a request to the next state and an
// answer, and Advance, which moves the clock.
//
// Nothing here reads a clock, draws a random number or touches a file. Time is
// virtual. What files hold is scanned line by line while it comes in (Scanner)
// and written elsewhere; the state keeps what a scan found. Where content must
// be written or removed, Apply and Advance say so by effects, which whoever
// wraps the core carries out.
//
// Each behaviour cites its number in ../../ASSUMPTIONS.md, where the claim, its
// source and the test that shows it are written down.
package core

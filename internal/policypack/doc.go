// Package policypack serves a set of rules as a Pulumi policy pack: it speaks the
// engine's analyzer protocol itself, so that severity, framework, remedy and
// "not applicable" reach the engine, and writes down every judgement with its
// evidence. It owns what rules have in common: how a resource is read, what a
// judgement is, levels, configuration, the process. It holds no rule, and knows
// nothing of Azure or Kubernetes.
//
// A judgement has one of four states here: pass, fail, not-applicable and
// not-checked; whoever reads the results adds waived. Not-checked is what a
// preview cannot know; it never counts as pass.
//
// In a first preview the engine has no outputs, so a pack keeps the inputs of
// every resource it analysed, and rules over the whole stack read inputs first
// and outputs second.
package policypack

// Package aks holds Azure's rules for AKS clusters and node pools as plain data
// and pure checks: VM sizes, MIG slices, taints and tolerations, versions, what
// cannot change in place, and which combinations Azure refuses. It declares
// nothing and knows no Pulumi types, so configuration checks, the simulator and
// policy rules can all use it. What is not known before anything exists (which
// zones a region offers a size in, what a subnet's range is) is an input; where
// it is missing, the rules that need it stay silent.
//
// Rules have ids. C1 to C26 are combinations that Azure refuses, E1 is a value
// that the API's own schema refuses, and P1 to P3 are stricter rules of this
// project, which Azure itself does not enforce. An id names the method or
// function that checks it in a doc comment, with its source.
//
// Unless a comment says otherwise, sources were read in the state of
// 2026-08-21; "API" is the published schema of Microsoft.ContainerService
// 2025-01-01:
// https://learn.microsoft.com/azure/templates/microsoft.containerservice/2025-01-01/managedclusters/agentpools
package aks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one reason why Azure would refuse a cluster or pool, or why this
// project does.
type Problem struct {
	Rule  string // "C12"
	Field string // Go path of what is wrong: "Min" of a pool, "Network.PodCIDR" or "Pools[1].Min" of a cluster
	Got   string // what it holds, "" when it is absent
	Want  string // what it must be, and why
}

// String is the problem in one line.
func (p Problem) String() string {
	if p.Got == "" {
		return fmt.Sprintf("%s: want %s [%s]", p.Field, p.Want, p.Rule)
	}
	return fmt.Sprintf("%s: got %s, want %s [%s]", p.Field, p.Got, p.Want, p.Rule)
}

// Ours tells whether the rule is one of this project, which Azure does not
// enforce.
func (p Problem) Ours() bool { return strings.HasPrefix(p.Rule, "P") }

// Pool is the index in Cluster.Pools of the pool that the problem of a cluster
// is about, and the path below it. It is false for a problem of the cluster
// itself.
func (p Problem) Pool() (index int, field string, ok bool) {
	rest, ok := strings.CutPrefix(p.Field, "Pools[")
	if !ok {
		return -1, p.Field, false
	}
	digits, field, ok := strings.Cut(rest, "].")
	index, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return -1, p.Field, false
	}
	return index, field, true
}

// report gathers problems.
type report struct {
	list []Problem
}

func (r *report) add(rule, field, got, want string, args ...any) {
	r.list = append(r.list, Problem{rule, field, got, fmt.Sprintf(want, args...)})
}

// sorted are the problems without repetitions: those of the cluster, then those
// of its pools in the order of the pools, each in the order of the fields.
func (r *report) sorted() []Problem {
	slices.SortFunc(r.list, func(a, b Problem) int {
		ai, af, _ := a.Pool()
		bi, bf, _ := b.Pool()
		return cmp.Or(cmp.Compare(ai, bi), cmp.Compare(af, bf), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Want, b.Want), cmp.Compare(a.Got, b.Got))
	})
	return slices.Compact(r.list)
}

// oneOf refuses, by rule E1, a value outside its enumeration. An absent value is
// right where the API has a default for it.
func oneOf[T ~string](r *report, field string, value T, legal ...T) {
	if value != "" && !slices.Contains(legal, value) {
		r.add("E1", field, quote(value), "%s", choice(legal))
	}
}

// choice writes the legal values of an enumeration.
func choice[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return "one of " + strings.Join(words, ", ")
}

// quote writes a text as a problem shows it, nothing for an absent one.
func quote[T ~string](s T) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(string(s))
}

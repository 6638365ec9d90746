package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one reason why a request cannot be planned.
type Problem struct {
	Key  string `json:"key"` // vLLM's argument ("max_model_len"), or "vm", "mig", "model", "vllm", "concurrency"
	Got  string `json:"got"`
	Want string `json:"want"`          // what is allowed, and why
	Fix  string `json:"fix,omitempty"` // "" where Want says it
}

func (p Problem) Error() string {
	text := fmt.Sprintf("%s: got %s, want %s", p.Key, p.Got, p.Want)
	if p.Fix != "" {
		text += "\n    fix: " + p.Fix
	}
	return text
}

// report gathers problems.
type report struct{ list []Problem }

func (r *report) add(key, got, want, fix string) {
	r.list = append(r.list, Problem{key, got, want, fix})
}

// err is all problems in the order of their keys, nil when there are none.
func (r *report) err() error {
	slices.SortStableFunc(r.list, func(a, b Problem) int { return cmp.Compare(a.Key, b.Key) })
	var all []error
	for _, p := range r.list {
		all = append(all, p)
	}
	return errors.Join(all...)
}

// Problems are those that an error of Make or Rank joins.
func Problems(err error) []Problem {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var all []Problem
	for _, e := range joined.Unwrap() {
		if p, ok := errors.AsType[Problem](e); ok {
			all = append(all, p)
		}
	}
	return all
}

// choice writes the legal values of an enumeration.
func choice[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return "one of " + strings.Join(words, ", ")
}

func quote[T ~string](s T) string { return strconv.Quote(string(s)) }

package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Outcome is how an attempt ended.
type Outcome string

// The outcomes.
const (
	RefusedByNetwork Outcome = "refused by the network" // no connection, or no address
	RefusedByService Outcome = "refused by the service" // a connection, and an answer that is a refusal
	GotThrough       Outcome = "got through"            // an answer that is none
	Unclear          Outcome = "not known how it ended" // the Job did not run to its end
)

// Attempt is one connection that was tried from inside the cluster.
type Attempt struct {
	Place   string  `json:"place"`   // as in "onedoor-workers/text"
	As      string  `json:"as"`      // service account
	Target  string  `json:"target"`  // host name
	Control bool    `json:"control"` // it must connect: if it does not, the place's other attempts prove nothing
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"`
}

// Prober tries connections.
type Prober interface {
	// Try opens a connection to https://host from a pod in the place.
	Try(ctx context.Context, place Place, host string) (outcome Outcome, detail string)
}

// parallelWays is how many Jobs run at the same time: each takes a place on a node
// that belongs to a workload.
const parallelWays = 4

// ways tries what must be refused.
func (v *verifying) ways(ctx context.Context) {
	if len(v.Places) == 0 || len(v.Accounts) == 0 {
		return
	}
	if v.Prober == nil {
		v.NotChecked("cluster", "no ways were tried: name an image that has curl with --probe-image", WaysRefused)
		return
	}
	var group errgroup.Group
	group.SetLimit(parallelWays)
	for _, place := range v.Places {
		targets := []Attempt{{Target: v.Gateway, Control: true}}
		for _, account := range v.Accounts {
			targets = append(targets, Attempt{Target: account.Host})
		}
		for _, attempt := range targets {
			group.Go(func() error {
				attempt.Place, attempt.As = place.String(), place.Account
				attempt.Outcome, attempt.Detail = v.Prober.Try(ctx, place, attempt.Target)
				v.say("from %s to %s: %s", attempt.Place, attempt.Target, attempt.Outcome)
				v.mu.Lock()
				defer v.mu.Unlock()
				v.attempts = append(v.attempts, attempt)
				return nil
			})
		}
	}
	_ = group.Wait() // attempts report, they do not fail
	slices.SortFunc(v.attempts, func(a, b Attempt) int {
		return cmp.Or(strings.Compare(a.Place, b.Place), strings.Compare(a.Target, b.Target))
	})
	v.judgeWays()
}

// judgeWays compares the attempts with what must be. A refusal proves something only
// where the same pod could connect to what it may.
func (v *verifying) judgeWays() {
	works := map[string]bool{}
	for _, a := range v.attempts {
		if a.Control {
			works[a.Place] = a.Outcome == RefusedByService || a.Outcome == GotThrough
		}
	}
	for _, a := range v.attempts {
		subject := fmt.Sprintf("%s to %s", a.Place, a.Target)
		switch {
		case a.Control && !works[a.Place]:
			v.NotChecked(subject, fmt.Sprintf("the gateway, which the place may reach, could not be (%s): refusals from there prove nothing", cmp.Or(a.Detail, string(a.Outcome))), WaysRefused)
		case a.Control:
		case a.Outcome == Unclear:
			v.NotChecked(subject, a.Detail, WaysRefused)
		case a.Outcome == RefusedByNetwork && works[a.Place]:
			v.Judged(WaysRefused)
		case a.Outcome != RefusedByNetwork:
			v.Judged(WaysRefused)
			v.Found(WaysRefused, subject, "connects as service account %s: %s, want refused by the network (%s)", a.As, a.Outcome, a.Detail)
		}
	}
}

package main

import (
	"fmt"

	"onedoor/internal/engine"
	"onedoor/internal/policypack/results"
)

// excused is a failure with its waiver, also with one that does not count.
type excused struct {
	Rule     string `json:"rule"`
	Resource string `json:"resource"` // URN
	Waiver   string `json:"waiver"`   // its id
	Owner    string `json:"owner"`
	Expires  string `json:"expires"`        // the last day
	Void     string `json:"void,omitempty"` // why it does not count, as "expired"
}

// excusedIn are the failures of a document that have a waiver, in its order.
func excusedIn(d *results.Document) []excused {
	var out []excused
	for _, r := range d.Results {
		if w := r.Waiver; w != nil {
			out = append(out, excused{r.Rule, r.Resource, w.ID, w.Owner, w.Expires, w.Void})
		}
	}
	return out
}

func (e excused) String() string {
	state := "waived"
	if e.Void != "" {
		state = "not waived (" + e.Void + ")"
	}
	return fmt.Sprintf("%s: %s of %s by %s until %s, owner %s", state, e.Rule, engine.ShortName(e.Resource), e.Waiver, e.Expires, e.Owner)
}

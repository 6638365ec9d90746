package stacks

import (
	"net/url"

	"onedoor/components/observability"
)

// Observability is the root key "observability": how somebody finds out.
type Observability struct {
	// Runbooks is the address that the pages of alerts stand below, as callers of the
	// platform's operators can open it. Every alert's message links to its page.
	Runbooks string `json:"runbooks"`
}

var defaultObservability = Observability{Runbooks: observability.RunbooksHere}

func (o *Observability) check(report *problems) {
	if o.Runbooks == observability.RunbooksHere {
		return
	}
	if at, err := url.Parse(o.Runbooks); err != nil || at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		report.bad("observability.runbooks", o.Runbooks, "an https address that pages stand below, or "+observability.RunbooksHere+", their place in the repository: an alert without a way to its page helps nobody", "https://example.com/onedoor/docs/runbooks")
	}
}

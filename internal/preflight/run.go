package preflight

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"

	"golang.org/x/sync/errgroup"

	"onedoor/internal/azread"
	"onedoor/internal/finding"
)

// Options are how preflight reaches the world.
type Options struct {
	Azure    *azread.Azure
	Audience string    // of tokens for Azure Resource Manager
	Progress io.Writer // a person's view; nil means silence

	// Resolve and Dial reach the API server; nil means the network of this machine.
	Resolve func(ctx context.Context, host string) ([]string, error)
	Dial    func(ctx context.Context, address string) error
}

// parallel is how many checks ask Azure at the same time: a subscription answers
// about 250 reads at once before it slows a caller down.
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
const parallel = 4

// check asks about one part of the needs. Its codes are those that it can find.
type check struct {
	name  string
	codes []string
	run   func(*asking, context.Context)
}

// asking is what the checks share.
type asking struct {
	Needs
	Options
	*finding.Recorder
}

// checks are all of them. Every code belongs to one.
func checks() []check {
	return []check{
		{"subscription", []string{SubscriptionUsable}, (*asking).subscription},
		{"resource providers", []string{ProviderRegistered}, (*asking).providers},
		{"models", []string{ModelOffered, ModelQuota}, (*asking).models},
		{"machines", []string{CoresForAll, CoresForSurge, CoresForReplacing, SizeOffered, ZonesOffered}, (*asking).machines},
		{"deleted resources", []string{DeletedAccount, DeletedGateway, DeletedVault}, (*asking).deleted},
		{"names", []string{NameFree}, (*asking).names},
		{"addresses", []string{OverlapsPeer, ClusterOverlaps, OverlapsSpoke}, (*asking).addresses},
		{"rights", []string{RightToWrite, RightToAssign}, (*asking).rights},
		{"cluster", []string{ClusterReachable}, (*asking).cluster},
		{"tokens", []string{TokenForAudience}, (*asking).tokens},
	}
}

// Run asks Azure everything that the needs raise. Without credentials nothing is
// asked and nothing is good.
func Run(ctx context.Context, needs Needs, o Options) finding.Report {
	if o.Resolve == nil {
		o.Resolve = net.DefaultResolver.LookupHost
	}
	if o.Dial == nil {
		o.Dial = dial
	}
	a := &asking{needs, o, finding.NewRecorder(Codes)}
	if err := o.Azure.Token(ctx, o.Audience); err != nil {
		for _, c := range checks() {
			a.NotChecked("all of Azure", "no credentials: "+azread.Reason(err), c.codes...)
		}
		return a.report()
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, c := range checks() {
		group.Go(func() error {
			a.say("asking about %s", c.name)
			c.run(a, ctx)
			return nil
		})
	}
	_ = group.Wait() // checks report, they do not fail
	return a.report()
}

func (a *asking) report() finding.Report {
	judged, findings := a.Results()
	return finding.Make("preflight", a.Stack, a.Subscription, Codes, judged, findings)
}

func (a *asking) say(format string, args ...any) {
	if a.Progress != nil {
		fmt.Fprintf(a.Progress, format+"\n", args...)
	}
}

// regions are those of items, sorted, each once.
func regions[T any](items []T, of func(T) string) []string {
	var out []string
	for _, item := range items {
		out = append(out, of(item))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// dial opens a connection and closes it.
func dial(ctx context.Context, address string) error {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

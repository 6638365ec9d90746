// Package enqueue posts items to the control plane's intake: files and folders of
// them, each once, however often it is run. It is a client like any other; which
// tenant it posts for follows from its token.
package enqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Options are what is posted, and where to.
type Options struct {
	Paths        []string // files, and folders of them
	Modality     string   // names the queue
	Alias        string   // of the model
	Job          string   // what the items belong to; "" for the name of the first path
	Instructions string   // for each file that is no request itself
	Parallel     int      // posts at once
	Journal      string   // file that remembers what was accepted; "" for none
	Progress     func(done, failed, all int)
}

// Report is what became of the items.
type Report struct {
	Job      string   `json:"job"`
	Accepted int      `json:"accepted"` // now
	Skipped  int      `json:"skipped"`  // accepted before, with the same content
	Failed   []Failed `json:"failed"`   // sorted by path
}

// Failed is an item that was not accepted.
type Failed struct {
	Item  string `json:"item"`
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Run posts the items. It fails before the first post when something is wrong with
// any of them; what the control plane refuses stands in the report.
func Run(ctx context.Context, c *Client, o Options) (Report, error) {
	items, err := itemsOf(o.Paths, o.Instructions != "")
	if err != nil {
		return Report{}, err
	}
	if o.Job == "" {
		o.Job = nameOf(baseOf(o.Paths[0]))
	}
	report := Report{Job: o.Job, Failed: []Failed{}}
	journal, err := openJournal(o.Journal)
	if err != nil {
		return Report{}, err
	}
	defer journal.close()
	p := poster{client: c, options: o, journal: journal, report: &report, all: len(items)}
	work := make(chan item)
	var group sync.WaitGroup
	for range max(1, o.Parallel) {
		group.Go(func() {
			for i := range work {
				p.done(i, p.post(ctx, i))
			}
		})
	}
	for _, i := range items {
		work <- i
	}
	close(work)
	group.Wait()
	slices.SortFunc(report.Failed, func(a, b Failed) int { return compare(a.Path, b.Path) })
	return report, journal.err
}

// poster posts items, several at once.
type poster struct {
	client  *Client
	options Options
	journal *journal
	all     int

	mu     sync.Mutex
	report *Report
}

// errSkipped says that an item was accepted before.
var errSkipped = errors.New("accepted before")

// post posts an item, unless it was accepted before.
func (p *poster) post(ctx context.Context, i item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sum, err := i.sum(p.options)
	if err != nil {
		return err
	}
	if p.journal.has(p.options.Job, i.name, sum) {
		return errSkipped
	}
	if err := p.client.post(ctx, p.options, i); err != nil {
		return err
	}
	p.journal.add(p.options.Job, i.name, sum)
	return nil
}

// done notes what became of an item.
func (p *poster) done(i item, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.report.Accepted++
	case errors.Is(err, errSkipped):
		p.report.Skipped++
	default:
		p.report.Failed = append(p.report.Failed, Failed{i.name, i.path, err.Error()})
	}
	if p.options.Progress != nil {
		p.options.Progress(p.report.Accepted+p.report.Skipped, len(p.report.Failed), p.all)
	}
}

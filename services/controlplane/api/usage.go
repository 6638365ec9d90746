package api

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"onedoor/services/controlplane/apierror"
	"onedoor/services/controlplane/identity"
	"onedoor/services/controlplane/jobs"
	"onedoor/services/controlplane/usage"
)

// maxDays is the longest time that one answer is about.
const maxDays = 400

// usageObject is what a tenant has used. Costs are estimates by the table of that
// date, not the bill.
type usageObject struct {
	Tenant   string      `json:"tenant"`
	From     time.Time   `json:"from"`
	To       time.Time   `json:"to"`
	PricesOf string      `json:"prices_of"` // date of the table
	Total    usageLine   `json:"total"`
	Aliases  []usageLine `json:"aliases"`
	Jobs     []usageLine `json:"jobs"`
}

// usageLine is a sum.
type usageLine struct {
	Alias    string   `json:"alias,omitempty"`
	Job      string   `json:"job,omitempty"`
	Requests int      `json:"requests"` // answered and refused
	Refused  int      `json:"refused"`
	Failed   int      `json:"failed"`
	Input    int64    `json:"input_tokens"`
	Cached   int64    `json:"cached_tokens"` // of the input
	Output   int64    `json:"output_tokens"`
	CostUSD  *float64 `json:"cost_usd"` // null if something in it has no price
}

func (l *usageLine) add(e usage.Entry) {
	first := l.Requests+l.Failed == 0 && l.CostUSD == nil
	l.Requests += e.Used.Answered + e.Used.Refused
	l.Refused += e.Used.Refused
	l.Failed += e.Used.Failed + e.Used.Missing
	l.Input += e.Used.Input
	l.Cached += e.Used.Cached
	l.Output += e.Used.Output
	switch cost := dollars(e.Cost); {
	case first:
		l.CostUSD = cost
	case cost == nil || l.CostUSD == nil:
		l.CostUSD = nil
	default:
		sum := *l.CostUSD + *cost
		l.CostUSD = &sum
	}
}

func (a *API) usage(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	now := a.Now().UTC()
	out := usageObject{Tenant: by.Tenant, From: usage.Begin("Monthly", now), To: now.Add(time.Second).Truncate(time.Second), PricesOf: a.Prices.Table.AsOf()}
	for _, q := range []struct {
		name string
		into *time.Time
	}{{"from", &out.From}, {"to", &out.To}} {
		text := r.URL.Query().Get(q.name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, text)
		}
		if err != nil {
			return apierror.New(apierror.InvalidRequest, q.name, "%s is %q, want a day such as 2026-12-01, or a time as in RFC 3339", q.name, cut(text))
		}
		*q.into = at.UTC()
	}
	if !out.From.Before(out.To) || out.To.Sub(out.From) > maxDays*24*time.Hour {
		return apierror.New(apierror.InvalidRequest, "from", "from %s to %s, want from before to, and at most %d days", out.From.Format(time.RFC3339), out.To.Format(time.RFC3339), maxDays)
	}
	found, err := a.Usage.Between(r.Context(), by.Tenant, out.From, out.To)
	if err != nil {
		return err
	}
	aliases, perJob := map[string]*usageLine{}, map[string]*usageLine{}
	for _, e := range found {
		out.Total.add(e)
		line(aliases, e.Alias, usageLine{Alias: e.Alias}).add(e)
		line(perJob, e.Alias+"\n"+e.Job, usageLine{Alias: e.Alias, Job: e.Job}).add(e)
	}
	out.Aliases, out.Jobs = sorted(aliases), sorted(perJob)
	return answer(w, http.StatusOK, out)
}

func line(of map[string]*usageLine, key string, empty usageLine) *usageLine {
	if of[key] == nil {
		of[key] = &empty
	}
	return of[key]
}

func sorted(of map[string]*usageLine) []usageLine {
	out := []usageLine{}
	for _, l := range of {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(x, y usageLine) int { return cmp.Or(cmp.Compare(x.Alias, y.Alias), cmp.Compare(x.Job, y.Job)) })
	return out
}

// itemReport is what a worker says of an item that it is done with.
type itemReport struct {
	Tenant  string    `json:"tenant"`
	Alias   string    `json:"alias"`
	Job     string    `json:"job"`
	Item    string    `json:"item"`
	Outcome string    `json:"outcome"` // answered, refused or dead_lettered
	At      time.Time `json:"at"`      // of the result; the same in every report of the item
	Input   int64     `json:"input_tokens"`
	Cached  int64     `json:"cached_tokens"`
	Output  int64     `json:"output_tokens"`
}

// report takes what a worker says of its own work. The gateway has metered the
// calls; this says which items they were for.
func (a *API) report(w http.ResponseWriter, r *http.Request, by identity.Caller) error {
	var body itemReport
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if _, ok := a.Settings.Tenants[body.Tenant]; !ok || body.Job == "" || body.Item == "" || body.At.IsZero() {
		return apierror.New(apierror.InvalidRequest, "body", "want a known tenant, a job, an item and the time of its result")
	}
	if body.Input < 0 || body.Output < 0 || body.Cached < 0 || body.Cached > body.Input {
		return apierror.New(apierror.InvalidRequest, "input_tokens", "%d input_tokens, of them %d cached_tokens, and %d output_tokens, want none below 0, and the cached ones among the input", body.Input, body.Cached, body.Output)
	}
	used := jobs.Results{Usage: jobs.Usage{Input: body.Input, Cached: body.Cached, Output: body.Output}}
	switch body.Outcome {
	case "answered":
		used.Answered = 1
	case "refused":
		used.Refused = 1
	case "dead_lettered":
		used.Failed = 1
	default:
		return apierror.New(apierror.InvalidRequest, "outcome", "outcome is %q, want answered, refused or dead_lettered", cut(body.Outcome))
	}
	err := a.Usage.Put(r.Context(), usage.Entry{
		At: body.At.UTC(), Tenant: body.Tenant, Alias: body.Alias, Job: body.Job, Item: body.Item, Used: used,
		Cost: a.Prices.CostAs(a.Settings.Queues[by.Modality].PriceAs, used.Usage),
	})
	if err != nil {
		return err
	}
	a.Items(body.Tenant, by.Modality, body.Outcome)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

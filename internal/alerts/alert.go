// Package alerts is the one table of what somebody must hear of: what is
// measured where, how bad it is, who acts, and which page says how. Resources,
// runbook pages, documentation and tests follow from it. It owns the functions
// that queries share and the registry of the tables and metrics they read, too;
// declaring any of it in Azure is the component's.
package alerts

import (
	"slices"
	"time"

	"onedoor/internal/az/monitor"
)

// Alert is one thing that somebody must hear of.
type Alert struct {
	ID       string // names its resource and its page: docs/runbooks/<ID>.md
	Title    string // what happened, as the message's head
	Why      string // what it means for whoever gets it, in one sentence
	Severity Severity
	Owner    Owner
	Signal   Signal
}

// Severity is how soon somebody must act, in Azure's numbers.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-overview
type Severity int

// The severities in use.
const (
	Critical Severity = iota // now, at night too
	Error                    // within the hour
	Warning                  // today
	Notice                   // this week
)

// Owner is who acts.
type Owner string

// The owners.
const (
	Platform Owner = "platform" // runs doors, queues and cluster
	Security Owner = "security" // answers for who may call what
	Finance  Owner = "finance"  // answers for budgets, with the tenant's owner
)

// Signal is where an alert comes from: a Metric, a Query, an Operation or a Rule.
type Signal interface{ signal() }

// Metric is an alert on a platform metric, for what cannot be exported to logs
// or is faster as it is.
// https://learn.microsoft.com/azure/azure-monitor/reference/metrics-index
type Metric struct {
	Of        Target
	Name      string // of the metric
	Total     Total
	Above     float64 // it fires when the total is above
	Every     time.Duration
	Window    time.Duration // 1, 5, 15 or 30 minutes, 1, 6, 12 or 24 hours; at least Every
	Split     string        // dimension by whose values there is an alert each; "" for none
	Dimension string        // only series where it is Is; "" for all
	Is        string
}

// Total is how the values of a window become one.
type Total string

// The totals in use.
const (
	Maximum Total = "Maximum"
	Minimum Total = "Minimum"
	Sum     Total = "Total"
)

// Target is a kind of resource that has metrics.
type Target string

// The targets.
const (
	Bus      Target = "Microsoft.ServiceBus/namespaces"
	Accounts Target = "Microsoft.CognitiveServices/accounts" // of synchronous calls, each
)

// Query is an alert on logs: every row that the query returns is an incident.
type Query struct {
	KQL    string
	Every  time.Duration
	Window time.Duration // what the query sees of each table, at most MaxWindow
	Split  []string      // columns by whose values there is an alert each, at most 6
}

// MaxWindow is how far back a log alert can see, whatever its query says.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-log-alert-rule
const MaxWindow = monitor.MaxLogWindow

// Operation is an alert on a change to Azure's resources, as the activity log
// tells it. It cannot leave out callers, so an update by the pipeline shows too.
// https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-activity-log-alert-rule
type Operation struct {
	In         Place
	Operations []string // any of them, as Azure spells them
	Category   string   // of the activity log
}

// Place is where an operation is watched.
type Place string

// The places.
const (
	Groups       Place = "groups"       // the stack's resource groups
	Subscription Place = "subscription" // all of it
)

// Rule is an alert on metrics of the cluster, in PromQL.
type Rule struct {
	Expr  string
	For   time.Duration // it must hold so long
	Group Group
}

// Group is a set of rules that are evaluated together.
type Group string

// The groups.
const (
	Work    Group = "work"    // queues, workers and the control plane
	Serving Group = "serving" // model servers and their GPUs
)

func (Metric) signal()    {}
func (Query) signal()     {}
func (Operation) signal() {}
func (Rule) signal()      {}

// All are the alerts, sorted by ID.
func All() []Alert { return slices.Clone(all) }

// Page is the path of the alert's runbook page, below the repository's root.
func (a Alert) Page() string { return "docs/runbooks/" + a.ID + ".md" }

package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"onedoor/internal/az/openai"
	"onedoor/internal/azread"
	"onedoor/internal/finding"
)

// Options are how verify reaches the world.
type Options struct {
	Azure    *azread.Azure
	Audience string   // of tokens for Azure Resource Manager
	Known    []string // object ids that are answered for, as those who deploy
	Prober   Prober   // tries ways inside the cluster; nil for nobody
	Progress io.Writer
}

// Result is what verify found, and what it rests on.
type Result struct {
	finding.Report
	Access   []Access  `json:"access"`   // sorted by account and principal
	Attempts []Attempt `json:"attempts"` // sorted by place and target
}

// verifying is what the checks share.
type verifying struct {
	Design
	Options
	*finding.Recorder

	identities map[string]readIdentity // by id in lower case
	known      principals

	mu       sync.Mutex
	access   []Access
	attempts []Attempt
}

// parallel is how many accounts are read at the same time.
const parallel = 4

// Run verifies the design. Without credentials nothing of Azure is asked and nothing
// is good.
func Run(ctx context.Context, design Design, o Options) Result {
	v := &verifying{Design: design, Options: o, Recorder: finding.NewRecorder(Codes)}
	v.azure(ctx)
	v.ways(ctx)
	judged, findings := v.Results()
	slices.SortFunc(v.access, func(a, b Access) int {
		return strings.Compare(a.Account+"\n"+a.Principal, b.Account+"\n"+b.Principal)
	})
	return Result{
		Report: finding.Make("verify", design.Stack, design.Subscription, Codes, judged, findings),
		Access: append([]Access{}, v.access...), Attempts: append([]Attempt{}, v.attempts...),
	}
}

func (v *verifying) say(format string, args ...any) {
	if v.Progress != nil {
		fmt.Fprintf(v.Progress, format+"\n", args...)
	}
}

// azure judges what Azure says.
func (v *verifying) azure(ctx context.Context) {
	caller, err := v.Azure.Caller(ctx, v.Audience)
	if err != nil {
		var codes []string
		for _, c := range Codes {
			if c.ID != WaysRefused {
				codes = append(codes, c.ID)
			}
		}
		v.NotChecked("all of Azure", "no credentials: "+azread.Reason(err), codes...)
		return
	}
	v.administrators(ctx)
	v.readIdentities(ctx)
	v.known = principals{}
	for _, id := range v.identities {
		if id.principal != "" {
			v.known[id.principal] = "identity " + last(id.ID) + " of the plan"
		}
	}
	for _, id := range v.Known {
		v.known[strings.ToLower(id)] = "answered for with --known"
	}
	caller = strings.ToLower(caller)
	v.known[caller] = strings.TrimPrefix(v.known[caller]+", who runs this", ", ")
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, account := range v.Accounts {
		group.Go(func() error {
			v.say("asking who can reach %s", account.Name)
			v.account(ctx, account)
			v.roles(ctx, account)
			return nil
		})
	}
	_ = group.Wait() // checks report, they do not fail
}

// administrators judges those who are no role assignments.
func (v *verifying) administrators(ctx context.Context) {
	found, err := v.Azure.Administrators(ctx)
	if err != nil {
		v.NotChecked(v.Subscription, azread.Reason(err), NoClassicAdmins)
		return
	}
	v.Judged(NoClassicAdmins)
	for _, who := range found {
		v.Found(NoClassicAdmins, v.Subscription, "%s owns everything in the subscription", who)
	}
}

// account judges the account itself.
func (v *verifying) account(ctx context.Context, account Account) {
	got, found, err := v.Azure.Get(ctx, account.ID, account.APIVersion)
	if err != nil {
		v.NotChecked(account.ID, azread.Reason(err), AccountExists, KeysOff, NetworkClosed, SKUsApart)
		return
	}
	v.Judged(AccountExists)
	if !found {
		v.Found(AccountExists, account.ID, "there is no such account")
		v.NotChecked(account.ID, "there is no such account", KeysOff, NetworkClosed, SKUsApart)
		return
	}
	v.Judged(KeysOff, NetworkClosed)
	if off, _ := got.Properties["disableLocalAuth"].(bool); !off {
		v.Found(KeysOff, account.ID, "disableLocalAuth is %v, want true", got.Properties["disableLocalAuth"])
	}
	if access, _ := got.Properties["publicNetworkAccess"].(string); access != "Disabled" {
		v.Found(NetworkClosed, account.ID, "publicNetworkAccess is %q, want \"Disabled\"", access)
	}
	deployments, err := v.Azure.Deployments(ctx, strings.Split(account.ID, "/")[4], account.Name)
	if err != nil {
		v.NotChecked(account.ID, azread.Reason(err), SKUsApart)
		return
	}
	v.Judged(SKUsApart)
	for _, d := range deployments {
		if sku, known := openai.Lookup(d.SKU); !known || sku.Batch != account.Batch {
			v.Found(SKUsApart, account.ID, "deployment %s has SKU %s, which does not belong into %s", d.Name, d.SKU, doorOf(account))
		}
	}
}

func doorOf(account Account) string {
	if account.Batch {
		return "the batch account"
	}
	return "a synchronous account"
}

// roles judges who may do what to the account.
func (v *verifying) roles(ctx context.Context, account Account) {
	codes := []string{OnlyCallers, OnlySubmitters, NobodyReopens, NobodyGrants, CallersHaveRole, NoDenials}
	assignments, definitions, denials, err := v.readAccess(ctx, account)
	if err != nil {
		v.NotChecked(account.ID, azread.Reason(err), codes...)
		return
	}
	own, complete := v.callers(account, assignments)
	if !complete { // who is who is not known, so nobody can be told to be wrong or right
		v.NotChecked(account.ID, "the planned callers are not all known", OnlyCallers, OnlySubmitters)
	}
	v.Judged(OnlyCallers, OnlySubmitters, NobodyReopens, NobodyGrants, NoDenials)
	for _, d := range denials {
		v.Found(NoDenials, account.ID, "%q at %s denies something", d.Name, d.Scope)
	}
	access := accessOf(account, assignments, definitions, denials, v.known)
	for _, a := range access {
		v.judge(account, a, slices.Contains(own, a.Principal), complete)
	}
	v.mu.Lock()
	v.access = append(v.access, access...)
	v.mu.Unlock()
}

// judge compares what a principal may do with what the plan wants.
func (v *verifying) judge(account Account, a Access, planned, complete bool) {
	who := fmt.Sprintf("%s %s", strings.ToLower(orSomebody(a.PrincipalType)), a.Principal)
	if a.Known != "" {
		who += " (" + a.Known + ")"
	}
	if a.PrincipalType == "Group" {
		who += ", that is whoever is in it,"
	}
	for _, power := range a.Powers {
		code := map[Power]string{Calls: OnlyCallers, Submits: OnlySubmitters, Reopens: NobodyReopens, Grants: NobodyGrants}[power]
		mayByDesign := planned && (power == Calls && !account.Batch || power == Submits && account.Batch)
		answeredFor := slices.ContainsFunc(v.Known, func(id string) bool { return strings.EqualFold(id, a.Principal) }) && (power == Reopens || power == Grants)
		unsure := !complete && (power == Calls || power == Submits)
		if !mayByDesign && !answeredFor && !unsure {
			v.Found(code, account.ID, "%s %s: %s", who, power, strings.Join(a.Through, "; "))
		}
	}
}

func orSomebody(principalType string) string {
	if principalType == "" {
		return "principal"
	}
	return principalType
}

// readIdentity is a managed identity of the plan as Azure has it.
type readIdentity struct {
	Identity
	principal string // object id in lower case
	found     bool
	err       error
}

// readIdentities reads every identity of the plan: callers, to know them, and the
// others, to name them where they should not be.
func (v *verifying) readIdentities(ctx context.Context) {
	v.identities = map[string]readIdentity{}
	for _, identity := range v.Identities {
		read := readIdentity{Identity: identity}
		var got azread.Resource
		if got, read.found, read.err = v.Azure.Get(ctx, identity.ID, identity.APIVersion); read.found {
			id, _ := got.Properties["principalId"].(string)
			if read.principal = strings.ToLower(id); id == "" {
				read.err = errors.New("Azure's answer has no principalId") //nolint:staticcheck // a name
			}
		}
		v.identities[strings.ToLower(identity.ID)] = read
	}
}

// callers are the object ids of the planned callers of the account, and whether all of
// them could be read.
func (v *verifying) callers(account Account, assignments []azread.Assignment) (own []string, complete bool) {
	complete = true
	for _, caller := range account.Callers {
		identity := v.identities[strings.ToLower(caller.Identity)]
		if identity.err != nil {
			v.NotChecked(caller.Identity, azread.Reason(identity.err), CallersHaveRole)
			complete = false
			continue
		}
		v.Judged(CallersHaveRole)
		holds := slices.ContainsFunc(assignments, func(a azread.Assignment) bool {
			return !a.Eligible && strings.EqualFold(a.Principal, identity.principal) && strings.EqualFold(last(a.Role), caller.Role) && strings.EqualFold(a.Scope, account.ID)
		})
		switch {
		case !identity.found:
			v.Found(CallersHaveRole, account.ID, "identity %s, which the plan gives a role here, does not exist", last(caller.Identity))
		case !holds:
			v.Found(CallersHaveRole, account.ID, "identity %s does not hold role %s here", last(caller.Identity), caller.Role)
		default:
			own = append(own, identity.principal)
		}
	}
	return own, complete
}

package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"onedoor/internal/az/rights"
	"onedoor/internal/azread"
)

// Power is something that a principal may do to an account.
type Power string

// The powers.
const (
	Calls   Power = "calls models" // or does anything else there but read and submit
	Submits Power = "submits batch jobs or reads what others stored"
	Reopens Power = "lists keys, turns them on or makes deployments"
	Grants  Power = "assigns roles"
)

// Access is what one principal may do to one account.
type Access struct {
	Account       string   `json:"account"`       // id
	Principal     string   `json:"principal"`     // object id
	PrincipalType string   `json:"principalType"` // as in "Group"; "" if Azure does not say
	Known         string   `json:"known"`         // who that is, "" for nobody that the plan or the caller knows
	Powers        []Power  `json:"powers"`
	Through       []string `json:"through"` // the assignments, each as "Owner at /subscriptions/..."
}

// principals are those who are known, by object id in lower case.
type principals map[string]string

// accessOf says who may do what to an account, by its assignments and what their
// roles allow. Denials that hold for everybody are taken off. Who may do nothing is
// left out.
func accessOf(account Account, assignments []azread.Assignment, roles map[string][]rights.Role, denials []azread.Denial, known principals) []Access {
	held := map[string]*Access{}
	for _, assignment := range assignments {
		id := strings.ToLower(assignment.Principal)
		var powers []Power
		name := last(assignment.Role)
		for _, role := range roles[strings.ToLower(assignment.Role)] {
			name = cmp.Or(role.Name, name)
			powers = append(powers, powersOf(role, denied(denials, id))...)
		}
		if len(powers) == 0 {
			continue
		}
		if held[id] == nil {
			held[id] = &Access{Account: account.ID, Principal: id, PrincipalType: assignment.PrincipalType, Known: known[id]}
		}
		held[id].Powers = append(held[id].Powers, powers...)
		held[id].Through = append(held[id].Through, through(name, assignment))
	}
	var out []Access
	for _, a := range held {
		slices.Sort(a.Powers)
		slices.Sort(a.Through)
		a.Powers, a.Through = slices.Compact(a.Powers), slices.Compact(a.Through)
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Access) int { return strings.Compare(a.Principal, b.Principal) })
	return out
}

// through names an assignment for a person.
func through(role string, a azread.Assignment) string {
	out := fmt.Sprintf("%s at %s", role, a.Scope)
	if a.Eligible {
		out += ", once activated"
	}
	if a.Conditional {
		out += ", under a condition that is not judged here"
	}
	return out
}

// denied are the permissions that nobody has, or not this principal.
func denied(denials []azread.Denial, principal string) []rights.Role {
	var out []rights.Role
	for _, d := range denials {
		is := func(id string) bool { return strings.EqualFold(id, principal) }
		if d.Everybody && !d.Narrow && !slices.ContainsFunc(d.Except, is) {
			out = append(out, d.Permissions...)
		}
	}
	return out
}

// powersOf is what a role gives, less what is denied.
func powersOf(role rights.Role, denied []rights.Role) []Power {
	may := func(data bool, operations ...string) bool {
		return slices.ContainsFunc(operations, func(operation string) bool {
			return role.Allows(operation, data) && !slices.ContainsFunc(denied, func(d rights.Role) bool { return d.Allows(operation, data) })
		})
	}
	var out []Power
	if may(true, slices.Concat(rights.Sync, role.Beyond(append([]string{rights.Read}, rights.Batch...)...))...) {
		out = append(out, Calls)
	}
	if may(true, append(slices.Clone(rights.Batch), rights.Stored...)...) {
		out = append(out, Submits)
	}
	if may(false, rights.ListKeys, rights.WriteAccount, rights.WriteDeployments) {
		out = append(out, Reopens)
	}
	if may(false, rights.AssignRole) {
		out = append(out, Grants)
	}
	return out
}

// readAccess reads everything that accessOf needs.
func (v *verifying) readAccess(ctx context.Context, account Account) (assignments []azread.Assignment, roles map[string][]rights.Role, denials []azread.Denial, err error) {
	if assignments, err = v.Azure.Assignments(ctx, account.ID); err != nil {
		return nil, nil, nil, fmt.Errorf("role assignments: %w", err)
	}
	eligible, err := v.Azure.Eligible(ctx, account.ID)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("eligible role assignments: %w", err)
	}
	assignments = append(assignments, eligible...)
	roles = map[string][]rights.Role{}
	for _, a := range assignments {
		id := strings.ToLower(a.Role)
		if _, read := roles[id]; read {
			continue
		}
		if roles[id], err = v.Azure.Definition(ctx, a.Role); err != nil {
			return nil, nil, nil, fmt.Errorf("role %s: %w", last(a.Role), err)
		}
	}
	if denials, err = v.Azure.Denials(ctx, account.ID); err != nil {
		return nil, nil, nil, fmt.Errorf("deny assignments: %w", err)
	}
	return assignments, roles, denials, nil
}

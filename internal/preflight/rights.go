package preflight

import (
	"context"
	"slices"
	"strings"

	"onedoor/internal/az/rights"
	"onedoor/internal/azread"
)

// rights judges what the caller may do at the subscription.
func (a *asking) rights(ctx context.Context) {
	held, err := a.Azure.Permissions(ctx)
	if err != nil {
		a.NotChecked("caller", azread.Reason(err), RightToWrite, RightToAssign)
		return
	}
	may := func(operation string) bool {
		return slices.ContainsFunc(held, func(r rights.Role) bool { return r.Allows(operation, false) })
	}
	var missing []string
	for _, armType := range a.Writes {
		code, operation := RightToWrite, writeOf(armType)
		if access(armType) {
			code = RightToAssign
		}
		a.Judged(code)
		switch {
		case may(operation):
		case code == RightToAssign:
			a.Found(code, "caller", "may not %s at the subscription", operation)
		default:
			missing = append(missing, operation)
		}
	}
	if len(missing) > 0 {
		a.Found(RightToWrite, "caller", "may not do at the subscription: %s", strings.Join(missing, ", "))
	}
}

// access tells whether a type says who may do what.
func access(armType string) bool {
	return slices.Contains([]string{"microsoft.authorization/roleassignments", "microsoft.authorization/roledefinitions"}, strings.ToLower(armType))
}

// writeOf is the operation that a write of the type needs.
func writeOf(armType string) string {
	switch {
	case strings.EqualFold(armType, "Microsoft.Resources/resourceGroups"):
		return "Microsoft.Resources/subscriptions/resourceGroups/write"
	default:
		return strings.ReplaceAll(armType, "{recordType}", "A") + "/write"
	}
}

// Package retry lets a stack sit out what Azure refuses only for a while: another
// operation on the same thing, an identity or a role that has not spread yet. What
// azure-native tries again by itself is not here. It also says how to take over what a
// create meets.
package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Sleep waits; it returns early with an error when ctx ends.
type Sleep func(ctx context.Context, d time.Duration) error

// passing are the refusals that pass, with their reason. A hook sees nothing but
// the text of an error, so this is the one place that looks for codes in it. A
// refusal passes if it has all the words of an entry.
var passing = []struct {
	code   string
	also   string // what tells it from lasting refusals of the same code
	reason string
}{
	// Also the code of an exhausted quota and of a version that cannot be upgraded to.
	// https://github.com/Azure/AKS/issues/1913
	// https://github.com/rancher/dashboard/issues/11884
	{"OperationNotAllowed", "in progress", "another operation runs on the cluster or one of its pools"},
	// https://learn.microsoft.com/azure/ai-services/cognitive-services-development-options
	{"RequestConflict", "", "another write to the account runs"},
	{"AccountProvisioningStateInvalid", "", "the account is not ready yet"},
	// https://github.com/Azure/azure-workload-identity/issues/1103
	{"ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", "", "another credential of the identity is being written"},
	// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting
	{"PrincipalNotFound", "", "Entra has not spread the new identity yet"},
	{"LinkedAuthorizationFailed", "", "Azure has not spread the role yet"},
	{"CustomPrivateDNSZoneMissingPermissionError", "", "Azure has not spread the role on the zone yet"},
	// https://learn.microsoft.com/azure/aks/manage-azure-rbac: up to five minutes
	{"Update role assignment to allow access", "", "the cluster does not know the role yet"},
	// https://github.com/Azure/apiops/issues/379
	{"PessimisticConcurrencyConflict", "", "another write to the gateway runs"},
	{"ReferencedResourceNotProvisioned", "", "what it refers to is not ready yet"},
}

// How often and how long a refusal is sat out: about twelve minutes together, since
// a role may take ten to spread.
// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting
const (
	tries = 8
	first = 15 * time.Second
	most  = 2 * time.Minute
)

// wait is how long to wait after the n-th refusal, from 1.
func wait(n int) time.Duration { return min(first<<(n-1), most) }

// reason tells whether a refusal passes, and why it was made.
func reason(refusal string) (string, bool) {
	for _, p := range passing {
		if strings.Contains(refusal, p.code) && strings.Contains(refusal, p.also) {
			return p.code + ": " + p.reason, true
		}
	}
	return "", false
}

// Everywhere lets every resource of the stack that speaks to Azure or its cluster
// sit out refusals, and say how to take over what it meets. It must come before the first
// resource.
func Everywhere(ctx *pulumi.Context, sleep Sleep) error {
	known := &family{parents: map[string]pulumi.Resource{}, providers: map[string]string{}}
	hook, err := ctx.RegisterErrorHook("sit-out-passing-refusals", func(refused *pulumi.ErrorHookArgs) (bool, error) {
		if ctx.DryRun() {
			return false, nil // a preview waits for nothing
		}
		advice, err := known.takeOver(ctx, refused)
		if err != nil {
			return false, err
		}
		if advice != "" {
			return false, ctx.Log.Error(advice, nil)
		}
		again, message, err := decide(ctx.Context(), refused, sleep)
		say := ctx.Log.Info
		if !again {
			say = ctx.Log.Error
		}
		if message != "" {
			err = errors.Join(err, say(message, nil))
		}
		return again, err
	})
	if err != nil {
		return err
	}
	// A hook is no option that children inherit, so every resource gets it here.
	return ctx.RegisterStackTransformation(func(args *pulumi.ResourceTransformationArgs) *pulumi.ResourceTransformationResult {
		known.note(args.Type, args.Name, args.Opts)
		if !strings.HasPrefix(args.Type, "azure-native:") && !strings.HasPrefix(args.Type, "kubernetes:") {
			return nil
		}
		return &pulumi.ResourceTransformationResult{Props: args.Props, Opts: append(args.Opts,
			pulumi.ResourceHooks(&pulumi.ResourceHookBinding{OnError: []*pulumi.ErrorHook{hook}}))}
	})
}

// decide waits and says whether to try again, with what a person should know.
func decide(ctx context.Context, refused *pulumi.ErrorHookArgs, sleep Sleep) (again bool, message string, err error) {
	if len(refused.Errors) == 0 {
		return false, "", nil
	}
	why, passes := reason(refused.Errors[0])
	n := len(refused.Errors)
	switch {
	case !passes:
		return false, "", nil
	case n > tries:
		return false, fmt.Sprintf("%s of %s was refused %d times, at last with %s. Run again when that is over.", refused.FailedOperation, refused.Name, n, why), nil
	}
	if err := sleep(ctx, wait(n)); err != nil {
		return false, "", err
	}
	return true, fmt.Sprintf("%s of %s is tried again after %s (%s).", refused.FailedOperation, refused.Name, wait(n), why), nil
}

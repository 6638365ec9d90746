package identity

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	client "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"onedoor/services/controlplane/apierror"
)

// decode decodes a part of a token.
func decode(part string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(part) }

// Pods asks the cluster whose a token is.
// https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1/
type Pods struct {
	Reviews  client.TokenReviewInterface
	Audience string // that tokens must have
}

// The accounts that may call, in the namespace of workers.
const (
	accounts = "system:serviceaccount:onedoor-workers:"
	nightly  = accounts + "nightly"
	worker   = accounts + "worker-"
)

// Verify implements Verifier.
func (p Pods) Verify(ctx context.Context, token string) (Caller, error) {
	review, err := p.Reviews.Create(ctx, &authv1.TokenReview{Spec: authv1.TokenReviewSpec{Token: token, Audiences: []string{p.Audience}}}, metav1.CreateOptions{})
	if err != nil {
		return Caller{}, fmt.Errorf("identity: token review: %w", err)
	}
	// The cluster answers the audiences that it knows the token by; none would mean
	// that it has not looked at them.
	if !review.Status.Authenticated || !slices.Contains(review.Status.Audiences, p.Audience) {
		return Caller{}, apierror.New(apierror.Unauthenticated, "Authorization", "the token is neither one of the directory nor of a pod of this cluster with audience %q", p.Audience)
	}
	name := review.Status.User.Username
	if name == nightly {
		return Caller{Nightly: true}, nil
	}
	if modality, ok := strings.CutPrefix(name, worker); ok && modality != "" {
		return Caller{Modality: modality}, nil
	}
	return Caller{}, apierror.New(apierror.Forbidden, "Authorization", "account %q may not call this service", name)
}

package federation_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/federation"
	"onedoor/internal/az"
	"onedoor/internal/fake"
	"onedoor/internal/kube"
	"onedoor/internal/ref"
)

const issuer = "https://swedencentral.oic.prod-aks.azure.com/tenant/cluster/"

func args() federation.Args {
	return federation.Args{
		Scope: fake.Scope(az.Dev), Group: fake.Group(), Issuer: pulumi.String(issuer),
		Trust: map[string]federation.Trust{
			"scaler": {Identity: fake.Identity("scaler"), Subjects: []kube.ServiceAccount{kube.KEDA, {Namespace: "workers", Name: "scaler"}, {Namespace: "audit", Name: "scaler"}}},
			"text":   {Identity: fake.Identity("worker-text"), Subjects: []kube.ServiceAccount{{Namespace: "workers", Name: "text"}}},
		},
	}
}

func program(a federation.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		f, err := federation.New(ctx, "federation", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", f.Clients["scaler"])
	}
}

// Entra compares the issuer byte for byte, its last slash included.
func TestCredentialsNameIssuerAndSubjectExactly(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		c := fake.Run(t, mode, program(args())).Get(t, "federation-scaler-kube-system-keda-operator")
		assert.Equal(t, issuer, c.Input("issuer"))
		assert.Equal(t, "system:serviceaccount:kube-system:keda-operator", c.Input("subject"))
		assert.Equal(t, []any{"api://AzureADTokenExchange"}, c.Input("audiences"))
		assert.Equal(t, "scaler", c.Input("resourceName"))
	}
}

// Azure refuses a second write to one identity while the first is under way;
// writes to other identities may run beside it.
func TestCredentialsOfAnIdentityAreSerial(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	chain := []string{"federation-scaler-audit-scaler", "federation-scaler-kube-system-keda-operator", "federation-scaler-workers-scaler"}
	assert.Empty(t, plan.Get(t, chain[0]).DependsOn)
	assert.Equal(t, chain[:1], plan.Get(t, chain[1]).DependsOn)
	assert.Equal(t, chain[1:2], plan.Get(t, chain[2]).DependsOn)
	assert.Empty(t, plan.Get(t, "federation-text-workers-text").DependsOn)
	assert.Subset(t, plan.Get(t, "reader").DependsOn, chain, "a client id is ready when every subject may act as it")
}

// A new queue has a new identity, in a cluster whose issuer is long known: nothing else
// would make its credential wait.
func TestACredentialWaitsForItsIdentity(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, func(ctx *pulumi.Context) error {
		var identity struct{ pulumi.CustomResourceState }
		if err := ctx.RegisterResource("test:index:Thing", "identity", pulumi.Map{}, &identity); err != nil {
			return err
		}
		a := args()
		text := a.Trust["text"]
		text.Identity.Resource = ref.Ready(text.Identity.Plain, &identity)
		a.Trust["text"] = text
		return program(a)(ctx)
	})
	credential := plan.Get(t, "federation-text-workers-text")
	assert.Equal(t, []string{"identity"}, credential.DependsOn)
	assert.Equal(t, "worker-text", credential.Input("resourceName"))
}

func TestTooManyOrRepeatedSubjectsAreRefused(t *testing.T) {
	t.Parallel()
	a := args()
	many := federation.Trust{Identity: fake.Identity("many")}
	for i := range federation.MaxSubjects + 1 {
		many.Subjects = append(many.Subjects, kube.ServiceAccount{Namespace: "n", Name: strconv.Itoa(i)})
	}
	a.Trust["many"] = many
	twice := a.Trust["text"]
	twice.Subjects = append(twice.Subjects, twice.Subjects[0])
	a.Trust["text"] = twice
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, "many: 21 subjects, want 1 to 20")
	require.ErrorContains(t, err, "text: subject system:serviceaccount:workers:text twice")
	many.Subjects = many.Subjects[:federation.MaxSubjects]
	a.Trust["many"], a.Trust["text"] = many, args().Trust["text"]
	_, err = fake.Try(fake.Preview, program(a))
	require.NoError(t, err)
}

func TestOrderOfSubjectsMeansNothing(t *testing.T) {
	t.Parallel()
	a, b := args(), args()
	slices.Reverse(b.Trust["scaler"].Subjects)
	assert.Equal(t, fake.Run(t, fake.Preview, program(a)).Resources, fake.Run(t, fake.Preview, program(b)).Resources)
}

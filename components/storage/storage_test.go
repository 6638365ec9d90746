package storage_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/components/storage"
	"onedoor/internal/az"
	"onedoor/internal/fake"
)

func args() storage.Args {
	return storage.Args{
		Scope: fake.Scope(az.Prod), Group: fake.Group(), Endpoints: fake.Subnet("endpoints"), Zones: fake.Zones(az.ZoneBlob, az.ZoneTable),
		ControlPlane: fake.Identity("control-plane"), Runner: fake.Identity("runner"), Serving: fake.Identity("serving"),
		Queues: map[string]storage.Queue{
			"text":  {Payloads: "payloads-text", Worker: fake.Identity("worker-text")},
			"image": {Payloads: "pictures", Worker: fake.Identity("worker-image")},
		},
		Days: storage.Days{Payloads: 14, Results: 30, Batch: 31, Evidence: 365, SoftDelete: 7},
	}
}

func program(a storage.Args) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		s, err := storage.New(ctx, "storage", a)
		if err != nil {
			return err
		}
		return fake.Reader(ctx, "reader", s.BlobURL)
	}
}

func TestAccountIsClosedFromTheFirstRequest(t *testing.T) {
	t.Parallel()
	for _, mode := range fake.Modes {
		account := fake.Run(t, mode, program(args())).Get(t, "storage")
		for input, want := range map[string]any{
			"allowSharedKeyAccess": false, "allowBlobPublicAccess": false, "allowCrossTenantReplication": false, "publicNetworkAccess": "Disabled",
			"minimumTlsVersion": "TLS1_2", "enableHttpsTrafficOnly": true, "isLocalUserEnabled": false, "isHnsEnabled": false,
			"networkRuleSet": map[string]any{"defaultAction": "Deny", "bypass": "AzureServices"},
		} {
			assert.Equal(t, want, account.Input(input), input)
		}
		assert.True(t, account.Protect)
	}
}

// Exactly these and no more: a worker reads its own payloads and writes its own
// results; nobody but the control plane holds more than one container.
func TestEachPrincipalHasItsContainersAndNothingElse(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Update, program(args()))
	account := "storageAccounts/" + plan.Get(t, "storage").Input("accountName").(string)
	write, read := az.BlobContributor.GUID, az.BlobReader.GUID
	assert.ElementsMatch(t, []string{
		"control-plane-principal " + write + " at containers/batch-input",
		"control-plane-principal " + write + " at containers/batch-output",
		"control-plane-principal " + write + " at containers/payloads-text",
		"control-plane-principal " + write + " at containers/pictures",
		"control-plane-principal " + read + " at containers/results-image",
		"control-plane-principal " + read + " at containers/results-text",
		"control-plane-principal " + az.BlobDelegator.GUID + " at " + account,
		"control-plane-principal " + az.TableContributor.GUID + " at " + account,
		"runner-principal " + write + " at containers/evidence",
		"runner-principal " + write + " at containers/weights",
		"serving-principal " + read + " at containers/weights",
		"worker-image-principal " + read + " at containers/pictures",
		"worker-image-principal " + write + " at containers/results-image",
		"worker-text-principal " + read + " at containers/payloads-text",
		"worker-text-principal " + write + " at containers/results-text",
	}, plan.Grants())
}

func TestNothingStartsWithoutAccess(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	reader := plan.Get(t, "reader")
	assert.Subset(t, reader.DependsOn, plan.Names("RoleAssignment"))
	assert.Contains(t, reader.DependsOn, "storage-blob-endpoint-dns")
	assert.Regexp(t, `^https://stonedoortest[0-9a-f]{6}\.blob\.core\.windows\.net/$`, reader.Input("value"), "known before it exists")
}

// Every container has one rule that keeps what is in it as long as told, and weights
// for good.
func TestEveryContainerExpires(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	policy := plan.Get(t, "storage-lifecycle")
	assert.Equal(t, "default", policy.Input("managementPolicyName"))
	days := map[string]any{}
	for _, r := range policy.Input("policy").(map[string]any)["rules"].([]any) {
		rule := r.(map[string]any)
		definition := rule["definition"].(map[string]any)
		prefix := definition["filters"].(map[string]any)["prefixMatch"].([]any)[0].(string)
		actions := definition["actions"].(map[string]any)
		days[prefix] = nil
		if blob, expires := actions["baseBlob"].(map[string]any); expires {
			days[prefix] = blob["delete"].(map[string]any)["daysAfterModificationGreaterThan"]
		}
		version := actions["version"].(map[string]any)["delete"].(map[string]any)["daysAfterCreationGreaterThan"]
		if prefix == "evidence/" {
			assert.Equal(t, 365.0, version, "overwritten evidence is evidence too")
		} else {
			assert.Equal(t, 1.0, version, "a deleted blob leaves a version behind")
		}
		assert.Equal(t, true, rule["enabled"])
	}
	assert.Equal(t, map[string]any{
		"batch-input/": 31.0, "batch-output/": 31.0, "evidence/": 365.0, "payloads-text/": 14.0, "pictures/": 14.0, "results-image/": 30.0, "results-text/": 30.0,
		"weights/": nil,
	}, days)
	assert.Len(t, plan.Names("BlobContainer"), len(days))
}

func TestBlobsAndTablesHaveEndpointsOfTheirOwn(t *testing.T) {
	t.Parallel()
	plan := fake.Run(t, fake.Preview, program(args()))
	for part, zone := range map[string]string{"blob": az.ZoneBlob, "table": az.ZoneTable} {
		connection := plan.Get(t, "storage-"+part+"-endpoint").Input("privateLinkServiceConnections").([]any)[0].(map[string]any)
		assert.Equal(t, []any{part}, connection["groupIds"])
		config := plan.Get(t, "storage-"+part+"-endpoint-dns").Input("privateDnsZoneConfigs").([]any)[0].(map[string]any)
		assert.Contains(t, config["privateDnsZoneId"], zone)
	}
}

// Where Azure Policy registers endpoints, we must not.
func TestForeignZonesAreLeftAlone(t *testing.T) {
	t.Parallel()
	a := args()
	a.Zones = nil
	plan := fake.Run(t, fake.Preview, program(a))
	assert.Empty(t, plan.Names("PrivateDnsZoneGroup"))
	assert.Len(t, plan.Names("PrivateEndpoint"), 2)
}

func TestASharedContainerIsRefused(t *testing.T) {
	t.Parallel()
	a := args()
	a.Queues["image"] = storage.Queue{Payloads: "payloads-text", Worker: fake.Identity("worker-image")}
	_, err := fake.Try(fake.Preview, program(a))
	require.ErrorContains(t, err, "two uses of container payloads-text")
}

package az

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Role is an Azure role: what a principal may do at a scope.
type Role struct {
	Name    string          // as the portal shows it
	GUID    string          // of the role definition
	Defined pulumi.Resource // the definition, for a role that this project makes; nil for a built-in one
}

// Built-in roles.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var (
	NetworkContributor        = Role{Name: "Network Contributor", GUID: "4d97b98b-1d4f-4787-a291-c67834d212e7"}
	PrivateDNSZoneContributor = Role{Name: "Private DNS Zone Contributor", GUID: "b12aa53e-6015-4669-85d0-8515ebb3ae7f"}
	ManagedIdentityOperator   = Role{Name: "Managed Identity Operator", GUID: "f1a07417-d97a-45cb-824c-7a7467783830"}
	ClusterAdmin              = Role{Name: "Azure Kubernetes Service RBAC Cluster Admin", GUID: "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"}
	ImagePull                 = Role{Name: "AcrPull", GUID: "7f951dda-4ed3-4680-a7ca-43fe172d538d"}
	ImageImport               = Role{Name: "Container Registry Data Importer and Data Reader", GUID: "577a9874-89fd-4f24-9dbd-b5034d0ad23a"}
	ImagePush                 = Role{Name: "AcrPush", GUID: "8311e382-0749-4cb8-b61a-304f252e45ec"}
	BlobContributor           = Role{Name: "Storage Blob Data Contributor", GUID: "ba92f5b4-2d11-453d-a403-e96b0029c9fe"}
	BlobReader                = Role{Name: "Storage Blob Data Reader", GUID: "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"}
	BlobDelegator             = Role{Name: "Storage Blob Delegator", GUID: "db58b8e5-c6ad-4a2a-8342-4190687cbf4a"}
	TableContributor          = Role{Name: "Storage Table Data Contributor", GUID: "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3"}
	BusSender                 = Role{Name: "Azure Service Bus Data Sender", GUID: "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"}
	BusReceiver               = Role{Name: "Azure Service Bus Data Receiver", GUID: "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"}
	BusOwner                  = Role{Name: "Azure Service Bus Data Owner", GUID: "090c5cfd-751d-490a-894a-3ce6f1109419"}
	MetricsPublisher          = Role{Name: "Monitoring Metrics Publisher", GUID: "3913510d-42f4-4e42-8a64-420c390055eb"}
	SecretsUser               = Role{Name: "Key Vault Secrets User", GUID: "4633458b-17de-408a-b874-0445c86b69e6"}
	CertificatesOfficer       = Role{Name: "Key Vault Certificates Officer", GUID: "a4417e6f-fecd-4de8-b567-7b0420556985"}
	SecretsOfficer            = Role{Name: "Key Vault Secrets Officer", GUID: "b86a8fe4-44ce-4948-aee5-eccb2c155cd7"}
)

// DefinitionID is the ARM id of the role in the subscription.
func (r Role) DefinitionID(subscriptionID string) string {
	return fmt.Sprintf("/subscriptions/%s/providers/Microsoft.Authorization/roleDefinitions/%s", subscriptionID, r.GUID)
}

// CustomRole is a role of this project. Its actions are enumerated: a wildcard
// would grow with every operation that Azure adds.
type CustomRole struct {
	Name        string   // unique in the Entra tenant together with the stack
	Description string   // what its holder can and cannot do
	DataActions []string // on models; there are no management actions
	Source      string   // of the names of the actions
}

// dataPlane starts the names of the model operations.
const dataPlane = "Microsoft.CognitiveServices/accounts/OpenAI/"

// actionsSource lists the published operations.
const actionsSource = "https://learn.microsoft.com/azure/role-based-access-control/permissions/ai-machine-learning"

// The custom roles.
var (
	// SyncOnly is for the gateway: the synchronous operations that its routes
	// offer. No files, no batches, nothing that reads what others stored.
	SyncOnly = CustomRole{
		Name:        "sync-only",
		Description: "Calls chat, completions, embeddings and responses. Cannot touch files, batches or anything stored.",
		DataActions: []string{
			dataPlane + "deployments/chat/completions/action",
			dataPlane + "deployments/completions/action",
			dataPlane + "deployments/embeddings/action",
			dataPlane + "responses/write",
		},
		Source: actionsSource,
	}
	// BatchSubmitter is for the control plane, on the batch account alone: no
	// synchronous call.
	BatchSubmitter = CustomRole{
		Name:        "batch-submitter",
		Description: "Uploads files and submits, reads and cancels batch jobs. Cannot call a model.",
		DataActions: []string{
			dataPlane + "batch-jobs/read",
			dataPlane + "batch-jobs/write",
			dataPlane + "batches/cancel/action",
			dataPlane + "batches/read",
			dataPlane + "files/delete",
			dataPlane + "files/read",
			dataPlane + "files/write",
		},
		Source: actionsSource,
	}
)

// Custom is the role that the stack's definition of c gets: name and GUID carry
// the stack, so stacks of one subscription do not share a definition.
func (s Scope) Custom(c CustomRole) Role {
	name := fmt.Sprintf("%s %s %s %s", s.Project, s.Stack, c.Name, hash(s.SubscriptionID)) // unique in the tenant
	if s.Generation > 1 {
		name += fmt.Sprintf(" g%d", s.Generation)
	}
	return Role{Name: name, GUID: guid(s.SubscriptionID, name)}
}

// guids is the namespace of the GUIDs that this project derives.
var guids = uuid.MustParse("c2f3f6a0-7d54-5b0e-9f0e-3f7c5a1d8e42")

// guid is a GUID that follows from words alone.
func guid(words ...string) string {
	return uuid.NewSHA1(guids, []byte(strings.Join(words, "\x00"))).String()
}

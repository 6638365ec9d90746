package verify

import (
	"strings"

	"onedoor/internal/finding"
)

// The codes of verify. A number is never given to another thing.
const (
	AccountExists   = "VER-ACCT-01"
	KeysOff         = "VER-ACCT-02"
	NetworkClosed   = "VER-ACCT-03"
	SKUsApart       = "VER-ACCT-04"
	OnlyCallers     = "VER-ROLE-01"
	OnlySubmitters  = "VER-ROLE-02"
	NobodyReopens   = "VER-ROLE-03"
	NobodyGrants    = "VER-ROLE-04"
	CallersHaveRole = "VER-ROLE-05"
	NoDenials       = "VER-DENY-01"
	NoClassicAdmins = "VER-ADMIN-01"
	WaysRefused     = "VER-WAY-01"
)

const rbac = "https://learn.microsoft.com/azure/ai-services/openai/how-to/role-based-access-control"

// Codes are all of them. Each is a section of one page.
var Codes = sections([]finding.Code{
	{
		ID: AccountExists, Severity: finding.Error, Title: "Every model account of the plan exists",
		Reads:  "The account. Role Reader.",
		Why:    "What does not exist cannot be verified, and a name that somebody else holds is another account.",
		Remedy: "update the stack first",
		Source: "https://learn.microsoft.com/azure/ai-services/multi-service-resource",
	},
	{
		ID: KeysOff, Severity: finding.Error, Title: "No account takes keys",
		Reads:  "disableLocalAuth of the account. Role Reader.",
		Why:    "A key has no identity, no role and no end: whoever holds one calls models and submits jobs past every door.",
		Remedy: "set disableLocalAuth to true, regenerate both keys, and find out who turned it off in the activity log",
		Source: "https://learn.microsoft.com/azure/ai-services/disable-local-auth",
	},
	{
		ID: NetworkClosed, Severity: finding.Error, Title: "No account is open to the internet",
		Reads:  "publicNetworkAccess of the account. Role Reader.",
		Why:    "A private endpoint closes nothing by itself.",
		Remedy: "set publicNetworkAccess to Disabled, and find out who opened it in the activity log",
		Source: "https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks",
	},
	{
		ID: SKUsApart, Severity: finding.Error, Title: "Batch deployments are in the batch account alone, and nothing else is",
		Reads:  "The deployments of each account. Role Reader.",
		Why:    "A batch deployment beside synchronous ones is a second door behind the gateway's back; a synchronous one in the batch account is not metered.",
		Remedy: "delete the deployment, and find out who made it in the activity log",
		Source: "https://learn.microsoft.com/azure/ai-foundry/foundry-models/concepts/deployment-types",
	},
	{
		ID: OnlyCallers, Severity: finding.Error, Title: "Nobody but the planned identities may call a model",
		Reads:  "The role assignments and eligible assignments at the account and above it, management groups included, and the definition of each role. Role Reader at the subscription; for what is above it, at the management group.",
		Why:    "Roles are inherited. One assignment high above, made for another purpose, opens every account below.",
		Remedy: "remove the assignment, or make it at a scope that holds no model account",
		Source: rbac,
	},
	{
		ID: OnlySubmitters, Severity: finding.Error, Title: "Nobody but the control plane may submit batch jobs, or read what others stored",
		Reads:  "The same as for " + OnlyCallers + ".",
		Why:    "Files and jobs of an account have no owner: whoever may read one reads the prompts and answers of everybody.",
		Remedy: "remove the assignment, or make it at a scope that holds no model account",
		Source: rbac,
	},
	{
		ID: NobodyReopens, Severity: finding.Warning, Title: "Nobody stands ready to list keys, turn them on, or make deployments",
		Reads:  "The same as for " + OnlyCallers + ".",
		Why:    "Owner and Contributor may, also those of the subscription. Keys are worth nothing while they are off, and turning them on is an event; but standing rights are used sooner or later. Whoever deploys is among them.",
		Remedy: "let people activate such a role for an hour with Privileged Identity Management; name the deployer with --known",
		Source: "https://learn.microsoft.com/entra/id-governance/privileged-identity-management/pim-configure",
	},
	{
		ID: NobodyGrants, Severity: finding.Warning, Title: "Nobody stands ready to give themselves a role at a model account",
		Reads:  "The same as for " + OnlyCallers + ".",
		Why:    "Who may assign roles may assign any, to anybody, unless a condition narrows it.",
		Remedy: "let people activate such a role for an hour with Privileged Identity Management; name the deployer with --known",
		Source: "https://learn.microsoft.com/azure/role-based-access-control/delegate-role-assignments-overview",
	},
	{
		ID: CallersHaveRole, Severity: finding.Error, Title: "Every planned identity exists and holds its role at its account",
		Reads:  "The managed identities of the plan. Role Reader.",
		Why:    "A door without its role refuses everybody. And a list of assignments in which the planned ones are missing is not the whole list.",
		Remedy: "update the stack",
		Source: rbac,
	},
	{
		ID: NoDenials, Severity: finding.Info, Title: "No deny assignment changes what roles give",
		Reads:  "The deny assignments at the account and above it. Role Reader.",
		Why:    "Only Azure itself makes them. One that holds for everybody without a condition is taken into account here; any other may let somebody do less than this report says, never more.",
		Remedy: "nothing, if it is known where it comes from",
		Source: "https://learn.microsoft.com/azure/role-based-access-control/deny-assignments",
	},
	{
		ID: NoClassicAdmins, Severity: finding.Error, Title: "The subscription has no classic administrators",
		Reads:  "The classic administrators of the subscription. Role Reader.",
		Why:    "They are no role assignments and are in no list of them, and own everything.",
		Remedy: "remove them; Azure retired them in August 2024",
		Source: "https://learn.microsoft.com/azure/role-based-access-control/classic-administrators",
	},
	{
		ID: WaysRefused, Severity: finding.Error, Title: "The network refuses every way from a workload to a model account",
		Reads:  "Connections that Jobs try, in the place and as the identity of each workload that may call no model. Rights to make and delete Jobs, and to read pods, in the workloads' namespaces.",
		Why:    "What security groups, network policies and DNS do together is only known when it is tried.",
		Remedy: "compare the network's security groups, the cluster's network policies and the DNS zones with the plan: onedoor reach says which decides",
		Source: "https://learn.microsoft.com/azure/private-link/disable-private-endpoint-network-policy",
	},
})

// sections says where each code is explained.
func sections(codes []finding.Code) []finding.Code {
	for i := range codes {
		codes[i].Page = "docs/verify.md#" + strings.ToLower(codes[i].ID)
	}
	return codes
}

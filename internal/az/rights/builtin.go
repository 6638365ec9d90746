package rights

// BuiltIn are the built-in roles that reach models, keys or role assignments, by
// GUID, as they were in August 2026. Azure changes them; whoever can ask it does.
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var BuiltIn = map[string]Role{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": {Name: "Owner", Actions: []string{"*"}},
	"b24988ac-6180-42a0-ab88-20f7382dd24c": {
		Name: "Contributor", Actions: []string{"*"},
		NotActions: []string{"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write", "Microsoft.Authorization/elevateAccess/Action"},
	},
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": {Name: "Reader", Actions: []string{"*/read"}},
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": {Name: "User Access Administrator", Actions: []string{"*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"}},
	"f58310d9-a9f6-439a-9e8d-f62e7b41a168": {
		Name:    "Role Based Access Control Administrator",
		Actions: []string{"Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleAssignments/delete", "*/read", "Microsoft.Support/*"},
	},
	"5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": {
		Name: "Cognitive Services OpenAI User", Actions: []string{"Microsoft.CognitiveServices/*/read"},
		DataActions: []string{
			openAI + "*/read", openAI + "deployments/chat/completions/action", openAI + "deployments/completions/action", openAI + "deployments/embeddings/action",
			openAI + "assistants/*", openAI + "responses/*",
		},
		NotDataActions: []string{openAI + "stored-completions/read"},
	},
	"a001fd3d-188f-4b5d-821b-7da978bf7442": {
		Name:        "Cognitive Services OpenAI Contributor",
		Actions:     []string{"Microsoft.CognitiveServices/*/read", WriteDeployments, "Microsoft.CognitiveServices/accounts/raiPolicies/write"},
		DataActions: []string{openAI + "*"},
	},
	"a97b65f3-24c7-4388-baec-2e87135dc908": {
		Name: "Cognitive Services User", Actions: []string{"Microsoft.CognitiveServices/*/read", ListKeys},
		DataActions: []string{"Microsoft.CognitiveServices/*"},
	},
	"25fbc0a9-bd7c-42a3-aa1a-3b75d497ee68": {Name: "Cognitive Services Contributor", Actions: []string{"Microsoft.CognitiveServices/*"}},
	"19c28022-e58e-450d-a464-0b2a53034789": {Name: "Cognitive Services Data Contributor (Preview)", DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"b59867f0-fa02-499b-be73-45a86b5b3e1c": {Name: "Cognitive Services Data Reader", DataActions: []string{"Microsoft.CognitiveServices/*/read"}},
	"53ca6127-db72-4b80-b1b0-d745d6d5456d": {
		Name: "Foundry User", Actions: []string{"Microsoft.CognitiveServices/*/read", ListKeys},
		DataActions: []string{"Microsoft.CognitiveServices/*"},
	},
	"c883944f-8b7b-4483-af10-35834be79c4a": {Name: "Foundry Owner", Actions: []string{"Microsoft.CognitiveServices/*", AssignRole}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"eadc314b-1a2d-4efa-be10-5d325db5065e": {Name: "Foundry Project Manager", Actions: []string{"Microsoft.CognitiveServices/accounts/*/read"}, DataActions: []string{"Microsoft.CognitiveServices/*"}},
	"64702f94-c441-49e6-a78b-ef80e0188fee": {Name: "Azure AI Developer", DataActions: []string{openAI + "*"}},
}

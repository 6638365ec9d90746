// Package rights knows what role definitions allow: how their patterns match, which
// operations reach a model, and what the built-in roles hold. It asks nobody and
// knows no assignment.
package rights

import (
	"slices"
	"strings"
)

const openAI = "Microsoft.CognitiveServices/accounts/OpenAI/"

// Operations of the management plane.
// https://learn.microsoft.com/azure/role-based-access-control/permissions/ai-machine-learning
const (
	ListKeys         = "Microsoft.CognitiveServices/accounts/listKeys/action"
	WriteAccount     = "Microsoft.CognitiveServices/accounts/write" // may turn keys back on
	AssignRole       = "Microsoft.Authorization/roleAssignments/write"
	WriteDeployments = "Microsoft.CognitiveServices/accounts/deployments/write"
)

// Operations of the data plane of a model account.
var (
	// Batch make, stop or feed batch jobs.
	Batch = []string{openAI + "batch-jobs/write", openAI + "batch-jobs/delete", openAI + "batches/cancel/action", openAI + "batches/delete", openAI + "files/write", openAI + "files/delete"}
	// Stored read what others stored: prompts and answers.
	Stored = []string{openAI + "batch-jobs/read", openAI + "batches/read", openAI + "files/read"}
	// Sync call a model.
	Sync = []string{openAI + "deployments/chat/completions/action", openAI + "deployments/completions/action", openAI + "deployments/embeddings/action", openAI + "responses/write"}
)

// Role is what one role definition allows, or what one permission of it does.
type Role struct {
	Name                                             string
	Actions, NotActions, DataActions, NotDataActions []string
}

// Allows tells whether the role allows an operation of the management plane, or,
// with data, of the data plane. What a role excludes it only does not give: another
// role may.
// https://learn.microsoft.com/azure/role-based-access-control/role-definitions#actions-format
func (r Role) Allows(operation string, data bool) bool {
	yes, no := r.Actions, r.NotActions
	if data {
		yes, no = r.DataActions, r.NotDataActions
	}
	return matches(yes, operation) && !matches(no, operation)
}

// First is the first of the data operations that the role allows, "" for none.
func (r Role) First(operations []string) string {
	for _, operation := range operations {
		if r.Allows(operation, true) {
			return operation
		}
	}
	return ""
}

// Wide tells whether the role's data actions hold a wildcard.
func (r Role) Wide() bool {
	return slices.ContainsFunc(r.DataActions, func(pattern string) bool { return strings.Contains(pattern, "*") })
}

func matches(patterns []string, operation string) bool {
	for _, pattern := range patterns {
		if like(strings.ToLower(pattern), strings.ToLower(operation)) {
			return true
		}
	}
	return false
}

// like matches a pattern in which "*" stands for any text, slashes too.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

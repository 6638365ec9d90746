// Package rights knows what role definitions allow: how their patterns match, which
// operations reach a model, and what the built-in roles hold. It asks nobody and
// knows no assignment.
package rights

import (
	"slices"
	"strings"
)

// provider starts the names of all operations on model accounts.
const provider = "Microsoft.CognitiveServices/"

const openAI = provider + "accounts/OpenAI/"

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
	// Sync call a model through the routes that the gateway offers. Azure has more that
	// do, and adds some: whoever may call none is judged by Beyond.
	Sync = []string{openAI + "deployments/chat/completions/action", openAI + "deployments/completions/action", openAI + "deployments/embeddings/action", openAI + "responses/write"}
)

// Read covers the operations that change nothing and run no model.
const Read = "*/read"

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

// Beyond are the role's data actions on model accounts, as the role lists them, that the
// patterns do not cover. One with a wildcard is among them when the patterns, and what
// the role takes off, cover a part of it only.
func (r Role) Beyond(covered ...string) []string {
	if matches(r.NotDataActions, provider+"*") {
		return nil
	}
	covered = slices.Concat(covered, r.NotDataActions)
	uncovered := func(pattern string) bool { return !matches(covered, pattern) }
	var out []string
	for _, action := range r.DataActions {
		if OnModels(action) && uncovered(action) && slices.ContainsFunc(byVerb(action), uncovered) {
			out = append(out, action)
		}
	}
	return out
}

// byVerb is a pattern that ends in "/*" by the verbs in which operations end: a role
// that takes off all that write leaves those that read.
func byVerb(pattern string) []string {
	start, open := strings.CutSuffix(pattern, "/*")
	if !open {
		return []string{pattern}
	}
	var out []string
	for _, verb := range []string{"/read", "/write", "/delete", "/action"} {
		out = append(out, pattern+verb)
		if strings.Count(start, "/") > 2 { // below accounts/OpenAI is a noun before the verb
			out = append(out, start+verb)
		}
	}
	return out
}

// OnModels tells whether a pattern of actions covers any on model accounts.
func OnModels(pattern string) bool {
	start, _, wild := strings.Cut(strings.ToLower(pattern), "*")
	all := strings.ToLower(provider)
	return strings.HasPrefix(start, all) || wild && strings.HasPrefix(all, start)
}

// Roles are the permissions of one role definition: what one of them takes off,
// another may give.
type Roles []Role

// Allows tells whether one of them allows the operation.
func (rs Roles) Allows(operation string, data bool) bool {
	return slices.ContainsFunc(rs, func(r Role) bool { return r.Allows(operation, data) })
}

// First is the first of the data operations that one of them allows, "" for none.
func (rs Roles) First(operations []string) string {
	for _, operation := range operations {
		if rs.Allows(operation, true) {
			return operation
		}
	}
	return ""
}

// Beyond are those of all of them.
func (rs Roles) Beyond(covered ...string) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Beyond(covered...)...)
	}
	return out
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

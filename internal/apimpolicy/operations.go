package apimpolicy

import (
	"slices"
	"strings"

	"onedoor/internal/apimpolicy/csharp"
)

// APIPath is the part of the URL that the API answers under: clients of both
// shapes append theirs, "/v1/..." and "/deployments/...". LoggedPath is that of
// the same API for tenants whose prompts are logged.
const (
	APIPath    = "openai"
	LoggedPath = "logged/openai"
)

// deployment is the parameter that holds the alias in the dated shape.
const deployment = "deployment-id"

// Operation is one route of the API.
type Operation struct {
	ID       string // unique in the API, at most 80 characters
	Method   string
	Template string // below the API's path; parameters in braces
	Path     string // on the back end; "" for an operation that is refused
}

// Refused tells whether the operation exists only to say where else to go.
func (o Operation) Refused() bool { return o.Path == "" }

// Parameters are the names in braces of the template, in their order.
func (o Operation) Parameters() []string {
	var out []string
	for part := range strings.SplitSeq(o.Template, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, strings.TrimSuffix(name, "}"))
		}
	}
	return out
}

// The paths of the synchronous routes on every back end: both shapes leave the
// gateway in the v1 one, which servers other than Azure's speak, too.
const (
	chat        = "/chat/completions"
	completions = "/completions" // of models that know no chat
	embeddings  = "/embeddings"
	responses   = "/responses"
	models      = "/models" // which the gateway itself answers
)

// Synchronous are the operations that are served. There is no other: a route
// that is not listed does not exist.
func Synchronous() []Operation {
	return []Operation{
		{"dated-chat-completions", "POST", "/deployments/{" + deployment + "}" + chat, chat},
		{"dated-completions", "POST", "/deployments/{" + deployment + "}" + completions, completions},
		{"dated-embeddings", "POST", "/deployments/{" + deployment + "}" + embeddings, embeddings},
		{"dated-models", "GET", models, models},
		{"dated-responses", "POST", responses, responses},
		{"v1-chat-completions", "POST", "/v1" + chat, chat},
		{"v1-completions", "POST", "/v1" + completions, completions},
		{"v1-embeddings", "POST", "/v1" + embeddings, embeddings},
		{"v1-models", "GET", "/v1" + models, models},
		{"v1-responses", "POST", "/v1" + responses, responses},
	}
}

// isOperation is the condition that a call came by an operation of one of the
// paths. Policies that run before the path is known ask so.
func isOperation(paths ...string) string {
	var ids []string
	for _, o := range Synchronous() {
		if slices.Contains(paths, o.Path) {
			ids = append(ids, `context.Operation.Id == `+csharp.Quote(o.ID))
		}
	}
	return strings.Join(ids, " || ")
}

// Refused are the routes of batch jobs and of the files that they are made of,
// in every shape that clients use: a caller of one is told where to go instead
// of getting a 404. The last shape is that of an Azure client that was made for
// one deployment.
// https://learn.microsoft.com/azure/ai-foundry/openai/reference
func Refused() []Operation {
	var out []Operation
	for _, shape := range []struct{ name, prefix string }{{"v1", "/v1"}, {"dated", ""}, {"deployment", "/deployments/{" + deployment + "}"}} {
		for _, o := range []Operation{
			{"batches-create", "POST", "/batches", ""},
			{"batches-list", "GET", "/batches", ""},
			{"batches-get", "GET", "/batches/{id}", ""},
			{"batches-cancel", "POST", "/batches/{id}/cancel", ""},
			{"files-create", "POST", "/files", ""},
			{"files-list", "GET", "/files", ""},
			{"files-get", "GET", "/files/{id}", ""},
			{"files-delete", "DELETE", "/files/{id}", ""},
			{"files-content", "GET", "/files/{id}/content", ""},
			{"uploads-create", "POST", "/uploads", ""},
			{"uploads-act", "POST", "/uploads/{id}/{action}", ""}, // parts, complete, cancel
		} {
			out = append(out, Operation{shape.name + "-" + o.ID, o.Method, shape.prefix + o.Template, ""})
		}
	}
	return append(out, Operation{"dated-files-import", "POST", "/files/import", ""})
}

package core

import (
	"net/http"
	"slices"
	"strings"
)

// actionPrefix starts the names of the data actions.
const actionPrefix = "Microsoft.CognitiveServices/accounts/OpenAI/"

// actions are the data actions of which a caller needs one, by operation (A802).
// https://learn.microsoft.com/azure/role-based-access-control/permissions/ai-machine-learning
var actions = map[Operation][]string{
	CreateFile:  {"files/write"},
	ImportFile:  {"files/write"},
	ListFiles:   {"files/read"},
	GetFile:     {"files/read"},
	FileContent: {"files/read"},
	DeleteFile:  {"files/delete"},
	CreateBatch: {"batch-jobs/write"},
	ListBatches: {"batches/read", "batch-jobs/read"},
	GetBatch:    {"batches/read", "batch-jobs/read"},
	CancelBatch: {"batches/cancel/action"},
	ListModels:  {"models/read"},
	Chat:        {"deployments/chat/completions/action"},
	Embeddings:  {"deployments/embeddings/action"},
	Responses:   {"responses/write"},
}

// Admit tells whether a request may be made at all, before its body is read:
// account, network, credential, action, in this order (A801). A wire asks before
// it takes an upload; Apply asks again.
func Admit(s State, r Request) *Error {
	account, ok := s.account(r.Account)
	if !ok {
		return notFound("host: got %q, want the subdomain of an account; fix: use <name>.openai.azure.com", r.Account)
	}
	if len(account.Networks) > 0 && !slices.Contains(account.Networks, r.Network) {
		return &Error{Status: http.StatusForbidden, Code: "AccessDenied", Message: "Access denied due to Virtual Network/Firewall rules."}
	}
	if r.Key {
		if !account.KeysAllowed {
			return &Error{Status: http.StatusForbidden, Code: "AuthenticationTypeDisabled", Message: "Key based authentication is disabled for this resource."}
		}
	} else if r.Caller == nil {
		return &Error{Status: http.StatusUnauthorized, Code: "401", Message: "Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired."}
	}
	wanted, ok := actions[r.Operation]
	if !ok {
		return notFound("Resource not found")
	}
	if r.Key || r.Caller.may(wanted) {
		return nil
	}
	return &Error{Status: http.StatusForbidden, Code: "PermissionDenied", Message: "The principal `" + r.Caller.ID + "` lacks the required data action `" + actionPrefix + wanted[0] + "` to perform the operation."}
}

func (p *Principal) may(wanted []string) bool {
	for _, action := range wanted {
		for _, pattern := range p.Actions {
			if glob(strings.ToLower(pattern), strings.ToLower(actionPrefix+action)) {
				return true
			}
		}
	}
	return false
}

// glob tells whether a pattern in which "*" stands for any characters covers text.
func glob(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	if !strings.HasPrefix(text, head) {
		return false
	}
	for at := len(head); at <= len(text); at++ {
		if glob(rest, text[at:]) {
			return true
		}
	}
	return false
}

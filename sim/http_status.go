package sim

import (
	"net/http"
	"strings"

	"onedoor/sim/core"
)

// madeStatus is the status of a PUT that made a resource, by ARM type in lower
// case, where a service does not answer ARM's usual 201 (A082). Clients take
// nothing else for success.
// https://learn.microsoft.com/rest/api/servicebus/controlplane-stable/queues/create-or-update
// https://learn.microsoft.com/rest/api/storagerp/storage-accounts/create
var madeStatus = map[string]int{
	"microsoft.servicebus/namespaces/authorizationrules":         http.StatusOK,
	"microsoft.servicebus/namespaces/queues":                     http.StatusOK,
	"microsoft.servicebus/namespaces/queues/authorizationrules":  http.StatusOK,
	"microsoft.servicebus/namespaces/topics":                     http.StatusOK,
	"microsoft.servicebus/namespaces/topics/authorizationrules":  http.StatusOK,
	"microsoft.servicebus/namespaces/topics/subscriptions":       http.StatusOK,
	"microsoft.servicebus/namespaces/topics/subscriptions/rules": http.StatusOK,
	"microsoft.storage/storageaccounts":                          http.StatusAccepted,
	"microsoft.storage/storageaccounts/managementpolicies":       http.StatusOK,
	"microsoft.storage/storageaccounts/tableservices/tables":     http.StatusOK,
}

// roleDefinitionType answers 201 to every PUT, also to one that changes a role.
// https://learn.microsoft.com/rest/api/authorization/role-definitions/create-or-update
const roleDefinitionType = "microsoft.authorization/roledefinitions"

// writeStatus returns the status that a service answers a write with, given the
// usual one.
func writeStatus(op core.Op, usual int) int {
	typ := strings.ToLower(core.TypeOf(op.ID))
	made, ok := madeStatus[typ]
	switch {
	case op.Method == core.Put && typ == roleDefinitionType:
		return http.StatusCreated
	case usual == http.StatusCreated && ok:
		return made
	}
	return usual
}

// headStatus is the answer to HEAD for what is there: ARM answers 204 for a
// resource group, services answer 200.
func headStatus(id string) int {
	if core.Key(core.GroupOf(id)) == core.Key(id) {
		return http.StatusNoContent
	}
	return http.StatusOK
}

// injectedRetryAfter is how many seconds a client that meets an injected
// TooManyRequests is told to stay away: the least that the header can say, because
// clients wait in real time (A085).
const injectedRetryAfter = "1"

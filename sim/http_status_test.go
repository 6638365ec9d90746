package sim_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"onedoor/sim"
	"onedoor/sim/core"
)

// Each service answers in its own way, and clients take no other for success
// (A082): when it is done, with which status, with what in the headers (A083). A
// list at the subscription shows all groups (A084), and whoever sends too much is
// told how long to stay away (A085).
func TestServicesAnswerInTheirOwnWay(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	const (
		busID, busVersion         = groupID + "/providers/Microsoft.ServiceBus/namespaces/bus-one-door", "?api-version=2024-01-01"
		accountID, accountVersion = groupID + "/providers/Microsoft.Storage/storageAccounts/onedoor", "?api-version=2024-01-01"
		gatewayID, gatewayVersion = groupID + "/providers/Microsoft.ApiManagement/service/gateway", "?api-version=2024-05-01"
		roleID, roleVersion       = groupID + "/providers/Microsoft.Authorization/roleDefinitions/11111111-0000-4000-8000-000000000000", "?api-version=2022-05-01-preview"
		role                      = `{"properties":{"roleName":"reader of jobs","assignableScopes":["` + groupID + `"],"permissions":[{"actions":["Microsoft.ServiceBus/namespaces/queues/read"]}]}}`
		account                   = `{"location":"swedencentral","kind":"StorageV2","sku":{"name":"Standard_ZRS"}}`
	)
	for _, step := range []struct {
		method, path, body string
		status             int
		accepted           bool // the write goes on, and can be followed
		etag               bool
	}{
		{"PUT", busID + busVersion, `{"location":"swedencentral","sku":{"name":"Standard"}}`, 201, true, false},
		{"PUT", busID + "/queues/jobs" + busVersion, `{}`, 200, false, false},
		{"PUT", busID + "/queues/jobs" + busVersion, `{"properties":{"maxDeliveryCount":5}}`, 200, false, false},
		{"DELETE", busID + "/queues/jobs" + busVersion, "", 204, false, false},
		{"PUT", accountID + accountVersion, account, 202, true, false},
		{"PUT", accountID + accountVersion, account, 200, true, false},
		{"PATCH", accountID + accountVersion, `{"tags":{"a":"b"}}`, 200, false, false},
		{"PUT", accountID + "/tableServices/default/tables/jobs" + accountVersion, "", 200, false, false},
		{"DELETE", accountID + accountVersion, "", 204, false, false},
		{"PUT", roleID + roleVersion, role, 201, false, false},
		{"PUT", roleID + roleVersion, role, 201, false, false},
		{"PUT", gatewayID + gatewayVersion, `{"location":"swedencentral","sku":{"name":"Developer","capacity":1},"properties":{"publisherEmail":"a@example.com","publisherName":"a"}}`, 201, true, true},
		{"PUT", gatewayID + "/products/full" + gatewayVersion, `{"properties":{"displayName":"full"}}`, 201, false, true},
		{"HEAD", gatewayID + "/products/full" + gatewayVersion, "", 200, false, true},
		{"HEAD", groupID + "?api-version=2024-03-01", "", 204, false, false},
	} {
		r := c.do(step.method, step.path, step.body)
		what := step.method + " " + step.path
		assert.Equal(t, step.status, r.StatusCode, "%s: %v", what, r.body)
		assert.Equal(t, step.accepted, r.Header.Get("Azure-AsyncOperation") != "", what)
		assert.Equal(t, step.etag, r.Header.Get("ETag") != "", what)
		if step.accepted {
			assert.Equal(t, "Succeeded", c.do("GET", r.Header.Get("Azure-AsyncOperation"), "").body["status"], what)
		}
	}
	list := c.do("GET", "/subscriptions/"+subscription+"/providers/Microsoft.ServiceBus/namespaces"+busVersion, "")
	assert.Len(t, list.body["value"], 1)
	assert.Empty(t, c.do("GET", "/subscriptions/"+subscription+"/providers/Microsoft.Storage/storageAccounts"+accountVersion, "").body["value"])

	c.cloud.Inject(sim.Fault{Code: core.TooManyRequests})
	throttled := c.do("PUT", busID+"/queues/jobs"+busVersion, `{}`)
	assert.Equal(t, http.StatusTooManyRequests, throttled.StatusCode)
	assert.Equal(t, "1", throttled.Header.Get("Retry-After"))
}

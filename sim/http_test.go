package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"onedoor/sim"
	"onedoor/sim/core"
)

const netVersion, zoneVersion = "?api-version=2024-05-01", "?api-version=2024-06-01"

// client sends plain requests.
type client struct {
	t      *testing.T
	server *httptest.Server
	cloud  *sim.Cloud
}

func serveARM(t *testing.T) *client {
	t.Helper()
	e := open(t)
	e.mustCreate(groupToken, "group", groupIn)
	e.mustCreate(vnetToken, "vnet", vnetIn)
	server := httptest.NewTLSServer(e.cloud.ARM())
	t.Cleanup(server.Close)
	return &client{t, server, e.cloud}
}

type response struct {
	*http.Response
	body map[string]any
}

func (c *client) do(method, path, body string, headers ...string) response {
	c.t.Helper()
	if !strings.HasPrefix(path, "https://") {
		path = c.server.URL + path
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, strings.ReplaceAll(path, " ", "%20"), bytes.NewBufferString(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.server.Client().Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	out := response{Response: res}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out.body); err != nil {
			c.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return out
}

func (r response) code() string {
	e, _ := r.body["error"].(map[string]any)
	code, _ := e["code"].(string)
	return code
}

// Refusals over HTTP have ARM's status, code, body and header (A080).
func TestHTTPRefuses(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	for name, r := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		code               string
	}{
		"no token":         {"GET", vnetID + netVersion, "", []string{"Authorization", ""}, 401, "AuthenticationFailed"},
		"no version":       {"GET", vnetID, "", nil, 400, "MissingApiVersionParameter"},
		"other version":    {"GET", vnetID + "?api-version=2020-01-01", "", nil, 400, "InvalidApiVersionParameter"},
		"unknown type":     {"GET", netID + "virtualNetwork/x" + netVersion, "", nil, 404, "InvalidResourceType"},
		"not there":        {"GET", vnetID + "2" + netVersion, "", nil, 404, "ResourceNotFound"},
		"no group":         {"GET", strings.Replace(vnetID, "/rg/", "/nope/", 1) + netVersion, "", nil, 404, "ResourceGroupNotFound"},
		"unknown property": {"PUT", vnetID + "/subnets/a" + netVersion, `{"properties":{"adressPrefix":"10.0.1.0/24"}}`, nil, 400, "InvalidRequestContent"},
		"no JSON":          {"PUT", vnetID + "/subnets/a" + netVersion, `{`, nil, 400, "InvalidRequestContent"},
		"no object":        {"PUT", vnetID + "/subnets/a" + netVersion, `[]`, nil, 400, "InvalidRequestContent"},
		"etag":             {"DELETE", vnetID + netVersion, "", []string{"If-Match", `W/"x"`}, 412, "PreconditionFailed"},
		"overlap":          {"PUT", vnetID + "/subnets/a" + netVersion, `{"properties":{"addressPrefix":"10.9.1.0/24"}}`, nil, 400, "NetcfgInvalidSubnet"},
		"post":             {"POST", vnetID + "/checkIpAvailability" + netVersion, "", nil, 405, "MethodNotAllowed"},
		"operation":        {"GET", "/subscriptions/" + subscription + "/providers/Microsoft.Network/locations/sim/operations/op-000999" + netVersion, "", nil, 404, "NotFound"},
	} {
		a := c.do(r.method, r.path, r.body, r.headers...)
		if a.StatusCode != r.status || a.code() != r.code || a.Header.Get("x-ms-error-code") != r.code {
			t.Errorf("%s: %d %s (%v), want %d %s", name, a.StatusCode, a.code(), a.body, r.status, r.code)
		}
	}
}

// A write answers at once, and polling lets virtual time go on (A081).
func TestHTTPOperations(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	first := c.do("PUT", netID+"natGateways/nat"+netVersion, `{"location":"swedencentral","sku":{"name":"Standard"}}`)
	second := c.do("PUT", netID+"privateDnsZones/corp.internal"+zoneVersion, `{"location":"global"}`)
	for _, r := range []response{first, second} {
		if r.StatusCode != http.StatusCreated || r.Header.Get("Azure-AsyncOperation") == "" || r.Header.Get("Location") == "" || r.Header.Get("Retry-After") != "0" {
			t.Fatalf("PUT: %d %v", r.StatusCode, r.Header)
		}
	}
	if r := c.do("PUT", netID+"privateDnsZones/corp.internal"+zoneVersion, `{"location":"global"}`); r.StatusCode != http.StatusConflict || r.code() != "AnotherOperationInProgress" {
		t.Errorf("PUT while another runs: %d %s, want 409 AnotherOperationInProgress", r.StatusCode, r.code())
	}
	// The zone takes 30 s, the gateway 20 s: the first poll of the zone sees the gateway end.
	poll := func(r response, header string) response { return c.do("GET", r.Header.Get(header), "") }
	if r := poll(second, "Azure-AsyncOperation"); r.body["status"] != "InProgress" {
		t.Errorf("first poll of the zone: %v, want InProgress", r.body)
	}
	if r := poll(first, "Azure-AsyncOperation"); r.body["status"] != "Succeeded" {
		t.Errorf("poll of the gateway: %v, want Succeeded", r.body)
	}
	if r := poll(second, "Azure-AsyncOperation"); r.body["status"] != "Succeeded" {
		t.Errorf("second poll of the zone: %v, want Succeeded", r.body)
	}
	if r := poll(second, "Location"); r.StatusCode != http.StatusOK || r.body["name"] != "corp.internal" {
		t.Errorf("result: %d %v", r.StatusCode, r.body)
	}
	gone := c.do("DELETE", netID+"natGateways/nat"+netVersion, "")
	if gone.StatusCode != http.StatusAccepted {
		t.Errorf("DELETE: %d, want 202", gone.StatusCode)
	}
	if r := poll(gone, "Location"); r.StatusCode != http.StatusNoContent {
		t.Errorf("result of a deletion: %d, want 204", r.StatusCode)
	}
	if r := c.do("DELETE", netID+"natGateways/nat"+netVersion, ""); r.StatusCode != http.StatusNoContent {
		t.Errorf("second DELETE: %d, want 204", r.StatusCode)
	}
	c.cloud.Inject(sim.Fault{Method: core.Patch, When: sim.AfterApply, Code: core.Conflict})
	failed := c.do("PATCH", netID+"privateDnsZones/corp.internal"+zoneVersion, `{"tags":{"a":"b"}}`)
	if r := poll(failed, "Azure-AsyncOperation"); r.body["status"] != "Failed" {
		t.Errorf("poll of a failed operation: %v", r.body)
	}
	if r := poll(failed, "Location"); r.StatusCode != http.StatusConflict {
		t.Errorf("result of a failed operation: %d, want 409", r.StatusCode)
	}
}

// Etags guard a read-modify-write (A011).
func TestHTTPEtags(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	r := c.do("GET", vnetID+netVersion, "")
	tag := r.Header.Get("ETag")
	if tag == "" || tag != r.body["etag"] {
		t.Fatalf("etag %q in the header, %v in the body", tag, r.body["etag"])
	}
	body, _ := json.Marshal(r.body)
	put := c.do("PUT", vnetID+netVersion, string(body), "If-Match", tag)
	if put.StatusCode != http.StatusOK {
		t.Fatalf("PUT with the etag: %d %v", put.StatusCode, put.body)
	}
	c.do("GET", put.Header.Get("Azure-AsyncOperation"), "")
	if r := c.do("PUT", vnetID+netVersion, string(body), "If-Match", tag); r.StatusCode != http.StatusPreconditionFailed {
		t.Errorf("PUT with the old etag: %d, want 412", r.StatusCode)
	}
}

func TestHTTPLists(t *testing.T) {
	t.Parallel()
	c := serveARM(t)
	for path, want := range map[string]int{
		"/subscriptions/" + subscription + "/resourceGroups?api-version=2024-03-01": 1,
		netID + "virtualNetworks" + netVersion:                                      1,
		vnetID + "/subnets" + netVersion:                                            0,
	} {
		r := c.do("GET", path, "")
		items, ok := r.body["value"].([]any)
		if r.StatusCode != http.StatusOK || !ok || len(items) != want {
			t.Errorf("%s: %d %v, want %d items", path, r.StatusCode, r.body, want)
		}
	}
}

type token struct{}

func (token) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "x", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// Microsoft's own client makes, reads and deletes resources (A081).
func TestRealClient(t *testing.T) {
	t.Parallel()
	e := open(t)
	server := httptest.NewTLSServer(e.cloud.ARM())
	t.Cleanup(server.Close)
	options := &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		Transport: server.Client(), Retry: policy.RetryOptions{MaxRetries: -1},
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: server.URL, Audience: server.URL}}},
	}}
	factory, err := armresources.NewClientFactory(subscription, token{}, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	groups, generic := factory.NewResourceGroupsClient(), factory.NewClient()
	// The client pins a version of its own for groups, so they are made by id.
	put := func(id, version string, r armresources.GenericResource) armresources.GenericResource {
		t.Helper()
		poller, err := generic.BeginCreateOrUpdateByID(ctx, id, version, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := poller.PollUntilDone(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.GenericResource
	}
	put(groupID, "2024-03-01", armresources.GenericResource{Location: new("Sweden Central")})
	vnet := put(vnetID, "2024-05-01", armresources.GenericResource{Location: new("swedencentral"), Properties: m{"addressSpace": m{"addressPrefixes": []string{"10.0.0.0/16"}}}})
	if *vnet.ID != vnetID || vnet.Properties.(map[string]any)["provisioningState"] != "Succeeded" {
		t.Errorf("network %v", vnet)
	}
	_, err = generic.BeginCreateOrUpdateByID(ctx, vnetID+"/subnets/a", "2024-05-01", armresources.GenericResource{Properties: m{"addressPrefix": "10.9.0.0/24"}}, nil)
	var refused *azcore.ResponseError
	if !errors.As(err, &refused) || refused.ErrorCode != "NetcfgInvalidSubnet" || refused.StatusCode != http.StatusBadRequest {
		t.Errorf("subnet outside: %v", err)
	}
	e.cloud.Inject(sim.Fault{When: sim.AfterApply, Code: core.OperationNotAllowed})
	poller, err := generic.BeginCreateOrUpdateByID(ctx, netID+"privateDnsZones/x.internal", "2024-06-01", armresources.GenericResource{Location: new("global")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := poller.PollUntilDone(ctx, nil); !errors.As(err, &refused) || refused.ErrorCode != "OperationNotAllowed" {
		t.Errorf("failed operation: %v", err)
	}
	// The gateway ends first, so the zone's first poll finds it running; the client
	// must not fall back to its 30 seconds then.
	for _, each := range []struct{ id, version, body string }{{netID + "natGateways/nat", "2024-05-01", "swedencentral"}, {netID + "privateDnsZones/y.internal", "2024-06-01", "global"}} {
		r := armresources.GenericResource{Location: new(each.body)}
		if each.body != "global" {
			r.SKU = &armresources.SKU{Name: new("Standard")}
		}
		if poller, err = generic.BeginCreateOrUpdateByID(ctx, each.id, each.version, r, nil); err != nil {
			t.Fatal(err)
		}
	}
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := poller.PollUntilDone(soon, nil); err != nil {
		t.Errorf("zone behind the gateway: %v", err)
	}
	deleting, err := generic.BeginDeleteByID(ctx, groupID, "2024-03-01", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deleting.PollUntilDone(ctx, nil); err != nil {
		t.Error(err)
	}
	if n := len(e.cloud.State().Resources); n != 0 {
		t.Errorf("%d resources left", n)
	}
	if _, err := groups.Get(ctx, "rg", nil); err == nil {
		t.Error("the group is there after its deletion")
	}
}

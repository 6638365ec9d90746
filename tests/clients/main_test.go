// Package clients puts the simulator's ARM endpoint to Microsoft's own judges, the
// Azure SDK for Go: what these clients send, take for an answer and read into
// their models is what the real Azure speaks. The providers that Pulumi's engine
// talks to are tested in sim, whole stacks in tests.
package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/apimanagement/armapimanagement/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/cognitiveservices/armcognitiveservices/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/msi/armmsi"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v6"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/servicebus/armservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/sim"
	"onedoor/sim/core"
)

func TestMain(m *testing.M) {
	embedded.Dispatch()
	os.Exit(m.Run())
}

// azure is Microsoft's clients over one simulated cloud, each at the API version
// that the program pins.
type azure struct {
	cloud    *sim.Cloud
	endpoint string
	http     *http.Client
	seen     *recorder

	resources *armresources.Client
	bus       *armservicebus.ClientFactory
	storage   *armstorage.ClientFactory
	network   *armnetwork.ClientFactory
	msi       *armmsi.ClientFactory
	roles     *armauthorization.RoleAssignmentsClient
	custom    *armauthorization.RoleDefinitionsClient
	models    *armcognitiveservices.ClientFactory
	aks       *armcontainerservice.ClientFactory
	gateway   *armapimanagement.ClientFactory
}

const subscription = "00000000-0000-0000-0000-00000000c1de"

// serve starts an endpoint over c and makes clients for a subscription. They do
// not try again, so that tests see every refusal.
func serve(t testing.TB, c *sim.Cloud, subscription string) *azure {
	t.Helper()
	server := httptest.NewTLSServer(c.ARM())
	t.Cleanup(server.Close)
	a := &azure{cloud: c, endpoint: server.URL, http: server.Client(), seen: &recorder{}}
	must := func(err error) { require.NoError(t, err) }
	var err error
	a.resources, err = armresources.NewClient(subscription, anybody{}, a.options("", -1))
	must(err)
	a.bus, err = armservicebus.NewClientFactory(subscription, anybody{}, a.options("2024-01-01", -1))
	must(err)
	a.storage, err = armstorage.NewClientFactory(subscription, anybody{}, a.options("2024-01-01", -1))
	must(err)
	a.network, err = armnetwork.NewClientFactory(subscription, anybody{}, a.options("2024-05-01", -1))
	must(err)
	a.msi, err = armmsi.NewClientFactory(subscription, anybody{}, a.options("2023-01-31", -1))
	must(err)
	a.roles, err = armauthorization.NewRoleAssignmentsClient(subscription, anybody{}, a.options("2022-04-01", -1))
	must(err)
	a.custom, err = armauthorization.NewRoleDefinitionsClient(anybody{}, a.options("2022-05-01-preview", -1))
	must(err)
	a.models, err = armcognitiveservices.NewClientFactory(subscription, anybody{}, a.options("2024-10-01", -1))
	must(err)
	a.aks, err = armcontainerservice.NewClientFactory(subscription, anybody{}, a.options("2025-01-01", -1))
	must(err)
	a.gateway, err = armapimanagement.NewClientFactory(subscription, anybody{}, a.options("2024-05-01", -1))
	must(err)
	return a
}

// options are those of a client at one API version; retries is how often it tries
// again, -1 for never.
func (a *azure) options(version string, retries int32) *arm.ClientOptions {
	services := map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: a.endpoint, Audience: a.endpoint}}
	return &arm.ClientOptions{DisableRPRegistration: true, ClientOptions: policy.ClientOptions{
		APIVersion: version, Transport: a.http, Retry: policy.RetryOptions{MaxRetries: retries},
		Cloud: cloud.Configuration{Services: services}, PerCallPolicies: []policy.Policy{a.seen},
	}}
}

// anybody is whoever calls: the simulated cloud takes any token.
type anybody struct{}

func (anybody) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// recorder keeps the body of the last answer as it came.
type recorder struct{ body []byte }

func (r *recorder) Do(req *policy.Request) (*http.Response, error) {
	res, err := req.Next()
	if err != nil {
		return res, err
	}
	r.body, err = runtime.Payload(res)
	return res, err
}

// ids reads all pages of a list and returns the ids in it.
func ids[P any](ctx context.Context, pager *runtime.Pager[P]) ([]string, error) {
	found := []string{}
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(page)
		if err != nil {
			return nil, err
		}
		var items struct {
			Value []struct {
				ID string `json:"id"`
			} `json:"value"`
		}
		if err := json.Unmarshal(text, &items); err != nil {
			return nil, err
		}
		for _, item := range items.Value {
			found = append(found, item.ID)
		}
	}
	return found, nil
}

// ended polls a long-running operation to its end.
func ended[T any](ctx context.Context, poller *runtime.Poller[T], err error) error {
	if err == nil {
		_, err = poller.PollUntilDone(ctx, nil)
	}
	return err
}

// segments are the group of an id and the names in it, behind the provider; for
// what is attached to any resource they are its scope and its name.
func segments(id string) []string {
	if scope, rest, attached := strings.Cut(id, "/providers/Microsoft.Authorization/"); attached {
		return []string{scope, core.Name(rest)}
	}
	parts := strings.Split(core.Clean(id), "/")
	names := []string{core.Name(core.GroupOf(id))}
	for i := 8; i < len(parts); i += 2 {
		names = append(names, parts[i])
	}
	return names
}

// put makes a resource that has no typed client here, by its id.
func (a *azure) put(ctx context.Context, id, version, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, a.endpoint+id+"?api-version="+version, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer simulated")
	res, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("PUT %s: %d %s %w", id, res.StatusCode, text, err)
	}
	return a.cloud.Sleep(ctx, time.Hour)
}

// refusal returns what a client makes of a refusal.
func refusal(t *testing.T, err error) *azcore.ResponseError {
	t.Helper()
	var refused *azcore.ResponseError
	require.ErrorAs(t, err, &refused)
	return refused
}

// refused says that a client was refused with a status and a code.
func refused(t *testing.T, err error, status int, code core.Code) {
	t.Helper()
	r := refusal(t, err)
	assert.Equal(t, status, r.StatusCode, "%v", err)
	assert.Equal(t, string(code), r.ErrorCode, "%v", err)
}

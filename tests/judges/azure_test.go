//go:build judges

package judges

import (
	"cmp"
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/internal/az"
	"onedoor/internal/engine"
)

// The hosts that stand in for Azure's.
const (
	loginHost = "login.microsoftonline.com"
	busSuffix = ".servicebus.windows.net"
)

// azure is what KEDA asks in Azure: Entra for a token, and Service Bus for the
// length of a queue, as the Azure half of a stack declares them. It is reached by a
// proxy, so KEDA calls the names that it would call; the proxy leads nowhere else.
// Who issued a token is not looked at: the cluster of a test has an issuer of its own.
type azure struct {
	authority *authority
	proxy     string            // URL
	tenant    string            // id
	trusted   map[string]string // subject that an identity trusts, by client id
	namespace string            // host of the Service Bus namespace
	readers   map[string]string // client id that may count a queue's messages, by queue

	mu      sync.Mutex
	lengths map[string]int // of queues
	asked   map[string]int // how often, by queue
	refused error          // why the first call was refused, if one was
}

// newAzure starts it, with empty queues.
func newAzure(t *testing.T, tenant string, made *engine.Result) *azure {
	t.Helper()
	a := &azure{authority: newAuthority(t, "azure"), tenant: tenant, trusted: map[string]string{}, readers: map[string]string{}, lengths: map[string]int{}, asked: map[string]int{}}
	a.read(made)
	files := a.authority.issue(t, "azure", pkix.Name{CommonName: "azure"}, loginHost, "*"+busSuffix)
	certificate, err := tls.LoadX509KeyPair(files.cert, files.key)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(a)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		if r.Method != http.MethodConnect || host != loginHost && !strings.HasSuffix(host, busSuffix) {
			a.refuse(w, http.StatusBadGateway, "no way to "+r.Host)
			return
		}
		tunnel(w, server.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	a.proxy = proxy.URL
	return a
}

// read reads what a stack made.
func (a *azure) read(made *engine.Result) {
	clients := map[string]string{} // by name and by principal
	for _, r := range made.Resources {
		if r.Kind() == "managedidentity:UserAssignedIdentity" {
			clients[text(r.Inputs, "resourceName")] = text(r.Outputs, "clientId")
			clients[text(r.Outputs, "principalId")] = text(r.Outputs, "clientId")
		}
	}
	for _, r := range made.Resources {
		switch r.Kind() {
		case "managedidentity:FederatedIdentityCredential":
			a.trusted[clients[text(r.Inputs, "resourceName")]] = text(r.Inputs, "subject")
		case "servicebus:Namespace":
			a.namespace = text(r.Inputs, "namespaceName") + busSuffix
		case "servicebus:Queue":
			a.lengths[text(r.Inputs, "queueName")] = 0
		case "authorization:RoleAssignment":
			_, queue, ok := strings.Cut(text(r.Inputs, "scope"), "/queues/")
			if ok && strings.HasSuffix(text(r.Inputs, "roleDefinitionId"), az.BusOwner.GUID) {
				a.readers[queue] = clients[text(r.Inputs, "principalId")]
			}
		}
	}
}

// text is a property that is a text.
func text(properties map[string]any, key string) string {
	value, _ := properties[key].(string)
	return value
}

// tunnel joins a caller with an address.
func tunnel(w http.ResponseWriter, address string) {
	far, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	near, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		far.Close()
		return
	}
	fmt.Fprint(near, "HTTP/1.1 200 OK\r\n\r\n")
	join := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		to.Close()
	}
	go join(far, near)
	go join(near, far)
}

// queues are the names of the queues.
func (a *azure) queues() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.lengths))
}

// set sets the length of a queue.
func (a *azure) set(queue string, length int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lengths[queue] = length
}

// length is that of a queue, for somebody who asks.
func (a *azure) length(queue string) (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, exists := a.lengths[queue]
	a.asked[queue]++
	return n, exists
}

// times is how often the length of a queue was asked for, and refusal is why
// the first call was refused, nil if none was.
func (a *azure) times(queue string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[queue]
}

func (a *azure) refusal() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused
}

func (a *azure) refuse(w http.ResponseWriter, code int, why string) {
	a.mu.Lock()
	a.refused = cmp.Or(a.refused, errors.New("azure refused a call: "+why))
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_client", "error_description": why})
}

// ServeHTTP implements http.Handler.
func (a *azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host == loginHost {
		a.login(w, r)
		return
	}
	a.bus(w, r)
}

// login is Entra: where tokens are, and a token for whoever shows one of the
// subject that the client trusts.
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
func (a *azure) login(w http.ResponseWriter, r *http.Request) {
	base := "https://" + loginHost + "/" + a.tenant
	answer := map[string]any{}
	switch {
	case strings.HasSuffix(r.URL.Path, "/discovery/instance"):
		answer["tenant_discovery_endpoint"] = base + "/v2.0/.well-known/openid-configuration"
		answer["metadata"] = []any{map[string]any{"preferred_network": loginHost, "preferred_cache": loginHost, "aliases": []string{loginHost}}}
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		answer["issuer"] = base + "/v2.0"
		answer["authorization_endpoint"] = base + "/oauth2/v2.0/authorize"
		answer["token_endpoint"] = base + "/oauth2/v2.0/token"
	case r.URL.Path == "/"+a.tenant+"/oauth2/v2.0/token":
		client, subject := r.FormValue("client_id"), subjectOf(r.FormValue("client_assertion"))
		if subject == "" || a.trusted[client] != subject {
			a.refuse(w, http.StatusUnauthorized, fmt.Sprintf("AADSTS70021: client %q trusts no %q", client, subject))
			return
		}
		if scope := r.FormValue("scope"); !strings.Contains(scope, "https://servicebus.azure.net/") {
			a.refuse(w, http.StatusBadRequest, fmt.Sprintf("scope: got %q, want that of Service Bus", scope))
			return
		}
		answer["token_type"], answer["expires_in"], answer["access_token"] = "Bearer", 3600, tokenOf+client
	default:
		a.refuse(w, http.StatusNotFound, "nothing at "+r.URL.Path)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// tokenOf and the client's id are what login gives.
const tokenOf = "of-"

// subjectOf is whose a token of a service account is.
func subjectOf(jwt string) string {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	claims := struct {
		Subject string `json:"sub"`
	}{}
	_ = json.Unmarshal(raw, &claims)
	return claims.Subject
}

// bus is the management interface of a namespace: the length of a queue.
// https://learn.microsoft.com/rest/api/servicebus/queues
func (a *azure) bus(w http.ResponseWriter, r *http.Request) {
	queue := strings.TrimPrefix(r.URL.Path, "/")
	if r.Host != a.namespace {
		a.refuse(w, http.StatusNotFound, "no namespace "+r.Host)
		return
	}
	client, ok := strings.CutPrefix(r.Header.Get("Authorization"), tokenOf) // Microsoft's client sends it bare
	if !ok || client != a.readers[queue] {
		a.refuse(w, http.StatusUnauthorized, fmt.Sprintf("%q may not count the messages of %q", client, queue))
		return
	}
	length, exists := a.length(queue)
	if !exists {
		a.refuse(w, http.StatusNotFound, "no queue "+queue)
		return
	}
	const made = "2026-01-01T00:00:00Z"
	w.Header().Set("Content-Type", "application/atom+xml;type=entry;charset=utf-8")
	fmt.Fprintf(w, `<entry xmlns="http://www.w3.org/2005/Atom"><id>https://%[1]s/%[2]s</id><title type="text">%[2]s</title>`+
		`<content type="application/xml"><QueueDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">`+
		`<SizeInBytes>0</SizeInBytes><MessageCount>%[3]d</MessageCount><CreatedAt>%[4]s</CreatedAt><UpdatedAt>%[4]s</UpdatedAt><AccessedAt>%[4]s</AccessedAt>`+
		`<CountDetails xmlns:d="http://schemas.microsoft.com/netservices/2011/06/servicebus"><d:ActiveMessageCount>%[3]d</d:ActiveMessageCount></CountDetails>`+
		`</QueueDescription></content></entry>`, r.Host, queue, length, made)
}

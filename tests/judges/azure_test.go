//go:build judges

package judges

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The hosts that stand in for Azure's.
const (
	loginHost = "login.microsoftonline.com"
	busSuffix = ".servicebus.windows.net"
)

// azure is what KEDA asks in Azure: Entra for a token, and Service Bus for the
// length of a queue. It is reached by a proxy, so KEDA calls the names that it
// would call; the proxy leads nowhere else.
type azure struct {
	authority *authority
	proxy     string // URL
	tenant    string
	client    string // id that has the subject's trust
	subject   string

	mu      sync.Mutex
	lengths map[string]int // of queues
	asked   map[string]int // how often, by queue
	refused []string       // why a call was refused
}

// newAzure starts it. client is the identity that trusts the subject.
func newAzure(t *testing.T, tenant, client, subject string) *azure {
	t.Helper()
	a := &azure{authority: newAuthority(t, "azure"), tenant: tenant, client: client, subject: subject, lengths: map[string]int{}, asked: map[string]int{}}
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

// set sets the length of a queue.
func (a *azure) set(queue string, length int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lengths[queue] = length
}

// times is how often the length of a queue was asked for, and refusals is why
// calls were refused.
func (a *azure) times(queue string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[queue]
}

func (a *azure) refusals() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.refused...)
}

func (a *azure) refuse(w http.ResponseWriter, code int, why string) {
	a.mu.Lock()
	a.refused = append(a.refused, why)
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
		if client, subject := r.FormValue("client_id"), subjectOf(r.FormValue("client_assertion")); client != a.client || subject != a.subject {
			a.refuse(w, http.StatusUnauthorized, fmt.Sprintf("AADSTS70021: client %q trusts no %q", client, subject))
			return
		}
		if scope := r.FormValue("scope"); !strings.Contains(scope, "https://servicebus.azure.net/") {
			a.refuse(w, http.StatusBadRequest, fmt.Sprintf("scope: got %q, want that of Service Bus", scope))
			return
		}
		answer["token_type"], answer["expires_in"], answer["access_token"] = "Bearer", 3600, token
	default:
		a.refuse(w, http.StatusNotFound, "nothing at "+r.URL.Path)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// token is what login gives.
const token = "of-the-scaler"

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
	a.mu.Lock()
	length, exists := a.lengths[queue]
	a.asked[queue]++
	a.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+token:
		a.refuse(w, http.StatusUnauthorized, "no token of the scaler")
		return
	case !exists:
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

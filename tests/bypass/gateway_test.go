package bypass_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
	"onedoor/internal/engine"
	"onedoor/tests/bad/replay"
)

// request is what a caller with a key of a tenant sends. It is refused when no back
// end sees it as anything but a synchronous call.
type request struct{ Method, Path string }

const apim = "azure-native:apimanagement:"

// call sends a request to the gateway of the plan, and tells the answer's status and
// the path that reached a back end, "" for none.
func call(t *testing.T, s replay.Stack, method, path, body string) (status int, reached string) {
	t.Helper()
	backend := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = r.URL.Path
		w.WriteHeader(http.StatusOK)
	})
	config := interp.Config{Route: interp.Lenient, Backends: map[string]interp.Backend{}, Keys: map[string]interp.Key{}}
	for _, r := range s.Resources {
		switch replay.Unversioned(r.Type) {
		case apim + "Api":
			config.Path = text(r, "path")
			config.Operations = append(config.Operations, imported(t, text(r, "value"))...)
		case apim + "ApiPolicy":
			config.API = document(r, r.Name)
		case apim + "ApiOperation":
			config.Operations = append(config.Operations, apimpolicy.Operation{ID: text(r, "operationId"), Method: text(r, "method"), Template: text(r, "urlTemplate")})
		case apim + "PolicyFragment":
			config.Fragments = append(config.Fragments, document(r, text(r, "id")))
		case apim + "ProductPolicy":
			config.Products = append(config.Products, document(r, text(r, "productId")))
		case apim + "Backend":
			config.Backends[text(r, "backendId")] = interp.Backend{URL: "https://backend", Handler: backend}
		case apim + "Subscription":
			scope := text(r, "scope")
			config.Keys[r.Name] = interp.Key{ID: text(r, "sid"), Name: text(r, "displayName"), Product: scope[strings.LastIndex(scope, "/")+1:]}
		}
	}
	g, err := interp.New(config)
	require.NoError(t, err)
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("api-key", "gateway-tenant-labs")
	w := httptest.NewRecorder()
	g.ServeHTTP(w, q)
	return w.Code, reached
}

func text(r engine.Resource, input string) string {
	s, _ := r.Inputs[input].(string)
	return s
}

// fragments that carry client ids are not known before these exist.
func document(r engine.Resource, name string) apimpolicy.Document {
	value := text(r, "value")
	if value == engine.Unknown {
		value = `<fragment><set-variable name="models-token" value="token" /><set-variable name="workers" value=";" /></fragment>`
	}
	return apimpolicy.Document{Name: name, Text: value, Raw: text(r, "format") == "rawxml"}
}

// imported are the operations of an OpenAPI document.
func imported(t *testing.T, spec string) []apimpolicy.Operation {
	t.Helper()
	if spec == "" {
		return nil
	}
	var read struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	require.NoError(t, json.Unmarshal([]byte(spec), &read))
	var out []apimpolicy.Operation
	for path, methods := range read.Paths {
		for method, o := range methods {
			out = append(out, apimpolicy.Operation{ID: o.OperationID, Method: strings.ToUpper(method), Template: path})
		}
	}
	slices.SortFunc(out, func(a, b apimpolicy.Operation) int { return strings.Compare(a.ID, b.ID) })
	return out
}

func TestTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	var synchronous []string
	for _, o := range apimpolicy.Synchronous() {
		synchronous = append(synchronous, o.Path)
	}
	const chat = `{"model": "chat", "messages": []}`
	status, reached := call(t, prod(t), http.MethodPost, "/openai/v1/chat/completions", chat)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "/chat/completions", reached, "a synchronous call is served")
	for _, w := range ways(t) {
		for _, r := range w.RefusedBy.Gateway {
			t.Run(w.Name+" "+r.Path, func(t *testing.T) {
				t.Parallel()
				_, reached := call(t, mutated(t, w), r.Method, r.Path, chat)
				if reached != "" { // the API's policy writes the path, whatever was asked for
					assert.Contains(t, synchronous, reached)
				}
			})
		}
	}
}

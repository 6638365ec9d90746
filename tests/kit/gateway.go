package kit

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/apimpolicy/interp"
	"onedoor/internal/engine"
	"onedoor/tests/bad/replay"
)

const apim = "azure-native:apimanagement:"

// Gateway is the gateway of a plan, with one handler behind all of its back ends. The
// key of a subscription is its name.
func Gateway(t testing.TB, resources []engine.Resource, backend http.Handler) interp.Config {
	t.Helper()
	config := interp.Config{Route: interp.Lenient, Backends: map[string]interp.Backend{}, Keys: map[string]interp.Key{}}
	for _, r := range resources {
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
	return config
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
func imported(t testing.TB, spec string) []apimpolicy.Operation {
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

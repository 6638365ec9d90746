package docs_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy/interp"
	"onedoor/tests/docs/shown"
	"onedoor/tests/kit"
)

// asked is the request that a call of curl makes.
func asked(words []string) (*http.Request, error) {
	method, target, body, headers := http.MethodGet, "", "", http.Header{}
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case (word == "--header" || word == "--data") && i+1 == len(words):
			return nil, fmt.Errorf("%s: nothing after it", word)
		case word == "--header":
			i++
			name, value, found := strings.Cut(words[i], ": ")
			if !found {
				return nil, fmt.Errorf("--header: got %q, want name: value", words[i])
			}
			headers.Add(name, value)
		case word == "--data":
			i++
			method, body = http.MethodPost, words[i]
		case strings.HasPrefix(word, "-") || target != "":
			return nil, fmt.Errorf("%s: unknown here", word)
		default:
			target = word
		}
	}
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header = headers
	return r, nil
}

// The requests that documents show are served by the gateway that dev plans, whose
// policies are interpreted: its audience, aliases and paths are those that the page
// names. The token is made up, of the audience that the command before it asks for.
func TestCallsOfTheGatewayAreServed(t *testing.T) {
	t.Parallel()
	for _, c := range of(t, shown.Gateway) {
		for _, plan := range []string{"full", "starter"} {
			request, err := asked(c.Words)
			require.NoError(t, err, c)
			reached := ""
			config := kit.Gateway(t, planned(t).Resources, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				reached = r.URL.Path
				fmt.Fprint(w, `{"usage": {"total_tokens": 2}}`)
			}))
			_, application := callerOf(t, plan)
			config.Tokens = map[string]interp.Token{"$TOKEN": {
				Audience: audienceBefore(t, c), Issuer: "https://login.microsoftonline.com/" + toldOfDev(t).Directory + "/v2.0", Claims: map[string]string{"azp": application},
			}}
			gateway, err := interp.New(config)
			require.NoError(t, err)
			answer := httptest.NewRecorder()
			gateway.ServeHTTP(answer, request)
			assert.Equal(t, http.StatusOK, answer.Code, "%s: %s", c, answer.Body)
			assert.Equal(t, "/chat/completions", reached, c)
		}
	}
}

// audienceBefore is what the page asks a token for, before a call that shows it.
func audienceBefore(t *testing.T, call shown.Command) string {
	t.Helper()
	audience := ""
	for _, c := range commands(t) {
		if c.Page == call.Page && c.Line < call.Line && strings.HasPrefix(strings.Join(c.Words, " "), "az account get-access-token ") {
			audience = after(t, c.Words, "--resource")
		}
	}
	require.NotEmpty(t, audience, "%s: nothing before it asks for a token", call)
	return audience
}

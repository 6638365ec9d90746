package apimpolicy_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/apimpolicy"
	"onedoor/internal/routing"
)

func TestResidencyIsKept(t *testing.T) {
	t.Parallel()
	all := []string{"sweden-gpt-41", "sweden-gpt-41-zone", "east-gpt-41"}
	for tenant, want := range map[string][]string{"acme": all[:1], "hooli": all[:2], "initech": all} {
		s := run(t, given())
		for _, id := range all {
			s.answer[id] = status(429)
		}
		w := s.post(chatPath, chatBody, "api-key", "key-of-"+tenant, "x-ms-spillover-deployment", "gpt-41-global")
		assert.Equal(t, http.StatusTooManyRequests, w.Code)
		assert.Equal(t, want, s.tried(), tenant)
		for _, c := range s.calls {
			assert.Empty(t, c.header.Get("x-ms-spillover-deployment"), "a caller could leave its residency with it")
		}
	}
	s := run(t, given())
	w := s.post("/openai/v1/embeddings", `{"model":"embed","input":"hi"}`, "api-key", "key-of-acme")
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.Equal(t, apimpolicy.CodeResidency, code(t, w))
	assert.Empty(t, s.calls)
	assert.Equal(t, http.StatusOK, s.post("/openai/v1/embeddings", `{"model":"embed","input":"hi"}`, "api-key", "key-of-initech").Code)
}

func TestAliases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		key    string
		status int
		code   string
	}{
		"Known":        {`{"model":"gpt-4.1"}`, "hooli", 200, ""},
		"NotInPlan":    {`{"model":"embed"}`, "hooli", 403, apimpolicy.CodePlan},
		"Unknown":      {`{"model":"gpt-9"}`, "hooli", 400, apimpolicy.CodeModel},
		"None":         {`{}`, "hooli", 400, apimpolicy.CodeModel},
		"Pattern":      {`{"model":"gpt-.*"}`, "hooli", 400, apimpolicy.CodeModel},
		"AnyCharacter": {`{"model":"gpt-4x1"}`, "hooli", 400, apimpolicy.CodeModel},
		"LineBreak":    {`{"model":"gpt-4.1\n"}`, "hooli", 400, apimpolicy.CodeModel},
		"Entry":        {`{"model":"embed/dataZone=;embed"}`, "hooli", 400, apimpolicy.CodeModel},
		"Number":       {`{"model":4}`, "hooli", 400, apimpolicy.CodeModel},
		"Object":       {`{"model":{"a":1}}`, "hooli", 400, apimpolicy.CodeBody},
		"NoJSON":       {`model=gpt-4.1`, "hooli", 400, apimpolicy.CodeBody},
		"Array":        {`[{"model":"gpt-4.1"}]`, "hooli", 400, apimpolicy.CodeBody},
		"Empty":        {``, "hooli", 400, apimpolicy.CodeBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := run(t, given())
			w := s.post(chatPath, c.body, "api-key", "key-of-"+c.key)
			assert.Equal(t, c.status, w.Code, w.Body.String())
			if c.code != "" {
				assert.Equal(t, c.code, code(t, w))
				assert.Empty(t, s.calls)
			}
		})
	}
}

// A dot in an alias is a dot, and does not stand for any character.
func TestAliasesThatLookAlikeAreTwo(t *testing.T) {
	t.Parallel()
	g := given()
	g.Aliases = append(g.Aliases, routing.New("gpt-4-1", region, azure("sweden-other", "sweden", "other", "Standard", region, routing.Regional)))
	g.Plans[0].Aliases = append(g.Plans[0].Aliases, "gpt-4-1")
	s := run(t, g)
	for _, alias := range []string{"gpt-4.1", "gpt-4-1"} {
		require.Equal(t, http.StatusOK, s.post(chatPath, `{"model":"`+alias+`"}`, "api-key", "key-of-acme").Code)
	}
	assert.Equal(t, []string{"sweden-gpt-41", "sweden-other"}, s.tried())
}

// A caller sees the models of its plan, and no back end is asked.
func TestModelsAreThoseOfThePlan(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{"key-of-acme": {"embed", "gpt-4.1", "llama"}, "key-of-hooli": {"gpt-4.1"}} {
		for _, path := range []string{"/openai/v1/models", "/openai/models?api-version=2024-10-21"} {
			s := run(t, given())
			w := s.do("GET", path, "", "api-key", key)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			var list struct {
				Object string
				Data   []struct{ ID, Object string }
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &list), w.Body.String())
			assert.Equal(t, "list", list.Object)
			var got []string
			for _, model := range list.Data {
				assert.Equal(t, "model", model.Object)
				got = append(got, model.ID)
			}
			assert.Equal(t, want, got)
			assert.Empty(t, s.calls)
			assert.Empty(t, s.Metrics())
		}
	}
	s := run(t, given())
	assert.Equal(t, http.StatusUnauthorized, s.do("GET", "/openai/v1/models", "").Code)
	assert.Equal(t, http.StatusForbidden, s.do("GET", "/openai/v1/models", "", "Authorization", "Bearer token-of-stranger").Code)
}

// A service outside Azure is no part of any residency: only who agreed to such
// gets there.
func TestOnlyWhoAgreedLeavesAzure(t *testing.T) {
	t.Parallel()
	g := given()
	g.Aliases[0] = routing.New("gpt-4.1", region, append(g.Aliases[0].Targets, routing.Target{
		Backend: "external_partner", Kind: routing.External, Deployment: "vendor/model", URL: "https://api.example.com/v1", Residency: routing.Anywhere,
	})...)
	for residency, want := range map[routing.Residency]int{routing.Regional: 1, routing.DataZone: 2, routing.Global: 3, routing.Anywhere: 4} {
		g.Tenants[0].Residency = residency
		s := run(t, g)
		for _, target := range g.Aliases[0].Targets {
			s.answer[target.Backend] = status(429)
		}
		require.Equal(t, http.StatusTooManyRequests, s.post(chatPath, chatBody, "api-key", "key-of-acme").Code)
		require.Len(t, s.tried(), want, residency)
		assert.Equal(t, residency == routing.Anywhere, s.tried()[want-1] == "external_partner", residency)
	}
}

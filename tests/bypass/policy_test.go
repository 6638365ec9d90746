package bypass_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
	"onedoor/internal/az/policyrule"
	"onedoor/internal/engine"
	"onedoor/tests/bad/replay"
)

// written is what a resource writes to Azure.
type written struct {
	id, armType string
	body        map[string]any
}

// write is the request that a resource makes, if it writes to Azure. Of a patch it
// is what the patch sets, without what it leaves as it was.
func write(t *testing.T, r engine.Resource) (written, bool) {
	t.Helper()
	if r.Type == "armpatch:index:Patch" {
		id, _ := r.Inputs["resourceId"].(string)
		body, _ := r.Inputs["properties"].(map[string]any)
		return written{id, typeOf(id), body}, true
	}
	types, err := armtypes.Load()
	require.NoError(t, err)
	for _, token := range types.Tokens() { // Azure Policy does not look at the version of the API
		if replay.Unversioned(token) != replay.Unversioned(r.Type) {
			continue
		}
		typ, _ := types.ByToken(token)
		id, problems := typ.ID(r.Inputs, subscription)
		if len(problems) > 0 {
			return written{}, false // its id is not known yet
		}
		body, _ := typ.Body(r.Inputs)
		return written{id, typeOf(id), body}, true
	}
	return written{}, false
}

const subscription = "11111111-2222-3333-4444-555555555555"

// typeOf is the ARM type of an id.
func typeOf(id string) string {
	parts := strings.Split(id[strings.LastIndex(id, "/providers/")+1:], "/")
	names := []string{parts[1]} // the provider; types and names take turns after it
	for i := 2; i < len(parts); i += 2 {
		names = append(names, parts[i])
	}
	return strings.Join(names, "/")
}

// denied are the resources of the changed plan whose write an assigned definition
// of the recorded plan denies.
func denied(t *testing.T, before, after replay.Stack) []string {
	t.Helper()
	var out []string
	definitions := map[string]policyrule.Rule{}
	for _, r := range before.Resources {
		if replay.Unversioned(r.Type) == "azure-native:authorization:PolicyDefinition" {
			rule, _ := r.Inputs["policyRule"].(map[string]any)
			parameters, _ := r.Inputs["parameters"].(map[string]any)
			parsed, err := policyrule.Parse(rule, parameters)
			require.NoError(t, err)
			definitions[r.Inputs["policyDefinitionName"].(string)] = parsed
		}
	}
	for _, r := range after.Resources {
		w, writes := write(t, r)
		if !writes {
			continue
		}
		body := policyrule.Body{ID: w.id, Type: w.armType, Content: w.body, Unknown: func(v any) bool { return v == engine.Unknown }}
		for _, a := range before.Resources {
			if replay.Unversioned(a.Type) != "azure-native:authorization:PolicyAssignment" || !below(w.id, a.Inputs["scope"].(string)) {
				continue
			}
			id := a.Inputs["policyDefinitionId"].(string)
			rule, known := definitions[id[strings.LastIndex(id, "/")+1:]]
			require.True(t, known, id)
			if rule.Denies(body, nil) == policyrule.Yes {
				out = append(out, r.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// below tells whether id is scope or stands below it.
func below(id, scope string) bool {
	id, scope = strings.ToLower(id), strings.ToLower(scope)
	return id == scope || strings.HasPrefix(id, scope+"/")
}

func TestAzurePolicyRefuses(t *testing.T) {
	t.Parallel()
	before := prod(t)
	assert.Empty(t, denied(t, before, before), "the stack's own resources are allowed")
	for _, w := range ways(t) {
		if len(w.RefusedBy.AzurePolicy) == 0 {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, slices.Sorted(slices.Values(w.RefusedBy.AzurePolicy)), denied(t, before, mutated(t, w)))
		})
	}
}

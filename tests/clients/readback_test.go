package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"onedoor/internal/armtypes"
	"onedoor/sim"
	"onedoor/sim/core"
	"onedoor/tests/kit"
)

// newer are fields that the simulator answers and a client's model lacks, because
// the program speaks a newer version of the API than the client. A path ends where
// the client stops to know; why says which version has it.
var newer = map[string]map[string]string{
	"Microsoft.ServiceBus/namespaces": {
		"properties.minimumTlsVersion":          "2022-01-01-preview; the client speaks 2021-11-01",
		"properties.publicNetworkAccess":        "2022-01-01-preview; the client speaks 2021-11-01",
		"properties.premiumMessagingPartitions": "2022-10-01-preview; the client speaks 2021-11-01",
	},
	"Microsoft.Authorization/roleDefinitions": {
		"properties.createdBy": "2022-05-01-preview; the client speaks 2022-04-01",
		"properties.createdOn": "2022-05-01-preview; the client speaks 2022-04-01",
		"properties.updatedBy": "2022-05-01-preview; the client speaks 2022-04-01",
		"properties.updatedOn": "2022-05-01-preview; the client speaks 2022-04-01",
	},
	"Microsoft.ApiManagement/service/apis/diagnostics": {
		"properties.largeLanguageModel": "2024-06-01-preview; the client speaks 2024-05-01",
	},
	"Microsoft.Network/privateEndpoints/privateDnsZoneGroups": {
		"type": "every resource of ARM has a type, this model of the client leaves it out",
	},
}

// Microsoft's clients read every resource of a stack into their models, and nothing
// of what was answered gets lost: every field has a place, every value the type that
// the model wants. Their lists show the same resources. What has no typed client
// here is read as any resource of ARM, and every answer fits the published
// definition of its type.
func TestClientsReadEveryResourceBack(t *testing.T) {
	t.Parallel()
	for stack, values := range map[string]map[string]any{
		"dev": {"externalProviders": map[string]any{
			"partner": map[string]any{"baseUrl": "https://api.example.com/v1", "secretName": "partner-api-key", "aliases": map[string]any{"small": "small-1"}},
		}},
		"prod": {},
	} {
		t.Run(stack, func(t *testing.T) {
			t.Parallel()
			s := kit.Session(t, stack, kit.Changed(t, kit.StackFiles()[stack], values))
			s.Inspect = func(c *sim.Cloud) { readBack(t, c) }
			_, err := s.Up(t.Context())
			require.NoError(t, err)
		})
	}
}

func readBack(t *testing.T, c *sim.Cloud) {
	t.Helper()
	all := slices.SortedFunc(maps.Values(c.State().Resources), func(a, b *core.Resource) int { return strings.Compare(core.Key(a.ID), core.Key(b.ID)) })
	require.NotEmpty(t, all)
	a := serve(t, c, core.SubscriptionOf(all[0].ID))
	typed, lists := 0, map[string]bool{}
	definitions, err := armtypes.Load()
	require.NoError(t, err)
	for _, r := range all {
		k, ok := kinds[r.Type]
		if !ok {
			readGeneric(t, a, r)
			conforms(t, definitions, r, a.seen.body)
			continue
		}
		typed++
		n := segments(r.ID)
		model, err := k.read(t.Context(), a, n)
		if !assert.NoError(t, err, r.ID) {
			continue
		}
		compare(t, r, a.seen.body, model)
		conforms(t, definitions, r, a.seen.body)
		collection := r.Type + " in " + core.ParentOf(r.ID)
		if k.everywhere {
			collection = r.Type
		}
		if k.list == nil || lists[collection] {
			continue
		}
		lists[collection] = true
		found, err := k.list(t.Context(), a, n)
		require.NoError(t, err, collection)
		var want []string
		for _, other := range all {
			if other.Type == r.Type && (k.everywhere || core.ParentOf(other.ID) == core.ParentOf(r.ID)) {
				want = append(want, other.ID)
			}
		}
		assert.ElementsMatch(t, want, found, collection)
	}
	assert.Greater(t, typed, len(all)/2, "typed")
	t.Logf("%d resources read back, %d of them typed, %d lists", len(all), typed, len(lists))
}

// readGeneric reads what has no typed client here as a resource of ARM, which has a
// place for everything beside properties but an etag.
func readGeneric(t *testing.T, a *azure, r *core.Resource) {
	t.Helper()
	got, err := a.resources.GetByID(t.Context(), r.ID, r.APIVersion, nil)
	if !assert.NoError(t, err, r.ID) {
		return
	}
	var answer map[string]any
	require.NoError(t, json.Unmarshal(a.seen.body, &answer), r.ID)
	delete(answer, "etag")
	body, err := json.Marshal(answer)
	require.NoError(t, err, r.ID)
	compare(t, r, body, got.GenericResource)
}

// conforms says where an answer differs from the published definition of its type,
// in what a client may write; an etag at the top is the protocol's.
func conforms(t *testing.T, definitions *armtypes.Catalog, r *core.Resource, body []byte) {
	t.Helper()
	typ, ok := definitions.ByID(r.ID, r.APIVersion)
	if !ok {
		require.True(t, r.ByAzure, "the program makes no type without a definition: %s", r.ID)
		return
	}
	var answer map[string]any
	require.NoError(t, json.Unmarshal(body, &answer), r.ID)
	delete(answer, "etag")
	for _, problem := range typ.CheckBody(answer) {
		t.Errorf("%s %s: %s", r.Type, r.ID, problem.Error())
	}
}

// compare says what of body the model did not keep.
func compare(t *testing.T, r *core.Resource, body []byte, model any) {
	t.Helper()
	text, err := json.Marshal(model)
	require.NoError(t, err, r.ID)
	var sent, kept any
	require.NoError(t, json.Unmarshal(body, &sent), r.ID)
	require.NoError(t, json.Unmarshal(text, &kept), r.ID)
	for _, path := range lost("", sent, kept) {
		name, _, _ := strings.Cut(path, ": ")
		if newer[r.Type][name] == "" {
			t.Errorf("%s %s: %s", r.Type, r.ID, path)
		}
	}
}

// lost lists the paths of sent that kept lacks or has another value at.
func lost(path string, sent, kept any) []string {
	switch sent := sent.(type) {
	case map[string]any:
		object, ok := kept.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: an object became %v", path, kept)}
		}
		var found []string
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			if value, ok := object[name]; ok {
				found = append(found, lost(at, sent[name], value)...)
			} else {
				found = append(found, fmt.Sprintf("%s: %v got lost", at, sent[name]))
			}
		}
		return found
	case []any:
		list, ok := kept.([]any)
		if !ok || len(list) != len(sent) {
			return []string{fmt.Sprintf("%s: %d items became %v", path, len(sent), kept)}
		}
		var found []string
		for i := range sent {
			found = append(found, lost(path+"[]", sent[i], list[i])...)
		}
		return found
	case string:
		if text, ok := kept.(string); ok && sameTime(sent, text) {
			return nil
		}
	}
	if !reflect.DeepEqual(sent, kept) {
		return []string{fmt.Sprintf("%s: %v became %v", path, sent, kept)}
	}
	return nil
}

// sameTime says whether two texts are one point in time; models keep no zeros at the
// end of a second.
func sameTime(a, b string) bool {
	one, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	other, err := time.Parse(time.RFC3339, b)
	return err == nil && one.Equal(other)
}

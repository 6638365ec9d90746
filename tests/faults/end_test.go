package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"onedoor/cmd/embedded"
	"onedoor/sim"
)

// end is what a stack has come to: each entry a resource of the cloud or of the engine's state,
// without what tells one way there from another.
type end map[string]any

// endOf reads the cloud and the state of a stack.
func endOf(t testing.TB, s *embedded.Session) end {
	t.Helper()
	out := end{}
	for key, r := range cloudOf(t, s).Resources {
		if r.ByAzure {
			continue
		}
		out["cloud "+key] = plain(key, map[string]any{"type": r.Type, "version": r.APIVersion, "body": r.Body, "state": r.Provisioning})
	}
	for key, o := range cloudOf(t, s).Objects {
		_, name, _ := strings.Cut(key, "/") // the rest is the cluster
		out["object "+name] = plain(name, o.Body)
	}
	for _, r := range stateOf(t, s).Resources {
		urn := r["urn"].(string)
		require.NotContains(t, out, "state "+urn, "twice in the state")
		for _, key := range []string{"created", "modified", "sourcePosition", "stackTrace", "importID"} {
			delete(r, key)
		}
		if strings.Contains(urn, "::pulumi:providers:") {
			delete(r, "id") // the engine draws it
		}
		if r["type"] == "armpatch:index:Patch" { // one that was killed after its write finds it there
			for _, found := range []string{"alreadyHeld", "previous", "previouslyAbsent"} {
				remove(r, []string{"outputs", found})
			}
		}
		// What the program ignores stands among the inputs as it was first, or as Azure had it
		// when it was imported.
		inputs, _ := r["inputs"].(map[string]any)
		ignored, _ := r["ignoreChanges"].([]any)
		for _, path := range ignored {
			remove(inputs, strings.Split(path.(string), "."))
		}
		out["state "+urn] = plain(urn, r)
	}
	return out
}

// remove takes the member that keys lead to out of an object, if it is there.
func remove(object map[string]any, keys []string) {
	if len(keys) == 1 {
		delete(object, keys[0])
		return
	}
	below, _ := object[keys[0]].(map[string]any)
	remove(below, keys[1:])
}

// cloudOf reads the stored cloud of a stack; it changes nothing.
func cloudOf(t testing.TB, s *embedded.Session) (state struct {
	Resources map[string]struct {
		Type, APIVersion, Provisioning string
		Body                           map[string]any
		ByAzure                        bool
	}
	Objects map[string]struct{ Body map[string]any }
}) {
	t.Helper()
	cloud, err := sim.Open(filepath.Join(s.Home, "azure", s.Stack+".json"))
	require.NoError(t, err)
	raw, err := json.Marshal(cloud.State())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &state))
	return state
}

// checkpoint is the part of the engine's state that is compared.
type checkpoint struct {
	Resources []map[string]any
	Pending   []any `json:"pending_operations"`
}

// stateOf reads the engine's state.
func stateOf(t testing.TB, s *embedded.Session) checkpoint {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Home, "state", ".pulumi", "stacks", "onedoor", s.Stack+".json"))
	require.NoError(t, err)
	var file struct {
		Checkpoint struct{ Latest checkpoint }
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	return file.Checkpoint.Latest
}

// Counters of writes, the addresses that private endpoints take in the order in which they are
// made, and the ids that the engine draws for providers.
var (
	counters   = []string{"etag", "eTag", "resourceVersion", "generation", "observedGeneration", "revision", "secretUriWithVersion"}
	addresses  = []string{"ipAddresses", "ipv4Address"}
	ofEndpoint = regexp.MustCompile(`(?i)/privatelink\.|/privateendpoints/|:PrivateEndpoint::|:PrivateDnsZoneGroup::`)
	providerID = regexp.MustCompile(`(::pulumi:providers:[^:]+::[^:]+::)[0-9a-f-]{36}$`)
)

// plain is v without counters, secrets, addresses of endpoints and drawn ids; lists of URNs are sorted.
func plain(of string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if v["ciphertext"] != nil {
			return "[secret]"
		}
		out := map[string]any{}
		for key, item := range v {
			if !slices.Contains(counters, key) && !(slices.Contains(addresses, key) && ofEndpoint.MatchString(of)) {
				out[key] = plain(of, item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		urns := len(v) > 0
		for i, item := range v {
			out[i] = plain(of, item)
			s, ok := out[i].(string)
			urns = urns && ok && strings.HasPrefix(s, "urn:pulumi:")
		}
		if urns {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		return out
	case string:
		if strings.HasPrefix(v, "/subscriptions/") {
			return strings.ToLower(v) // Azure writes some names in its own letter case
		}
		return providerID.ReplaceAllString(v, "$1")
	}
	return v
}

// requireSame compares two ends and shows the first few paths that differ.
func requireSame(t testing.TB, want, got end) {
	t.Helper()
	var differ []string
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		differ = append(differ, difference(key, want[key], got[key])...)
	}
	require.Empty(t, strings.Join(differ[:min(20, len(differ))], "\n"), "%d differences from the undisturbed run", len(differ))
}

// difference lists the paths at which two values differ.
func difference(path string, want, got any) []string {
	a, ok1 := want.(map[string]any)
	b, ok2 := got.(map[string]any)
	if !ok1 || !ok2 {
		if reflect.DeepEqual(want, got) {
			return nil
		}
		return []string{fmt.Sprintf("%s: want %v, got %v", path, want, got)}
	}
	var out []string
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, difference(path+"."+key, a[key], b[key])...)
	}
	return out
}

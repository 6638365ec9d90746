package armtypes

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const subscription = "00000000-0000-0000-0000-000000000001"

func catalog(t testing.TB) *Catalog {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// resource returns a type by its token without the package: "network/v20240501:Subnet".
func resource(t testing.TB, name string) *Resource {
	t.Helper()
	r, ok := catalog(t).ByToken("azure-native:" + name)
	if !ok {
		t.Fatalf("no resource type %s", name)
	}
	return r
}

// object parses a JSON object; "?" stands for Unknown.
func jsonObject(t testing.TB, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return unknowns(m).(map[string]any)
}

func unknowns(v any) any {
	switch v := v.(type) {
	case string:
		if v == "?" {
			return Unknown{}
		}
	case map[string]any:
		for key, e := range v {
			v[key] = unknowns(e)
		}
	case []any:
		for i, e := range v {
			v[i] = unknowns(e)
		}
	}
	return v
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.MarshalIndent(got, "", " ")
		w, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}

func TestCatalogFindsTypes(t *testing.T) {
	t.Parallel()
	c := catalog(t)
	if n := len(c.Tokens()); n != 80 {
		t.Errorf("%d resource types, want 80", n)
	}
	const group = "/subscriptions/s/resourceGroups/g"
	for name, test := range map[string]struct{ id, version, want string }{
		"group":          {group, "2024-03-01", "resources/v20240301:ResourceGroup"},
		"subnet":         {group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/s", "2024-05-01", "network/v20240501:Subnet"},
		"letter case":    {strings.ToUpper(group + "/providers/Microsoft.Network/virtualNetworks/v"), "2024-05-01", "network/v20240501:VirtualNetwork"},
		"record":         {group + "/providers/Microsoft.Network/privateDnsZones/z/TXT/r", "2024-06-01", "network/v20240601:PrivateRecordSet"},
		"scope":          {group + "/providers/Microsoft.KeyVault/vaults/v/providers/Microsoft.Authorization/roleAssignments/r", "2022-04-01", "authorization/v20220401:RoleAssignment"},
		"other version":  {group + "/providers/Microsoft.Network/virtualNetworks/v", "2019-01-01", ""},
		"collection":     {group + "/providers/Microsoft.Network/virtualNetworks", "2024-05-01", ""},
		"no record type": {group + "/providers/Microsoft.Network/privateDnsZones/z/NS/r", "2024-06-01", ""},
		"no id":          {"virtualNetworks/v", "2024-05-01", ""},
		"empty":          {"", "", ""},
	} {
		r, ok := c.ByID(test.id, test.version)
		if ok != (test.want != "") || ok && r.Token != "azure-native:"+test.want {
			t.Errorf("%s: %s at %s: got %+v, want %q", name, test.id, test.version, r, test.want)
		}
	}
}

func TestNearestTokens(t *testing.T) {
	t.Parallel()
	for token, want := range map[string][]string{
		"azure-native:network:Subnet":                   {"network/v20240501:Subnet"},
		"azure-native:network/v20200101:virtualnetwork": {"network/v20240501:VirtualNetwork"},
		"azure-native:apimanagement:Diagnostic":         {"apimanagement/v20240501:Diagnostic", "apimanagement/v20240601preview:Diagnostic"},
		"azure-native:network/v20240501:SubNets":        {"network/v20240501:Subnet", "network/v20240501:NatGateway", "network/v20240501:RouteTable"},
	} {
		for i := range want {
			want[i] = "azure-native:" + want[i]
		}
		if got := catalog(t).Nearest(token); !slices.Equal(got, want) {
			t.Errorf("nearest to %q: got %q, want %q", token, got, want)
		}
	}
	if got := catalog(t).Nearest(""); len(got) != 3 {
		t.Errorf("nearest to nothing: got %q", got)
	}
}

// Every name that the golden map lists must come out at its place in the body.
func TestEveryMappedInputReachesItsPlace(t *testing.T) {
	t.Parallel()
	var golden map[string]map[string]string
	readJSON(t, "testdata/pathmap.json", &golden)
	n := 0
	for token, paths := range golden {
		r, ok := catalog(t).ByToken(token)
		if !ok {
			t.Errorf("%s: unknown type", token)
			continue
		}
		for from, to := range paths {
			n++
			inputs := map[string]any{}
			set(inputs, from, Unknown{})
			body, problems := r.Body(inputs)
			if len(problems) > 0 {
				t.Errorf("%s: %s: %v", token, from, problems)
			} else if got := leaf(body, ""); got != to {
				t.Errorf("%s: %s went to %s, want %s", token, from, got, to)
			}
		}
	}
	if n != 1871 {
		t.Errorf("checked %d names, want 1871", n)
	}
}

// set writes v at a path like "a[].b.*.c", through arrays of one element and
// maps of one key "*". A name may hold dots only in ARM, not here.
func set(m map[string]any, path string, v any) {
	name, rest, nested := strings.Cut(path, ".")
	name, arrays := strings.TrimRight(name, "[]"), strings.Count(name, "[]")
	var inner = v
	if nested {
		object := map[string]any{}
		set(object, rest, v)
		inner = object
	}
	for range arrays {
		inner = []any{inner}
	}
	m[name] = inner
}

// leaf returns the path of the only value.
func leaf(v any, path string) string {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if path != "" {
				name = path + "." + name
			}
			return leaf(e, name)
		}
	case []any:
		if len(v) > 0 {
			return leaf(v[0], path+"[]")
		}
	}
	return path
}

func TestLimitsHaveSources(t *testing.T) {
	t.Parallel()
	var limits limitsFile
	if err := read("limits.json", &limits); err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, l := range limits.Limits {
		key := l.Type + " " + l.Property
		if key <= last {
			t.Errorf("limits.json: %s comes after %s; lines must be sorted and distinct", key, last)
		}
		last = key
		if !strings.HasPrefix(l.Source, "https://") {
			t.Errorf("limits.json: %s: source %q is no link", key, l.Source)
		}
	}
}

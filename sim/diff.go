package sim

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"onedoor/internal/armtypes"
	"onedoor/internal/az/aks"
	"onedoor/sim/core"
)

// forcesNew are the inputs whose change azure-native 2.92.3 answers with a
// replacement, besides the parts of the id and the location (A071).
// https://github.com/pulumi/pulumi-azure-native/blob/v2/provider/pkg/gen/replacement.go
var forcesNew = map[string][]string{
	"authorization:RoleAssignment":    {"principalId", "scope"},
	"containerservice:ManagedCluster": forced(aks.ClusterImmutables),
	"containerservice:AgentPool":      forced(aks.PoolImmutables),
	"network:PrivateEndpoint":         {"subnet"},
	"network:PublicIPAddress":         {"publicIPAddressVersion", "publicIPPrefix", "sku"},
	"servicebus:Topic":                {"requiresDuplicateDetection", "requiresSession", "enablePartitioning"},
	"servicebus:Queue":                {"requiresDuplicateDetection", "requiresSession", "enablePartitioning"},
	"storage:StorageAccount":          {"isHnsEnabled"},
}

// forced are those of the immutables of AKS that the provider knows of (A414).
func forced(immutables []aks.Immutable) []string {
	var inputs []string
	for _, immutable := range immutables {
		if immutable.Force == aks.ByProvider {
			inputs = append(inputs, immutable.Property)
		}
	}
	return inputs
}

// sets are inputs whose order means nothing and which Azure returns in an order
// of its own (A041).
var sets = map[string][]string{
	"network:VirtualNetwork":       {"subnets"},
	"network:NetworkSecurityGroup": {"securityRules"},
	"network:RouteTable":           {"routes"},
	"network:PublicIPAddress":      {"zones"},
	"network:NatGateway":           {"publicIpAddresses", "publicIpPrefixes"},
}

// children are inputs that hold what can be resources of their own. Who leaves
// them out manages them apart: azure-native then neither removes nor imports
// them (A072).
var children = map[string][]string{
	"network:VirtualNetwork":       {"subnets", "virtualNetworkPeerings"},
	"network:NetworkSecurityGroup": {"securityRules"},
	"network:RouteTable":           {"routes"},
	"servicebus:Namespace":         {"privateEndpointConnections"},

	"apimanagement:ApiManagementService": {"privateEndpointConnections"},
}

// kindOf returns "network:Subnet" for "azure-native:network/v20240501:Subnet".
func kindOf(token string) string {
	parts := strings.Split(token, ":")
	if len(parts) != 3 {
		return token
	}
	module, _, _ := strings.Cut(parts[1], "/")
	return module + ":" + parts[2]
}

// diffInputs compares old and new inputs as azure-native does, and returns the
// changed property paths. Secrets are compared by their value.
func diffInputs(r *armtypes.Resource, olds, news map[string]any, ignore []string) map[string]*pulumirpc.PropertyDiff {
	olds, news = comparable(r, olds), comparable(r, news)
	d := differ{replaces: append(append(r.PathInputs(), "location"), forcesNew[kindOf(r.Token)]...), out: map[string]*pulumirpc.PropertyDiff{}}
	d.object(olds, news, "", false)
	for path := range d.out {
		if slices.ContainsFunc(ignore, func(p string) bool { return within(path, p) }) {
			delete(d.out, path)
		}
	}
	return d.out
}

// within says whether path is prefix or lies below it.
func within(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// comparable brings inputs into a form in which equal means equal to Azure.
func comparable(r *armtypes.Resource, inputs map[string]any) map[string]any {
	out := make(map[string]any, len(inputs))
	for k, v := range inputs {
		switch text, isText := v.(string); {
		case k == "location" && isText:
			v = core.Region(text)
		case slices.Contains(sets[kindOf(r.Token)], k):
			if items, ok := v.([]any); ok {
				v = ordered(items)
			}
		}
		out[k] = v
	}
	return out
}

// ordered sorts a copy of items by their JSON, names first.
func ordered(items []any) []any {
	type keyed struct {
		key  string
		item any
	}
	all := make([]keyed, len(items))
	for i, item := range items {
		text, _ := json.Marshal(item)
		key := string(text)
		if m, ok := item.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				key = name + "\x00" + key
			}
		}
		all[i] = keyed{key, item}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	out := make([]any, len(all))
	for i, k := range all {
		out[i] = k.item
	}
	return out
}

type differ struct {
	replaces []string
	out      map[string]*pulumirpc.PropertyDiff
}

// object compares two objects; null is the same as absent.
func (d *differ) object(olds, news map[string]any, base string, replace bool) {
	for key, now := range news {
		path, replace := join(base, key), replace || base == "" && slices.Contains(d.replaces, key)
		switch was := olds[key]; {
		case now == nil:
		case was == nil:
			d.add(path, pulumirpc.PropertyDiff_ADD, replace)
		default:
			d.value(was, now, path, replace)
		}
	}
	for key, was := range olds {
		if was != nil && news[key] == nil {
			d.add(join(base, key), pulumirpc.PropertyDiff_DELETE, replace || base == "" && slices.Contains(d.replaces, key))
		}
	}
}

func (d *differ) value(was, now any, path string, replace bool) {
	wm, ok1 := was.(map[string]any)
	nm, ok2 := now.(map[string]any)
	if ok1 && ok2 {
		d.object(wm, nm, path, replace)
		return
	}
	wa, ok1 := was.([]any)
	na, ok2 := now.([]any)
	if !ok1 || !ok2 {
		if !reflect.DeepEqual(was, now) {
			d.add(path, pulumirpc.PropertyDiff_UPDATE, replace)
		}
		return
	}
	for i := range max(len(wa), len(na)) {
		item := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(wa):
			d.add(item, pulumirpc.PropertyDiff_ADD, replace)
		case i >= len(na):
			d.add(item, pulumirpc.PropertyDiff_DELETE, replace)
		default:
			d.value(wa[i], na[i], item, replace)
		}
	}
}

// add records one change; the kind that replaces is the next in the enum.
func (d *differ) add(path string, kind pulumirpc.PropertyDiff_Kind, replace bool) {
	if replace {
		kind++
	}
	d.out[path] = &pulumirpc.PropertyDiff{Kind: kind, InputDiff: true}
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// join appends a key to a property path.
func join(base, key string) string {
	switch {
	case !identifier.MatchString(key):
		return base + `["` + strings.ReplaceAll(key, `"`, `\"`) + `"]`
	case base == "":
		return key
	}
	return base + "." + key
}

// top returns the first key of a property path.
func top(path string) string {
	if i := strings.IndexAny(path, ".["); i > 0 {
		return path[:i]
	}
	return path
}

// applyDiff carries what changed between two readings of outputs over to the
// inputs, as azure-native does on refresh: what did not change in Azure stays as
// the program wrote it, even where Azure shows it in another form.
func applyDiff(inputs, olds, news map[string]any) map[string]any {
	out := make(map[string]any, len(inputs))
	for k, v := range inputs {
		if _, was := olds[k]; was && news[k] == nil {
			continue
		}
		out[k] = v
	}
	for k, now := range news {
		was, had := olds[k]
		if had && same(was, now) {
			continue
		}
		base, ok := inputs[k]
		if !ok || !had {
			out[k] = now
			continue
		}
		out[k] = applyValue(base, was, now)
	}
	return out
}

func applyValue(base, was, now any) any {
	bm, ok1 := base.(map[string]any)
	wm, ok2 := was.(map[string]any)
	nm, ok3 := now.(map[string]any)
	if ok1 && ok2 && ok3 {
		return applyDiff(bm, wm, nm)
	}
	ba, ok1 := base.([]any)
	wa, ok2 := was.([]any)
	na, ok3 := now.([]any)
	if ok1 && ok2 && ok3 {
		out := make([]any, len(na))
		for i, e := range na {
			switch {
			case i >= len(ba) || i >= len(wa):
				out[i] = e
			case same(wa[i], e):
				out[i] = ba[i]
			default:
				out[i] = applyValue(ba[i], wa[i], e)
			}
		}
		return out
	}
	return now
}

func same(a, b any) bool {
	d := differ{out: map[string]*pulumirpc.PropertyDiff{}}
	d.value(a, b, "x", false)
	return len(d.out) == 0
}

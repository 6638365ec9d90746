package provider

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// The values of onDelete.
const (
	// Keep leaves the resource as it is when the Patch is deleted.
	Keep = "keep"
	// Restore puts back what the patched leaves were before.
	Restore = "restore"
)

// The defaults of inputs that were left out, written into the state by Check.
const (
	// DefaultPollSeconds suits operations that take minutes.
	DefaultPollSeconds = 10
	// DefaultTimeoutSeconds is two hours: an API Management update may take the better part of one.
	DefaultTimeoutSeconds = 7200
	// DefaultOnDelete touches nothing, which is what deleting a description of a change should do.
	DefaultOnDelete = Keep
)

const (
	maxPollSeconds    = 300
	maxTimeoutSeconds = 86400
)

// The names of the inputs.
const (
	inResourceID    = "resourceId"
	inAPIVersion    = "apiVersion"
	inProperties    = "properties"
	inPreconditions = "preconditions"
	inDropReadOnly  = "dropReadOnly"
	inTriggers      = "triggers"
	inOnDelete      = "onDelete"
	inUIDPointer    = "uidPointer"
	inPoll          = "pollSeconds"
	inTimeout       = "timeoutSeconds"
)

// inputNames is sorted.
var inputNames = []string{inAPIVersion, inDropReadOnly, inOnDelete, inPoll, inPreconditions, inProperties, inResourceID, inTimeout, inTriggers, inUIDPointer}

// problem is one thing that is wrong with an input.
type problem struct{ property, at, got, want, fix string }

// String is the whole message: at is where exactly, as a pointer below the property.
func (p problem) String() string {
	text := fmt.Sprintf("%s: got %s, want %s", p.property+p.at, p.got, p.want)
	if p.fix != "" {
		text += "; fix: " + p.fix
	}
	return text
}

// unknown stands for a value that a preview does not have yet.
type unknown struct{}

// foreign stands for a value that JSON does not have: an asset, an archive.
type foreign struct{ what string }

// inputs are the checked inputs of one Patch.
type inputs struct {
	resourceID, apiVersion string
	properties             map[string]any
	preconditions          []leaf // sorted
	drop                   []pointer
	onDelete               string
	uid                    pointer // nil if there is none
	poll, timeout          time.Duration
	secret                 bool // a value of properties or preconditions is secret
}

// withDefaults adds what was left out.
func withDefaults(in resource.PropertyMap) resource.PropertyMap {
	out := in.Copy()
	for name, v := range map[resource.PropertyKey]resource.PropertyValue{
		inOnDelete: resource.NewProperty(DefaultOnDelete),
		inPoll:     resource.NewProperty(float64(DefaultPollSeconds)),
		inTimeout:  resource.NewProperty(float64(DefaultTimeoutSeconds)),
	} {
		if given, ok := out[name]; !ok || given.IsNull() {
			out[name] = v
		}
	}
	return out
}

// parse reads inputs and reports everything that is wrong with them. Values that are not known
// yet pass.
func parse(in resource.PropertyMap) (inputs, []problem) {
	p := parser{in: in}
	p.out.secret = in[inProperties].ContainsSecrets() || in[inPreconditions].ContainsSecrets()
	p.names()
	p.text(inResourceID, true, "the id of an ARM resource, /subscriptions/<id>/resourceGroups/<name>/providers/<namespace>/<type>/<name>", isResourceID, &p.out.resourceID)
	p.text(inAPIVersion, true, "an API version, as 2025-01-01 or 2025-01-01-preview", apiVersion.MatchString, &p.out.apiVersion)
	p.properties()
	p.preconditions()
	p.dropReadOnly()
	p.triggers()
	p.text(inOnDelete, false, `"keep" or "restore"`, func(s string) bool { return s == Keep || s == Restore }, &p.out.onDelete)
	p.uidPointer()
	p.seconds(inPoll, maxPollSeconds, &p.out.poll)
	p.seconds(inTimeout, maxTimeoutSeconds, &p.out.timeout)
	return p.out, p.problems
}

type parser struct {
	in       resource.PropertyMap
	out      inputs
	problems []problem
}

func (p *parser) refuse(property, at, got, want, fix string) {
	p.problems = append(p.problems, problem{property, at, got, want, fix})
}

// value returns an input as JSON; ok is false if it is absent or not known.
func (p *parser) value(name string) (v any, ok bool) {
	in, given := p.in[resource.PropertyKey(name)]
	if !given || in.IsNull() {
		return nil, false
	}
	v = plain(in)
	_, open := v.(unknown)
	return v, !open
}

// got renders an input for a message, unless it is secret.
func (p *parser) got(name string, v any) string {
	if p.in[resource.PropertyKey(name)].ContainsSecrets() {
		return "[secret]"
	}
	return show(printable(v), v != nil)
}

func (p *parser) names() {
	for _, key := range p.in.StableKeys() {
		name := string(key)
		if slices.Contains(inputNames, name) || strings.HasPrefix(name, "__") {
			continue
		}
		near := nearest(name, inputNames)
		p.refuse(name, "", "a property that a Patch does not have", "one of "+strings.Join(inputNames, ", "), "nearest is "+near)
	}
	for _, name := range []string{inResourceID, inAPIVersion, inProperties} {
		if v, given := p.in[resource.PropertyKey(name)]; !given || v.IsNull() {
			p.refuse(name, "", "nothing", "a value, because a Patch needs one", "")
		}
	}
}

func (p *parser) text(name string, trim bool, want string, valid func(string) bool, out *string) {
	v, ok := p.value(name)
	if !ok {
		return
	}
	s, isText := v.(string)
	if !isText || !valid(s) {
		fix := ""
		if trim && isText && valid(strings.TrimRight(strings.TrimSpace(s), "/")) {
			fix = "take away the blanks around it and the slash at its end"
		}
		p.refuse(name, "", p.got(name, v), want, fix)
		return
	}
	*out = s
}

var (
	apiVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-z]+)?$`)
	// Names may hold nearly anything, but nothing that would change the request's address.
	idPart = regexp.MustCompile(`^[^/\\?#%&\x00-\x20]+( [^/\\?#%&\x00-\x20]+)*$`)
)

// isResourceID says whether an id names a resource: any scope, then a provider and at least one
// pair of type and name. Resource groups and subscriptions themselves are not patched.
func isResourceID(id string) bool {
	if !strings.HasPrefix(id, "/") {
		return false
	}
	parts := strings.Split(id[1:], "/")
	last := -1
	for i, part := range parts {
		if !idPart.MatchString(part) || part == "." || part == ".." {
			return false
		}
		if strings.EqualFold(part, "providers") {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	rest := parts[last+1:] // namespace, then pairs
	return len(rest) >= 3 && len(rest)%2 == 1 && strings.Contains(rest[0], ".") && last%2 == 0
}

func (p *parser) properties() {
	v, ok := p.value(inProperties)
	if !ok {
		return
	}
	patch, isObject := v.(map[string]any)
	if !isObject || len(patch) == 0 {
		p.refuse(inProperties, "", p.got(inProperties, v), `a JSON merge patch of the whole body, as {"properties":{...}}`, "")
		return
	}
	if p.foreign(inProperties, nil, patch) {
		return
	}
	p.out.properties = patch
	for _, l := range leavesOf(patch) {
		for _, computed := range alwaysStripped {
			if l.at.within(computed) {
				p.refuse(inProperties, l.at.String(), p.got(inProperties, l.want), "a part that may be written, which "+computed.String()+" is not: the service computes it", "remove it from the patch")
			}
		}
	}
}

// foreign reports values that are not JSON.
func (p *parser) foreign(name string, at pointer, v any) (found bool) {
	switch v := v.(type) {
	case foreign:
		p.refuse(name, at.String(), v.what, "a JSON value", "")
		return true
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			found = p.foreign(name, append(slices.Clone(at), k), v[k]) || found
		}
	case []any:
		for i, e := range v {
			found = p.foreign(name, append(slices.Clone(at), strconv.Itoa(i)), e) || found
		}
	}
	return found
}

func (p *parser) preconditions() {
	v, ok := p.value(inPreconditions)
	if !ok {
		return
	}
	required, isObject := v.(map[string]any)
	if !isObject {
		p.refuse(inPreconditions, "", p.got(inPreconditions, v), "a map from JSON pointer to required value", "")
		return
	}
	if p.foreign(inPreconditions, nil, required) {
		return
	}
	for _, text := range slices.Sorted(maps.Keys(required)) {
		at, err := parsePointer(text)
		if err != nil {
			p.refuse(inPreconditions, "", fmt.Sprintf("%q", text), err.Error(), "")
			continue
		}
		p.out.preconditions = append(p.out.preconditions, leaf{at: at, want: required[text]})
	}
}

func (p *parser) dropReadOnly() {
	v, ok := p.value(inDropReadOnly)
	if !ok {
		return
	}
	list, isList := v.([]any)
	if !isList {
		p.refuse(inDropReadOnly, "", p.got(inDropReadOnly, v), "a list of JSON pointers", "")
		return
	}
	leaves := leavesOf(p.out.properties)
	for i, e := range list {
		if _, open := e.(unknown); open {
			continue
		}
		text, _ := e.(string)
		at, err := parsePointer(text)
		if err != nil {
			p.refuse(inDropReadOnly, fmt.Sprintf("[%d]", i), p.got(inDropReadOnly, e), err.Error(), "")
			continue
		}
		for _, l := range leaves {
			if coincide(at, l.at) {
				p.refuse(inDropReadOnly, fmt.Sprintf("[%d]", i), p.got(inDropReadOnly, e), "a part that the patch does not set, which "+l.at.String()+" is", "remove it from one of the two")
				break
			}
		}
		p.out.drop = append(p.out.drop, at)
	}
}

// coincide says whether stripping at would take away (a part of) the leaf.
func coincide(at, leaf pointer) bool {
	for i := range min(len(at), len(leaf)) {
		if at[i] != everyElement && at[i] != leaf[i] {
			return false
		}
	}
	return true
}

func (p *parser) triggers() {
	v, ok := p.value(inTriggers)
	if !ok {
		return
	}
	triggers, isObject := v.(map[string]any)
	if !isObject {
		p.refuse(inTriggers, "", p.got(inTriggers, v), "a map from name to text", "")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(triggers)) {
		switch e := triggers[name].(type) {
		case string, unknown:
		default:
			p.refuse(inTriggers, "."+name, p.got(inTriggers, e), "a text", "")
		}
	}
}

func (p *parser) uidPointer() {
	v, ok := p.value(inUIDPointer)
	if !ok {
		return
	}
	text, _ := v.(string)
	at, err := parsePointer(text)
	if err != nil {
		p.refuse(inUIDPointer, "", p.got(inUIDPointer, v), err.Error(), "")
		return
	}
	p.out.uid = at
}

func (p *parser) seconds(name string, most int, out *time.Duration) {
	v, ok := p.value(name)
	if !ok {
		return
	}
	n, isNumber := v.(float64)
	if !isNumber || n != math.Trunc(n) || n < 1 || n > float64(most) {
		p.refuse(name, "", p.got(name, v), fmt.Sprintf("a whole number of seconds, 1..%d", most), "")
		return
	}
	*out = time.Duration(n) * time.Second
}

// nearest returns the candidate that begins with name, or else the one with the fewest edits to
// it; of equals, the first.
func nearest(name string, candidates []string) string {
	name = strings.ToLower(name)
	best, least := "", math.MaxInt
	for _, c := range candidates {
		if strings.HasPrefix(strings.ToLower(c), name) {
			return c
		}
		if d := distance(name, strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			row[j+1] = min(above+1, row[j]+1, diagonal+map[bool]int{true: 0, false: 1}[a[i] == b[j]])
			diagonal = above
		}
	}
	return row[len(b)]
}

// failure is a problem as the engine shows it.
func failure(p problem) *pulumirpc.CheckFailure {
	return &pulumirpc.CheckFailure{Property: p.property, Reason: p.String()}
}

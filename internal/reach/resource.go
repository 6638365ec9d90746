package reach

import (
	"strings"
)

// Resource is a planned resource, as the record of a preview has it.
type Resource struct {
	URN    string         `json:"urn"`
	Type   string         `json:"type"`
	Inputs map[string]any `json:"inputs"`
}

// unknown stands in records for every value that a preview cannot know, and
// secret for every value that it must not show.
const (
	unknown = "[unknown]"
	secret  = "[secret]"
)

// name is the logical name: the last part of the URN.
func (r Resource) name() string { return r.URN[strings.LastIndex(r.URN, "::")+2:] }

// kind is the type without the API version, as in "network:Subnet".
func (r Resource) kind() string {
	provider, rest, _ := strings.Cut(r.Type, ":")
	module, typ, _ := strings.Cut(rest, ":")
	if provider == "azure-native" {
		module, _, _ = strings.Cut(module, "/")
	}
	return module + ":" + typ
}

// in is a value of the inputs.
type in struct{ v any }

func (r Resource) in(path ...string) in { return in{r.Inputs}.at(path...) }

// at is the member that path leads to. What lies below an unknown value is
// unknown.
func (v in) at(path ...string) in {
	for _, key := range path {
		if v.unknown() {
			return v
		}
		object, _ := v.v.(map[string]any)
		v = in{object[key]}
	}
	return v
}

func (v in) unknown() bool { return v.v == unknown || v.v == secret }
func (v in) absent() bool  { return v.v == nil }

// text is a known text, else "".
func (v in) text() string {
	s, _ := v.v.(string)
	if v.unknown() {
		return ""
	}
	return s
}

func (v in) number() int {
	n, _ := v.v.(float64)
	return int(n)
}

// list are the elements of a list.
func (v in) list() []in {
	items, _ := v.v.([]any)
	out := make([]in, len(items))
	for i, item := range items {
		out[i] = in{item}
	}
	return out
}

// texts are the texts of a list; all is false when some could not be known.
func (v in) texts() (out []string, all bool) {
	all = !v.unknown()
	for _, item := range v.list() {
		if item.unknown() {
			all = false
		} else {
			out = append(out, item.text())
		}
	}
	return out, all
}

// labels are the members that are texts.
func (v in) labels() map[string]string {
	object, _ := v.v.(map[string]any)
	out := map[string]string{}
	for key := range object {
		out[key] = v.at(key).text()
	}
	return out
}

// state is a truth value that may be unknown, with what Azure takes where nothing
// is said.
func (v in) state(absent bool) verdict {
	b, is := v.v.(bool)
	switch {
	case v.absent():
		return of(absent)
	case !is:
		return maybe
	default:
		return of(b)
	}
}

// key is what identifies an Azure resource here: group, type and names of its
// id, in lower case. Ids in references are cut to it too.
func key(group, typ string, names ...string) string {
	return strings.ToLower(strings.Join(append([]string{group, typ}, names...), "/"))
}

// keyOf is the key of an id, "" for what is no id of a resource.
func keyOf(id string) string {
	parts := strings.Split(id, "/")
	group, typ, names := "", "", []string{}
	for i := 1; i+1 < len(parts); i += 2 {
		switch strings.ToLower(parts[i]) {
		case "subscriptions":
		case "resourcegroups":
			group = parts[i+1]
		case "providers":
		default:
			typ = parts[i]
			names = append(names, parts[i+1])
		}
	}
	if len(names) == 0 {
		return ""
	}
	return key(group, typ, names...)
}

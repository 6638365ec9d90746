package core

import "strings"

// Clean returns id with one leading slash and none at the end.
func Clean(id string) string {
	return "/" + strings.Trim(id, "/")
}

// Key returns the form of id that resources are stored under: ARM ids are
// compared without regard to case (A010).
func Key(id string) string {
	return strings.ToLower(Clean(id))
}

// Name returns the last segment of id.
func Name(id string) string {
	id = Clean(id)
	return id[strings.LastIndexByte(id, '/')+1:]
}

// TypeOf returns the ARM type that id spells, such as
// "Microsoft.Network/virtualNetworks/subnets", or "" if id names no resource.
func TypeOf(id string) string {
	id = Clean(id)
	at := strings.LastIndex(strings.ToLower(id), "/providers/")
	if at < 0 {
		parts := strings.Split(id[1:], "/")
		switch {
		case len(parts) == 4 && strings.EqualFold(parts[2], "resourceGroups"):
			return "Microsoft.Resources/resourceGroups"
		case len(parts) == 2 && strings.EqualFold(parts[0], "subscriptions"):
			return "Microsoft.Resources/subscriptions"
		}
		return ""
	}
	parts := strings.Split(id[at+len("/providers/"):], "/")
	if len(parts) < 3 || len(parts)%2 == 0 {
		return ""
	}
	segments := []string{parts[0]}
	for i := 1; i < len(parts); i += 2 {
		segments = append(segments, parts[i])
	}
	return strings.Join(segments, "/")
}

// GroupOf returns the id of the resource group that id lies in, or "".
func GroupOf(id string) string {
	parts := strings.SplitN(Clean(id), "/", 6)
	if len(parts) < 5 || !strings.EqualFold(parts[3], "resourceGroups") {
		return ""
	}
	return strings.Join(parts[:5], "/")
}

// SubscriptionOf returns the subscription id in id, or "".
func SubscriptionOf(id string) string {
	parts := strings.SplitN(Clean(id), "/", 4)
	if len(parts) < 3 || !strings.EqualFold(parts[1], "subscriptions") {
		return ""
	}
	return parts[2]
}

// ParentOf returns the id of the resource that id lives in: the enclosing
// resource, the resource an extension is attached to, or the resource group.
// Groups and subscriptions have none.
func ParentOf(id string) string {
	id = Clean(id)
	at := strings.LastIndex(strings.ToLower(id), "/providers/")
	if at < 0 {
		return ""
	}
	parts := strings.Split(id[at+len("/providers/"):], "/")
	if len(parts) > 3 {
		return id[:strings.LastIndexByte(id[:strings.LastIndexByte(id, '/')], '/')]
	}
	return id[:at]
}

// isType says whether typ is the ARM type want, which is written in lower case.
func isType(typ, want string) bool {
	return len(typ) == len(want) && strings.EqualFold(typ, want)
}
